"""Texts kept as differences come back to the letter."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxstage_ext.ir.passes.module_size import Size
from jaxstage_ext.ir.passes.versions import Versions
from jaxstage_ext.worker.inside.version_encoder import VersionEncoder

LINES = st.lists(
    st.sampled_from(
        [
            "",
            "}",
            "ENTRY %m (a: f32[]) -> f32[] {",
            '  %a = f32[] add(%b, %c), metadata={op_name="x" stack_frame_id=3}',
            '  %a = f32[] add(%b, %c), metadata={op_name="y"}, backend_config={"a":1}',
            "  %a = f32[] add(%b, %c)",
            "  é \udc80 odd",
        ]
    ),
    max_size=12,
)


@given(st.lists(LINES, min_size=1, max_size=8))
def test_every_text_comes_back(texts: list[list[str]]) -> None:
    encoder = VersionEncoder()
    numbers = [encoder.add("\n".join(lines)) for lines in texts]
    versions = Versions(encoder.pack())
    assert len(versions) == len(encoder)
    for number, lines in zip(numbers, texts, strict=True):
        assert versions.with_metadata(number) == "\n".join(lines)
        assert "metadata=" not in versions[number]
        assert versions[number].count("\n") == "\n".join(lines).count("\n")


def test_an_unchanged_text_is_no_new_version() -> None:
    encoder = VersionEncoder()
    assert [encoder.add(text) for text in ("a\nb", "a\nb", "a", "a\nb")] == [0, 0, 1, 2]


MODULE = """HloModule m

%sum (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %z = f32[] add(%x, %y)
}

%fused (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  ROOT %n = f32[8]{0} negate(%p)
}

%unused (q: f32[8]) -> f32[8] {
  ROOT %q = f32[8]{0} negate(%p)
}

%body (t: (s32[], f32[8])) -> (s32[], f32[8]) {
  %t = (s32[], f32[8]{0}) parameter(0)
  %v = f32[8]{0} get-tuple-element(%t), index=1
  %f = f32[8]{0} fusion(%v), kind=kLoop, calls=%fused
  ROOT %r = (s32[], f32[8]{0}) tuple(%i, %f)
}

ENTRY %main (a: f32[8]) -> f32[] {
  %a = f32[8]{0} parameter(0)
  %c = f32[] constant(0)
  %w = (s32[], f32[8]{0}) while(%a), condition=%cond, body=%body
  %g = f32[8]{0} get-tuple-element(%w), index=1
  ROOT %s = f32[] reduce(%g, %c), dimensions={0}, to_apply=%sum
}
"""


def test_size_counted_by_hand() -> None:
    encoder = VersionEncoder()
    encoder.add(MODULE)
    # written: the fusion in the body (32), the loop's result (4 + 32), the sum (4)
    assert Versions(encoder.pack()).sizes() == [Size(instructions=15, fusions=1, bytes=72)]


@pytest.mark.parametrize("parts", [[], [b"junk", b"junk", b"junk", b"junk"]])
def test_what_is_no_versions(parts: list[bytes]) -> None:
    with pytest.raises(ValueError, match="versions"):
        _ = Versions(parts)[0]
