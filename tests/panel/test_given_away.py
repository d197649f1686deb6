"""What a saved notebook, an offline page and JSON hold: functions that took part, no home folder, no user."""

from __future__ import annotations

import base64
import html
import json
import re
import sys
import zlib
from types import ModuleType
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest
from flax import nnx

from jaxstage_ext.api import inspection as inspections
from jaxstage_ext.api.inspect import run
from jaxstage_ext.core.call import Call
from jaxstage_ext.panel import panel_state
from jaxstage_ext.panel.showing import page
from jaxstage_ext.panel.showing.mimebundle import static_bundle
from tests.helpers.magic_shell import fresh_shell

SECRET, USER = "hunter2", "zaphodb"
X = jnp.ones((4, 4))
MODULE = """\
import jax, jax.numpy as jnp
import equinox as eqx
from flax import nnx
API_KEY = "hunter2"

class Net(nnx.Module):
    key = "hunter2"
    def __init__(self, rngs):
        self.first, self.note = nnx.Linear(4, 4, rngs=rngs), "hunter2"
    def __call__(self, x):
        return jnp.tanh(self.first(x))

class Tree(eqx.Module):
    weight: jax.Array
    def __call__(self, x):
        return x @ self.weight
    def token(self):
        return "hunter2"

def helper():
    return "hunter2"

def callback(x):
    return x  # hunter2

def make(password="hunter2"):
    @jax.jit
    def step(x):
        home = "HOME/data.npy"
        return jnp.sin(jax.pure_callback(callback, jax.ShapeDtypeStruct(x.shape, x.dtype), x))
    return step

def main():
    password = "hunter2"
    return traced(jnp.ones((4, 4)))

@jax.jit
def traced(x):
    return jnp.cos(x) * 2

def loss(x):
    def body(carry, _):
        return jnp.tanh(carry @ x), None
    return jax.lax.scan(body, x, None, length=3)[0].sum()

def foreign(x):
    return jax.ffi.ffi_call("target", jax.ShapeDtypeStruct(x.shape, x.dtype))(x, table=__file__)

def fails(x):
    raise ValueError(f"cannot read {__file__} or HOME/x.csv")

settings = {"password": "hunter2",
            "f": lambda x: x + 1}
step = make()
"""


@pytest.fixture
def module(tmp_path, monkeypatch) -> ModuleType:
    """A module in the home folder of zaphodb, in which the kernel runs too."""
    home = tmp_path / "people" / USER
    (home / "nb").mkdir(parents=True)
    for name, value in {"HOME": home, "USER": USER, "LOGNAME": USER}.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.chdir(home / "nb")
    (home / "given_away_model.py").write_text(MODULE.replace("HOME", str(home)))
    monkeypatch.syspath_prepend(str(home))
    monkeypatch.delitem(sys.modules, "given_away_model", raising=False)
    import given_away_model

    return given_away_model


PROGRAMS = {
    "function": lambda m: (m.loss, {}),
    "gradient": lambda m: (jax.grad(m.loss), {}),
    "closure": lambda m: (m.step, {}),
    "lambda": lambda m: (m.settings["f"], {}),
    "flax": lambda m: (nnx.jit(m.Net(nnx.Rngs(0))), {}),
    "equinox": lambda m: (eqx.filter_jit(m.Tree(X)), {}),
    "method": lambda m: (m.Tree(X).__call__, {}),
    "traced by another": lambda m: (m.main() is None or m.traced, {}),
    "error": lambda m: (m.fails, {}),
    "options": lambda m: (m.loss, {"xla_dump_to": f"{m.__file__.rpartition('/')[0]}/dump"}),
    "foreign call": lambda m: (m.foreign, {"stage": "lower"}),
    "lowered": lambda m: (m.loss, {"stage": "lower"}),
}


def staged(fn: Any, more: dict[str, Any]) -> inspections.Inspection:
    stage = more.pop("stage", "compile")
    return run(Call(fn, (X,), compiler_options=more), stage)


def forms(inspection: inspections.Inspection, **kept: Any) -> dict[str, str]:
    """Everything that leaves the kernel, unpacked."""
    programs = list(inspection.program.targets.values())
    written = page.page_html(programs, **kept)
    data = re.search(r'id="jaxstage-data">(.*?)</script>', written, re.DOTALL)[1]
    return {
        **static_bundle(programs),
        "widget state": json.dumps(panel_state.state_of(programs, False), ensure_ascii=False),
        "JSON": unpacked(inspection.to_json(**kept)),
        "page": written.replace(data, ""),
        "data of the page": unpacked(data),
        "repr": repr([inspection, *inspection.frames.files, *(d.source_of(1) for d in inspection.documents.values())]),
        "error": repr(inspection.error),
    }


