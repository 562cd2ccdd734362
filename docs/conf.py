"""Settings of the documentation: `sphinx-build -W -b html docs docs/_build/html`."""

import shutil
import sys
from pathlib import Path

import gqlnb

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

project = "gqlnb"
author = "gqlnb contributors"
version = release = gqlnb.__version__
extensions = [
    "myst_nb",
    "reference_pages",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
]
exclude_patterns = ["_build", "_front", "_lite", "_static"]

html_theme = "pydata_sphinx_theme"
html_title = "gqlnb"
html_static_path = ["_static"]
html_css_files = ["outputs.css"]
html_favicon = "_static/logo.svg"
html_search_scorer = str(HERE / "_static" / "scorer.js")
html_context = {"default_mode": "auto"}
html_sourcelink_suffix = ""
html_sidebars = {"index": []}  # its cell and table take the whole width
html_theme_options = {
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_copy_source = False
copyright = author  # noqa: A001 - the name of the setting

# The notebooks are shown as they were saved; the tests run them.
nb_execution_mode = "off"
nb_ipywidgets_js = {}  # a built page loads nothing from other sites; widgets are saved as tables
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
suppress_warnings = ["myst.header", "mystnb.unknown_mime_type", "misc.highlighting_failure"]

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings describe the types
napoleon_google_docstring = False


def copy_notebooks(_app: object) -> None:
    """Copy the notebooks into the tutorials, so that they are pages of the site."""
    for notebook in sorted((HERE.parent / "notebooks").glob("*.ipynb")):
        shutil.copy(notebook, HERE / "tutorials" / notebook.name)


def setup(app: object) -> None:
    """Register the hooks."""
    app.connect("builder-inited", copy_notebooks)
