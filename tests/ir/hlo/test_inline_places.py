"""Source lines in the metadata of an instruction itself, as torch-xla, TensorFlow and older JAX write them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from jaxlib import _hlo  # type: ignore[attr-defined, unused-ignore]

import jaxstage_ext
from jaxstage_ext.ir.hlo import module as hlo
from jaxstage_ext.ir.passes import hlo_line

HLO = """HloModule m

ENTRY e {
  a = f32[8] parameter(0)
  b = f32[8] add(a, a), metadata={op_name="jit(f)/add" source_file="/w/train.py" source_line=7}
  c = f32[8] multiply(b, a), metadata={op_type="aten__mul" source_file="forward@model.py" source_line=12}
  d = f32[8] negate(c), metadata={source_file="/w/train.py" source_line=7}
  ROOT r = f32[8] abs(d)
}
"""


def load(path: Path, data: str | bytes) -> Any:
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return jaxstage_ext.load(path)


@pytest.mark.parametrize("form", ["text", "proto"])
def test_the_lines_are_those_of_the_file(form: str, tmp_path: Path) -> None:
    proto = _hlo.hlo_module_from_text(HLO).as_serialized_hlo_module_proto()
    read = load(tmp_path / "m.hlo.pb" if form == "proto" else tmp_path / "m.hlo", proto if form == "proto" else HLO)
    lines = dict(zip(read.cost.work.by("line")["line"], read.cost.work.by("line")["FLOPs"], strict=True))
    assert lines["model.py:12"] == 8
    assert lines["train.py:7"] == 16 + 8  # the last one is inferred from its operand
    assert read.coverage.direct == 3


def test_the_same_module_is_still_the_same() -> None:
    proto = _hlo.hlo_module_from_text(HLO).as_serialized_hlo_module_proto()
    module = hlo.parse(proto)
    assert hlo.parse(proto, module) is module
    assert len(module.header.stack_frame_index.stack_frames) == 2
    assert not module.header_as_read.stack_frame_index.stack_frames


def test_the_text_of_a_pass_says_them_too() -> None:
    place = hlo_line.inline_place('op_name="f/add" source_file="/w/a \\"b\\".py" source_line=7 source_end_line=9')
    assert place == ('/w/a "b".py', 7, 9, 0, 0)
    assert hlo_line.inline_place('source_file="a.py" source_line=7 stack_frame_id=3') is None
    assert hlo_line.inline_place('op_name="f"') is None