def unpacked(text: str) -> str:
    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            packed = set(value) == {"encoding", "data"}
            unzipped = packed and zlib.decompress(base64.b64decode(value["data"])).decode()
            return unzipped if packed else {name: plain(inner) for name, inner in value.items()}
        return [plain(inner) for inner in value] if isinstance(value, list) else value

    return json.dumps(plain(json.loads(text)), ensure_ascii=False)


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_that_took_no_part_leaves(module, tmp_path, name: str) -> None:
    inspection = staged(*PROGRAMS[name](module))
    for form, text in forms(inspection).items():
        for private in (SECRET, USER, str(tmp_path), "/people", sys.prefix):
            assert private not in text, (form, text[max(0, text.index(private) - 200) :][:400])
    assert inspection.documents["python"].lines[0] == "# given_away_model.py"


@pytest.mark.parametrize("name", ["function", "flax", "closure"])
def test_what_took_part_is_there(module, name: str) -> None:
    line = {"function": "return jnp.tanh(carry @ x), None", "flax": "return jnp.tanh(self.first(x))"}
    shown = forms(staged(*PROGRAMS[name](module)))
    for form in ("text/plain", "JSON", "data of the page"):
        assert line.get(name, "return jnp.sin(jax.pure_callback(") in shown[form], form
        assert "lines not shown" in shown[form]


def test_a_cell_keeps_what_stands_beside_its_functions(module) -> None:
    with fresh_shell() as shell:
        beside = f'token = "{SECRET}"', f'def g():\n    return "{SECRET}"'
        seen = shell.run(f"%%compile -o ins\n{beside[0]}\ndef f(x):\n    return jnp.sin(x)\n{beside[1]}\nf(x)")
        assert seen.ok
        assert SECRET not in seen.text
        inspection = shell["ins"]
        assert inspection.documents["python"].lines[1:] == [
            "%%compile -o ins",
            "… 1 line not shown",
            "def f(x):",
            "    return jnp.sin(x)",
            "… 2 lines not shown",
            "f(x)",
        ]
        for form, text in forms(inspection).items():
            assert SECRET not in text, form


CODE = "return jnp.tanh(carry @ x), None"


def test_source_is_left_out_where_that_is_asked_for(module, tmp_path) -> None:
    inspection = staged(module.loss, {})
    inspection.to_html(tmp_path / "page.html", source=False)
    shown = forms(inspection, source=False) | {"file": (tmp_path / "page.html").read_text()}
    for form in ("JSON", "page", "data of the page", "file"):
        assert CODE not in shown[form] and html.escape(CODE) not in shown[form], form
    for form in ("JSON", "page", "data of the page"):
        assert "source left out" in shown[form], form
        assert "tanh" in shown[form], form
    assert "loss.<locals>.body" in shown["JSON"]
    assert CODE in shown["text/plain"]
    again = inspections.Inspection.from_json(inspection.to_json(source=False))
    source, saved = inspection.documents["python"], again.documents["python"]
    assert {line for line in saved.lines if line} == {
        "# given_away_model.py (source left out)",
        *(line for line in source.lines if line.startswith("… ")),
    }
    assert saved.number.tolist() == source.number.tolist()
    line = next(n for n, text in enumerate(source.lines, 1) if CODE in text)
    number = int(source.number[line - 1])
    assert again.documents["hlo"].lines_from("given_away_model.py", number)
    assert again.documents["python"].lines_from("given_away_model.py", number) == [line]


def test_the_setting_leaves_source_out_of_all_that_is_saved(module) -> None:
    with fresh_shell() as shell:
        shell.run("%config JAXStage.save_source = False")
        shown = forms(staged(module.loss, {}))
        assert [form for form, text in shown.items() if CODE in text] == []
        assert "(source left out)" in shown["text/plain"] and "(source left out)" in shown["text/html"]
        assert CODE in unpacked(staged(module.loss, {}).to_json(source=True))
    assert CODE in forms(staged(module.loss, {}))["text/plain"]


def test_a_library_gives_the_path_from_its_package_on(module) -> None:
    inspection = staged(*PROGRAMS["flax"](module))
    names = [file.public_name for file in inspection.frames.files if not file.user]
    assert names
    assert all(name.startswith("site-packages/flax/") for name in names), names
    again = inspections.Inspection.from_json(inspection.to_json())
    assert [file.package for file in again.frames.files] == [file.package for file in inspection.frames.files]


@pytest.mark.parametrize(
    "line",
    ["%%compile -t h100 --autotune-results {0}", "%%compile -t h100 --fdo-profile {0}", "%%compile\nfails(x)\n#{0}"],
)
def test_what_a_magic_says_of_a_mistake_has_no_home_folder(module, line: str) -> None:
    with fresh_shell() as shell:
        shell.run("from given_away_model import fails")
        seen = shell.run(line.format("gone.textproto") + "\nloss(w, x)" * ("h100" in line))
        assert not seen.ok
        assert USER not in seen.text, seen.text
