"""Findings that cost operations."""

from wordings import constants

from jaxstage_ext.core.promotion.promotion_values import SourceKind
from jaxstage_ext.findings.compute import compute_finding_wording as wording

MADE = wording.made_by("cos", "In [2]:4")

SAID = {
    **constants(wording),
    "promoted: one scalar": wording.promoted((wording.scalar(0.5),), "bf16", "f32", 3, 1),
    "promoted: a captured array": wording.promoted(("model.scale",), "bf16", "f32", 1, 0),
    "promoted: made": wording.promoted((MADE,), "f32", "f64", 41, 12),
    "promoted: made, no line": wording.promoted((wording.made_by("iota", ""),), "f32", "f64", 41, 12),
    "promoted: several": wording.promoted(("a", "b", "c", "d"), "bf16", "f32", 41, 12),
    **{f"narrow it: {kind.name}": wording.narrow_it(name, kind, "bfloat16") for kind, name in (
        (SourceKind.LITERAL, wording.scalar(0.5)), (SourceKind.MADE, MADE), (SourceKind.CAPTURED, "scale"))},
    "narrow enough": wording.is_narrow_enough("bf16", "f32", False),
    "narrow enough, on a CPU": wording.is_narrow_enough("bf16", "f32", True),
    "became a loop": wording.became_loop("scatter", 4096),
    "became a loop of unknown length": wording.became_loop("sort", None),
    "without a loop": wording.without_loop("gather"),
    "without a loop: sort": wording.without_loop("sort"),
    "slow convolution": wording.slow_convolution(1),
    "slow convolutions": wording.slow_convolution(3),
    "canonical": wording.canonical(False),
    "canonical: of a derivative": wording.canonical(True),
    "both branches": wording.all_branches(2, 64, (5e6, 1e6)),
    "all branches": wording.all_branches(4, 64, (5e6, 4e6, 3e6, 1e6)),
    "one branch": wording.one_branch(),
    "repeated": wording.repeated(("lu", "dot_general", "lu"), 50),
    "repeated, unknown": wording.repeated(("sort",), None),
    "repeated, in a branch": wording.repeated(("lu",), 50, True),
    "before the loop": wording.before_the_loop(("In [2]:3", "In [2]:4")),
    "before the loop, no line": wording.before_the_loop(()),
    "masked": wording.masked(6, 0.49),
    "masked: one": wording.masked(1, 0.49),
    **{f"without masked: {platform}": wording.without_masked(platform) for platform in ("cpu", "gpu", "tpu")},
    "recomputed": wording.recomputed(0.25, 0.004),
    "without a checkpoint": wording.without_checkpoint(),
    "widened": wording.widened(1, "bf16"),
    "widened: several": wording.widened(3, "f16"),
    "accumulate": wording.accumulate(),
    "narrow sum": wording.narrow_sum("bf16", 1000),
    "wider sum": wording.wider_sum(),
    "small kernels": wording.small_kernels(4001, 9e-6, 4001),
    "small kernels: most here": wording.small_kernels(4001, 9e-6, 3000),
    "unroll": wording.unroll(8, True),
    "unroll: a while loop": wording.unroll(8, False),
    "stacked": wording.stacked(),
    "written out": wording.written_out(1, 3.4e9),
    "written out: several": wording.written_out(3, 3.4e9),
    "as a dot": wording.as_dot(),
    "barrier": wording.barrier(1, 4e6),
    "barriers": wording.barrier(3, 4e6),
    "without a barrier": wording.without_barrier(),
}  # fmt: skip
