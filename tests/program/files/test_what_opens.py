"""What a file is, is told by what is in it; what does not open says why in one line that names it."""

from __future__ import annotations

import os
import re
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

import jaxstage_ext
from jaxstage_ext.ir.parse_errors import one_line

HLO = "HloModule m\n\nENTRY e {\n  p = f32[4]{0} parameter(0)\n  ROOT a = f32[4]{0} add(p, p)\n}\n"


@pytest.mark.parametrize("name", ["saved", "module.pb", "module.bin"])
def test_serialised_hlo_needs_no_name(name: str, tmp_path: Path) -> None:
    compiled = jax.jit(lambda x: x @ x).lower(jnp.ones((4, 4))).compile()
    proto = compiled.runtime_executable().hlo_modules()[0].as_serialized_hlo_module_proto()
    (tmp_path / name).write_bytes(proto)
    loaded = jaxstage_ext.load(tmp_path / name)
    assert isinstance(loaded, jaxstage_ext.Inspection)
    assert loaded.cost.work.total_flops == 2 * 4**3


def test_text_with_a_byte_order_mark_opens(tmp_path: Path) -> None:
    (tmp_path / "m.txt").write_bytes(b"\xef\xbb\xbf" + HLO.encode())
    assert "add" in jaxstage_ext.load(tmp_path / "m.txt").documents["hlo"].text  # type: ignore[union-attr]


def test_a_saved_inspection_with_a_byte_order_mark_opens() -> None:
    inspection = jaxstage_ext.inspect(jnp.sin, 1.0, stage="lower")
    opened = jaxstage_ext.load(b"\xef\xbb\xbf" + inspection.to_json().encode())
    assert opened.summary()["name"] == inspection.summary()["name"]  # type: ignore[union-attr]


def test_a_function_of_mlir_opens_without_a_module_around_it(tmp_path: Path) -> None:
    text = "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }\n"
    (tmp_path / "f.mlir").write_text(text)
    assert "@main" in jaxstage_ext.load(tmp_path / "f.mlir").documents["stablehlo"].text  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("m.txt", HLO.replace("(p, p)", "(p, q)"), "m.txt cannot be read as HLO text: line 5, column 29: instruct"),
        ("m.mlir", "module @m { func.func @main( }", "m.mlir cannot be read as StableHLO text: line 1, column 29: "),
        ("m.mlir", "module @m {" * 5000, "m.mlir cannot be read as StableHLO text: the compile worker for cpu was"),
        ("train.py", '"""Train."""\nimport jax\n', "train.py cannot be opened: it begins with"),
        ("a.png", "\x89PNG", "a.png cannot be opened: it begins with"),
        ("a\nb.txt", "HloModule m\n", r"'a\nb.txt' cannot be read as HLO text: line 2, column 1"),
        ("saved.json", '{"jaxstage": 999}', "saved.json: the inspection has format 999"),
    ],
)  # fmt: skip
def test_a_file_that_does_not_open_says_why_in_one_line(name: str, data: str, says: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(data)
    with pytest.raises(ValueError, match=re.escape(says)) as raised:
        jaxstage_ext.load(tmp_path / name)
    assert "\n" not in str(raised.value)


def test_a_module_that_is_too_large_is_not_called_a_profile(tmp_path: Path) -> None:
    path = tmp_path / "m.mlir"
    path.write_bytes(b"module @m {\n")
    os.truncate(path, 2**31)
    with pytest.raises(ValueError, match=r"m\.mlir is larger than 1\.07 GB, the most that is read of a module$"):
        jaxstage_ext.load(path)


def test_a_folder_without_any_says_what_opens(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(ValueError, match="holds nothing that can be opened: no modules that XLA dumped"):
        jaxstage_ext.load(tmp_path)


def test_a_folder_around_a_dump_says_which_to_open(tmp_path: Path) -> None:
    (tmp_path / "job" / "xla").mkdir(parents=True)
    (tmp_path / "job" / "xla" / "module_0001.jit_f.cpu_after_optimizations.txt").write_text(HLO)
    for text in ("", "{}"):  # nothing beside it, or JSON that is no trace
        (tmp_path / "job" / "settings.json").write_text(text)
        says = "job holds no modules that XLA dumped, but a folder in it does; open job/xla"
        with pytest.raises(ValueError, match=says):
            jaxstage_ext.load(tmp_path / "job")


def test_other_messages_keep_their_first_line() -> None:
    assert one_line("INTERNAL: RET_CHECK failure\nmore") == "RET_CHECK failure"
    assert one_line("") == ""
