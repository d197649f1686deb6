"""The package as pip sees it: what a wheel holds, and when the front end is built again."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def hook() -> ModuleType:
    pytest.importorskip("hatchling")
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def checkout(tmp_path: Path, hook: ModuleType) -> Path:
    """A checkout whose front end was built a minute after its sources were written."""
    (tmp_path / "labextension" / "src").mkdir(parents=True)
    (tmp_path / "jaxstage_ext" / "static").mkdir(parents=True)
    written(tmp_path / "labextension" / "package.json", at=1000)
    written(tmp_path / "labextension" / "src" / "panel.ts", at=1000)
    for name in hook.BUILT:
        written(tmp_path / "jaxstage_ext" / "static" / name, at=1060)
    return tmp_path


def written(path: Path, at: float) -> None:
    path.touch()
    os.utime(path, (at, at))


def test_a_fresh_build_is_left_alone(hook: ModuleType, checkout: Path) -> None:
    assert hook.reason_to_build(checkout) is None


def test_a_missing_file_is_built(hook: ModuleType, checkout: Path) -> None:
    (checkout / "jaxstage_ext" / "static" / "panel.css").unlink()
    assert hook.reason_to_build(checkout) == "panel.css missing"


def test_a_changed_source_is_built(hook: ModuleType, checkout: Path) -> None:
    written(checkout / "labextension" / "src" / "panel.ts", at=2000)
    assert hook.reason_to_build(checkout) == "panel.ts is newer than what was built"


def test_a_changed_style_is_built(hook: ModuleType, checkout: Path) -> None:
    sheet = checkout / "labextension" / "style" / "theme.css"
    sheet.parent.mkdir()
    written(sheet, at=2000)
    assert hook.reason_to_build(checkout) == "theme.css is newer than what was built"


def test_the_scripts_are_those_that_the_build_wrote(hook: ModuleType) -> None:
    scripts = json.loads((ROOT / "jaxstage_ext" / "static" / "tabs.json").read_text())
    assert scripts == hook.scripts(hook.TABS)
    assert {"answers", "cost", "memory"} <= set(scripts)
    assert "code" not in scripts


def test_an_unpacked_sdist_trusts_what_it_brings(hook: ModuleType, checkout: Path) -> None:
    written(checkout / "labextension" / "src" / "panel.ts", at=2000)
    (checkout / "PKG-INFO").touch()
    assert hook.reason_to_build(checkout) is None


def test_without_npm_the_error_says_what_to_do(
    hook: ModuleType, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hook.shutil, "which", lambda name: None)
    with pytest.raises(RuntimeError, match=r"panel\.css missing.*npm.*\n.*Install Node\.js"):
        hook.build(checkout, "panel.css missing")


@pytest.fixture(scope="module")
def archives(hook: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """File names in a freshly built wheel and sdist."""
    out = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-d", str(out)], cwd=ROOT, check=True)
    (wheel,), (sdist,) = out.glob("*.whl"), out.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as zipped, tarfile.open(sdist) as tarred:
        return {"wheel": zipped.namelist(), "sdist": [name.split("/", 1)[1] for name in tarred.getnames()]}


@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_archives_bring_the_built_front_end(kind: str, archives: dict[str, list[str]], hook: ModuleType) -> None:
    needed = {f"jaxstage_ext/static/{name}" for name in hook.BUILT} | {"jaxstage_ext/py.typed"}
    assert needed <= set(archives[kind])


def test_the_sdist_can_be_built_again_and_the_wheel_holds_the_package_alone(archives: dict[str, list[str]]) -> None:
    assert {"hatch_build.py", "labextension/package-lock.json", "LICENSE"} <= set(archives["sdist"])
    assert not [name for name in archives["sdist"] if "node_modules" in name]
    assert {name.split("/")[0].split("-")[0] for name in archives["wheel"]} == {"jaxstage_ext"}


def test_the_lockfile_names_no_download_address() -> None:
    assert '"resolved"' not in (ROOT / "labextension" / "package-lock.json").read_text()


def test_lexers_are_found_by_their_names() -> None:
    if not any(point.name == "jaxpr" for point in entry_points(group="pygments.lexers")):
        pytest.skip("the package is on the path but not installed")
    from pygments.lexers import get_lexer_by_name

    for name in ("jaxpr", "stablehlo", "hlo"):
        assert get_lexer_by_name(name).name


def test_dependencies_are_those_of_the_design() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = {requirement.split(">")[0] for requirement in project["dependencies"]}
    assert names == {
        "jax", "jaxlib", "numpy", "ipython", "ipywidgets", "anywidget", "pygments", "plotly", "protobuf",
    }  # fmt: skip
