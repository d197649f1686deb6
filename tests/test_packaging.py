"""The package as pip sees it: what a wheel holds, and when the front end is built again."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType

import pytest

from jaxstage_ext import __version__

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
    (tmp_path / "jaxstage_ext" / "static" / "labextensions" / "jaxstage").mkdir(parents=True)
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
def dist(hook: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a freshly built wheel and sdist."""
    out = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-d", str(out)], cwd=ROOT, check=True)
    return out


def unpacked_sdist(dist: Path, folder: Path) -> Path:
    with tarfile.open(next(dist.glob("*.tar.gz"))) as tarred:
        tarred.extractall(folder, filter="data")
    return next(folder.iterdir())


def files_of_wheel(folder: Path) -> set[str]:
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as zipped:
        return set(zipped.namelist())


def built(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def archives(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """File names in the wheel and the sdist."""
    return {"wheel": files_of_wheel(dist), "sdist": built(unpacked_sdist(dist, tmp_path_factory.mktemp("sdist")))}


LAB = f"jaxstage_ext-{__version__}.data/data/share/jupyter/labextensions/jaxstage/"


def test_the_sdist_holds_all_that_was_built_and_what_builds_it(archives: dict[str, set[str]]) -> None:
    static = {f"jaxstage_ext/static/{name}" for name in built(ROOT / "jaxstage_ext" / "static")}
    assert static | {"jaxstage_ext/py.typed"} <= archives["sdist"]
    assert {"hatch_build.py", "labextension/package-lock.json", "labextension/lab.mjs", "LICENSE"} <= archives["sdist"]
    assert not [name for name in archives["sdist"] if "node_modules" in name or name.startswith((".ci", ".venv"))]


def test_the_wheel_holds_the_package_and_once_the_jupyterlab_extension(archives: dict[str, set[str]]) -> None:
    static = built(ROOT / "jaxstage_ext" / "static")
    extension = {name for name in static if name.startswith("labextensions/")}
    assert {f"jaxstage_ext/static/{name}" for name in static - extension} <= archives["wheel"]
    assert {LAB + name.removeprefix("labextensions/jaxstage/") for name in extension} <= archives["wheel"]
    assert LAB + "install.json" in archives["wheel"]
    assert len([name for name in archives["wheel"] if "remoteEntry" in name]) == 1
    assert {name.split("/")[0].split("-")[0] for name in archives["wheel"]} == {"jaxstage_ext"}


def test_the_sdist_is_built_without_npm(dist: Path, tmp_path: Path, archives: dict[str, set[str]]) -> None:
    source = unpacked_sdist(dist, tmp_path / "source")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "dist")]
    subprocess.run(command, cwd=source, check=True, env={**os.environ, "PATH": ""})
    assert files_of_wheel(tmp_path / "dist") == archives["wheel"]


def installed(wheel: Path, folder: Path) -> Path:
    """An environment in which the wheel alone is installed, beside the packages of this one."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = folder / "bin" / "python"
    install = ["--no-deps", "--no-index", "--no-compile", "--quiet", "--disable-pip-version-check", str(wheel)]
    subprocess.run([sys.executable, "-m", "pip", "--python", str(python), "install", *install], check=True)
    (next(folder.glob("lib/*/site-packages")) / "others.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    return python


def test_installing_the_wheel_enables_the_extension(dist: Path, tmp_path: Path) -> None:
    pytest.importorskip("jupyterlab")
    python = installed(next(dist.glob("*.whl")), tmp_path / "env")
    own = {f"JUPYTER_{kind}_DIR": str(tmp_path / kind) for kind in ("CONFIG", "DATA", "RUNTIME")}
    env = {**os.environ, **own, "JUPYTER_PREFER_ENV_PATH": "1", "PATH": ""}
    env = {name: value for name, value in env.items() if name not in ("JUPYTER_PATH", "PYTHONPATH")}
    listing = [str(python), "-c", "from jupyterlab.labextensions import main; main()", "list"]
    run = subprocess.run(listing, cwd=tmp_path, env=env, capture_output=True, text=True, check=True)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", run.stdout + run.stderr).splitlines()
    (line,) = [line for line in lines if line.strip().startswith("jaxstage ")]
    assert " ".join(line.split()) == f"jaxstage v{__version__} enabled OK (python, jaxstage-ext)"


def test_the_licences_of_bundled_packages_are_listed() -> None:
    path = ROOT / "jaxstage_ext/static/labextensions/jaxstage/static/third-party-licenses.json"
    packages = json.loads(path.read_text())["packages"]
    assert packages and all("permission" in package["extractedText"].lower() for package in packages)


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
