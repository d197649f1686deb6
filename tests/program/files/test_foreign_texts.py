"""Texts as other tools and people write them: the kind of a file is its structure, wherever that begins."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

import jaxstage_ext
from jaxstage_ext.api.inspection import Inspection
from jaxstage_ext.api.xla_dump import ModulesInFile
from jaxstage_ext.report.unavailable import Unavailable
from jaxstage_ext.views.static_html import panel_html

ADD = """module @m {
  func.func public @main(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
    %0 = stablehlo.add %a, %a : tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
}
"""
GENERIC = """"builtin.module"() ({
  "func.func"() <{function_type = (tensor<8x4xf32>) -> tensor<8x4xf32>, sym_name = "main"}> ({
  ^bb0(%a: tensor<8x4xf32>):
    %0 = "stablehlo.add"(%a, %a) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    "func.return"(%0) : (tensor<8x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
"""
HLO = """HloModule m

ENTRY e {
  a = f32[8,4] parameter(0)
  ROOT b = f32[8,4] add(a, a)
}
"""
COMPUTATION_FIRST = """%double (x: f32[8,4]) -> f32[8,4] {
  %x = f32[8,4] parameter(0)
  ROOT %y = f32[8,4] add(%x, %x)
}

ENTRY %e (a: f32[8,4]) -> f32[8,4] {
  %a = f32[8,4] parameter(0)
  ROOT %b = f32[8,4] call(%a), to_apply=%double
}
"""
FUNCTION = "\n".join(ADD.splitlines()[1:5])
TWO_FUNCTIONS = f"""{FUNCTION.replace("@main", "@f")}
func.func @g(%a: tensor<2xf32>) -> tensor<2xf32> {{
  %0 = call @h(%a) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}}
func.func private @h(%a: tensor<2xf32>) -> tensor<2xf32> {{
  %0 = stablehlo.multiply %a, %a : tensor<2xf32>
  return %0 : tensor<2xf32>
}}
"""


def load(path: Path, data: str | bytes, **how: Any) -> Any:
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return jaxstage_ext.load(path, **how)


@pytest.mark.parametrize(
    "text",
    [
        "".join(f'#loc{number} = loc("params[{number}]")\n' for number in range(3, 400)) + ADD,
        "// a licence of many lines\n" * 400 + ADD,
        "!t = tensor<8x4xf32>\n" + ADD,
        '#mesh = #sdy.mesh<[\n  "x"=1\n]>\n' + ADD,
        'sdy.mesh @mesh = <["x"=1]>\n' + FUNCTION,
        ADD.replace("@m {", "@m attributes {\n  mhlo.num_partitions = 1 : i32\n} {"),
        ADD.replace("module @m", "builtin.module @m"),
        GENERIC,
        ADD.replace("\n", "\r\n"),
        ADD.rstrip(),
        b"\xef\xbb\xbf" + ADD.encode(),
        gzip.compress(ADD.encode()),
        ADD.replace("stablehlo.add", "mhlo.add"),
        FUNCTION.replace("func.func public", "func"),
    ],
    ids=[
        "locations first",
        "comments first",
        "type alias first",
        "alias of several lines",
        "mesh first",
        "attributes over lines",
        "builtin.module",
        "generic form",
        "CRLF",
        "no newline at the end",
        "byte order mark",
        "gzip",
        "MHLO",
        "func of before MLIR 15",
    ],
)
def test_mlir_opens_and_counts_32_flops(text: str | bytes, tmp_path: Path) -> None:
    """Eight times four sums, by hand."""
    assert load(tmp_path / "m", text, target="cpu:1").cost.work.total_flops == 32


@pytest.mark.parametrize(
    "text",
    [
        "/* licence\n * of lines */\n" + HLO,
        "// licence\n" * 600 + HLO,
        HLO.partition("\n\n")[2],
        COMPUTATION_FIRST,
        "HloModule m, entry_computation_layout={(f32[8,4]{1,0})->\n  f32[8,4]{1,0}}\n" + HLO.partition("\n")[2],
        HLO.replace("\n", "\r\n"),
        HLO.rstrip(),
        gzip.compress(HLO.encode()),
        b"// caf\xe9\n" + HLO.encode(),
        "b = f32[8,4] add(f32[8,4] x, f32[8,4] y)",
    ],
    ids=[
        "block comment",
        "comments first",
        "ENTRY alone",
        "a computation first",
        "layout over lines",
        "CRLF",
        "no newline at the end",
        "gzip",
        "comment in Latin-1",
        "one instruction",
    ],
)
def test_hlo_opens_and_counts_32_flops(text: str | bytes, tmp_path: Path) -> None:
    """Eight times four sums, by hand."""
    assert load(tmp_path / "m", text).cost.work.total_flops == 32


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (f"{HLO}\n// -----\n{HLO.replace('HloModule m', 'HloModule n')}", ["m", "n"]),
        (f"{ADD}// -----\n{TWO_FUNCTIONS}", ["m", "f", "g"]),
        (TWO_FUNCTIONS, ["f", "g"]),
        (ADD + ADD.replace("@m", "@n", 1), ["m.main", "n.main"]),
    ],
    ids=["HLO", "split by a line", "functions", "modules"],
)
def test_several_modules_in_a_file_are_listed(text: str, names: list[str], tmp_path: Path) -> None:
    found = load(tmp_path / "all", text)
    assert isinstance(found, ModulesInFile)
    assert list(found) == names
    assert str(found.table["module"][0]) == names[0]
    opened = found[len(names)]
    assert opened.summary()["signature"] in found[names[-1]].summary()["signature"]


def test_a_function_is_compiled_by_its_own_name_with_what_it_calls(tmp_path: Path) -> None:
    """Two products, by hand; the other function is left out of what is shown and counted."""
    found = load(tmp_path / "all.mlir", TWO_FUNCTIONS).module("g", "cpu:1")
    assert (found.name, found.cost.work.total_flops) == ("g", 2)
    assert [name in found.documents["stablehlo"].text for name in ("@f(", "@g(", "@h(")] == [False, True, True]
    assert load(tmp_path / "all.mlir", TWO_FUNCTIONS, target="cpu:1")["g"].cost.work.total_flops == 2
    with pytest.raises(KeyError, match=r"all\.mlir has no module 'z'; it has 1 to 2: f, g"):
        jaxstage_ext.load(tmp_path / "all.mlir")["z"]  # type: ignore[index]


def test_names_that_are_not_unique_open_by_number(tmp_path: Path) -> None:
    found = load(tmp_path / "all.hlo", HLO + HLO.replace("add", "multiply"))
    with pytest.raises(KeyError, match="2 modules are named 'm'; choose one by its number: 1, 2"):
        found["m"]
    assert "multiply" in found[2].documents["hlo"].text


def test_a_file_without_locations_has_no_source(tmp_path: Path) -> None:
    """MLIR's parser gives each operation its place in the text, which is nobody's source."""
    read = load(tmp_path / "m.mlir", ADD, target="cpu:1")
    assert isinstance(read, Inspection)
    for kind in ("stablehlo", "hlo"):
        assert read.documents[kind].coverage.linked == 0
    assert not len(read.frames)
    assert "Nothing links to source: the file names no line of it." in read.summary()["notes"]


def test_a_module_that_returns_a_tuple_is_compiled(tmp_path: Path) -> None:
    """As ByteIR and TensorFlow write it; XLA would put the one tuple into another, which PJRT does not take."""
    text = """func.func @f(%a: tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<f32>> {
      %c = stablehlo.constant dense<1.0> : tensor<f32>
      %0 = stablehlo.add %a, %a : tensor<4xf32>
      %1 = stablehlo.tuple %0, %c : tuple<tensor<4xf32>, tensor<f32>>
      return %1 : tuple<tensor<4xf32>, tensor<f32>>
    }"""
    read = load(tmp_path / "f.mlir", text, target="cpu:1")
    assert read.summary()["signature"] == "f(arg0: f32[4]) -> (f32[4], f32[])"
    assert read.cost.work.total_flops == 4


@pytest.mark.parametrize("element", ["f4E2M1FN", "f8E4M3FN", "f8E8M0FNU", "i4", "ui2", "i1", "bf16", "complex<f32>"])
def test_every_type_of_an_element_opens(element: str, tmp_path: Path) -> None:
    text = f"func.func @main(%a: tensor<2x{element}>) -> tensor<2x{element}> {{ return %a : tensor<2x{element}> }}"
    assert len(load(tmp_path / "m.mlir", text).shardings.values) == 2


def test_operations_of_another_dialect_are_shown_and_not_compiled(tmp_path: Path) -> None:
    text = ADD.replace(
        "%0 = stablehlo.add %a, %a : tensor<8x4xf32>",
        '%0 = "tf.Abs"(%a) {T = f32} : (tensor<8x4xf32>) -> tensor<8x4xf32>',
    )
    shown = load(tmp_path / "m.mlir", text)
    assert '"tf.Abs"' in shown.documents["stablehlo"].text
    for target in ("local", "v5e:2x2"):
        with pytest.raises(Unavailable, match="it has operations of dialect tf, which jaxlib does not read"):
            _ = load(tmp_path / "m.mlir", text, target=target).memory


def test_a_file_that_names_no_source_has_no_part_for_it_in_any_form(tmp_path: Path) -> None:
    (file := tmp_path / "m.mlir").write_text(ADD)
    inspection = jaxstage_ext.load(file)
    assert isinstance(inspection, Inspection)
    assert inspection.documents["python"].text == ""
    assert "├ source" not in str(inspection) and "├ StableHLO" in str(inspection)
    assert "what each line became" not in panel_html([inspection.program])
