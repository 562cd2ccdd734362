"""JupyterHub: a notebook on the server of a user, behind the Hub's proxy and its sign-in."""

from __future__ import annotations

import pytest
import requests

from tests.browser.acting import photograph, theme
from tests.browser.conftest import READY, Notebook
from tests.frontends.conftest import CELLS, build_notebook
from tests.frontends.test_pages import check_editor, check_page
from tests.servers.test_hub import PREFIX, TOKEN, USER, hub

__all__ = ["hub"]  # a fixture

pytestmark = pytest.mark.browser


@pytest.mark.front_end(
    "jupyterhub",
    "JupyterHub",
    cells="yes",
    completion="yes",
    colours="yes",
    widgets="yes",
    explorer="yes",
)
@pytest.mark.usefixtures("bundled")
def test_hub(hub, page):
    """Widgets and GraphiQL answer below the path of the user, once the user has signed in."""
    requests.put(
        f"{hub}{PREFIX}api/contents/hub.ipynb",
        json={"type": "notebook", "content": build_notebook(CELLS)},
        headers={"Authorization": f"token {TOKEN}"},
        timeout=60,
    ).raise_for_status()
    page.goto(f"{hub}{PREFIX}lab/tree/hub.ipynb?reset")
    page.get_by_label("Username").fill(USER)
    page.get_by_label("Password").fill("any")
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_function(READY, arg="hub.ipynb")
    Notebook(page).run_all()
    check_page(page)
    for name in ("Dark", "Light"):
        theme(page, name)
        photograph(page, f"hub-{name}")
    check_editor(page)
