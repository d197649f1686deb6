"""Findings that cost compile time."""

from wordings import constants

from jaxstage_ext.findings.compile_time import compile_time_finding_wording as wording

SAID = {
    "grows": wording.grows(100, 500, 502),
    "write into": wording.write_into(100),
    "levels": wording.levels(701, 703),
    **constants(wording),
    "compiled again": wording.compiled_again("step", 1, "x is float64, was float32"),
    "compiled again, many times": wording.compiled_again("step", 12, "x is f32[7,8], was f32[8,8]"),
    "advised": wording.advised("Give every call the same shape.", "jnp.pad(x, …)"),
    "advised without code": wording.advised("Set the mesh once.", ""),
    "unrolled": wording.unrolled(12, 6902, 7010, True),
    "unrolled by calls": wording.unrolled(12, 6902, 7010, False),
    "folded": wording.folded(["pad", "slice", "reduce_sum", "mul"], ["v"], 51_200_000, None),
    "folded, with its time": wording.folded(["pad"], ["v", "w"], 51_200_000, 0.833),
    "folded, without names": wording.folded(["pad"], [], 51_200_000, None),
    "compute before, without names": wording.compute_before([]),
    "compute before": wording.compute_before(["v"]),
    "address": wording.address_in_key("go", "custom_partitioning"),
    "address of something": wording.address_in_key("go", ""),
    "constant": wording.constant_in_key("train", [("0.001", "0.003")], 2),
    "constants": wording.constant_in_key("train", [("0.001", "0.003"), ("1", "2")], 1),
    "unreadable": wording.unreadable_entry("train"),
    "delete": wording.delete_entry("/home/me/.cache/jax/jit_train-00ff-cache"),
    "scan": wording.scan_template(12),
}
