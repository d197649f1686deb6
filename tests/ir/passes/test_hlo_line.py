"""Lines of HLO text, one by one."""

from __future__ import annotations

import pytest

from jaxstage_ext.ir.passes import hlo_line
from jaxstage_ext.ir.passes.hlo_line import CLOSES, INSTRUCTION, OPENS, OTHER, Line
from jaxstage_ext.worker.inside.version_encoder import split


def test_an_instruction() -> None:
    line = "  ROOT %add.1 = f32[8,4]{1,0:T(8,128)} add(%a, %b)"
    assert hlo_line.read(line) == Line(INSTRUCTION, "add.1", "add", 128)


def test_a_loop_runs_its_body_and_condition_but_a_fusion_and_a_reduction_run_nothing() -> None:
    loop = "  %while.1 = (s32[], f32[4]{0}) while(%t), condition=%cond.1, body=%body.2"
    assert set(hlo_line.read(loop).runs) == {"cond.1", "body.2"}
    assert hlo_line.read("  %f = f32[4]{0} fusion(%a), kind=kLoop, calls=%fused").runs == ()
    assert hlo_line.read("  %r = f32[] reduce(%a, %z), dimensions={0}, to_apply=%sum").runs == ()
    assert hlo_line.read("  %c = f32[] call(%a), to_apply=%g").runs == ("g",)
    branches = "  %k = f32[] conditional(%p, %a, %b), branch_computations={%one, %two}"
    assert hlo_line.read(branches).runs == ("one", "two")


@pytest.mark.parametrize(
    ("line", "kind", "name"),
    [
        ("%fused (p.1: f32[2]) -> f32[2] {", OPENS, "fused"),
        ("ENTRY %main.3 (w: f32[]) -> (f32[], s32[2]) {", OPENS, "main.3"),
        ("}", CLOSES, ""),
        ("", OTHER, ""),
        ("HloModule jit_f, entry_computation_layout={(f32[])->f32[]}, frontend_attributes={", OTHER, ""),
        ("  no instruction at all", OTHER, ""),
    ],
)
def test_other_lines(line: str, kind: int, name: str) -> None:
    read = hlo_line.read(line)
    assert (read.kind, read.name) == (kind, name)


@pytest.mark.parametrize(
    ("shape", "size"),
    [
        ("f32[]", 4),
        ("(f32[2,3]{1,0}, pred[])", 25),
        ("bf16[8,128]{1,0:T(8,128)(2,1)}", 2048),
        ("s4[3]", 2),
        ("c64[2]", 16),
        ("f8e4m3fn[10]{0}", 10),
        ("(f32[2], (u8[3], token[]))", 11),
        ("f32[<=10]", 40),
        ("f32[0,5]", 0),
    ],
)
def test_size_of_a_shape(shape: str, size: int) -> None:
    assert hlo_line.size_of(shape) == size


def test_metadata_is_split_off_and_read() -> None:
    line = (
        r'  %a = f32[] add(%b, %c), metadata={op_name="jit(f)/x[\'a\"}\']" stack_frame_id=13 profile_type={1}}, '
        r"backend_config={}"
    )
    shown, metadata, place = split(line)
    assert shown == "  %a = f32[] add(%b, %c), backend_config={}"
    assert shown[:place] + metadata + shown[place:] == line
    assert hlo_line.source(metadata) == ("""jit(f)/x['a"}']""", 13)
    assert hlo_line.source("") == ("", 0)
