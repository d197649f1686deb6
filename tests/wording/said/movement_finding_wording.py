"""Findings about data that is moved."""

from collective_facts import GATHER, REDUCE, row
from wordings import constants

from jaxstage_ext.analysis.collectives.collective_causes import CauseKind, CollectiveCause, Use
from jaxstage_ext.findings.movement import movement_finding_wording as wording

MOVED = CollectiveCause(CauseKind.RESHARDING, ("x",), ("dot",), after=(Use("P()"),))
ALONE = row(GATHER, causes=(MOVED,))
KINDS = ("debug_print", "pure_callback")

SAID = {
    **constants(wording),
    "rematerialised": wording.rematerialised("P('x')", "P(None, 'x')", "f32[8,64]", 1),
    "rematerialised: two values": wording.rematerialised("P('x')", "P(None, 'x')", "f32[8,64]", 2),
    "constrain first": wording.constrain_first(["P('y', 'x')"], "P(None, 'x')"),
    "collective": wording.collective(ALONE, 1, 6.29e6),
    "collective: of each layer, no axes, bytes unknown": wording.collective(row(REDUCE, ()), 12, None),
    "exposed: one": wording.exposed_collectives(ALONE, 1, 5e-4, 0.65),
    "exposed: in a loop": wording.exposed_collectives(row(GATHER, causes=(MOVED,), runs=64.0), 1, 5e-4, 0.65),
    "exposed: several": wording.exposed_collectives(ALONE, 5, 5e-4, 0.65),
    "of differentiation": wording.of_differentiation(row(REDUCE), "psum"),
    "shard argument": wording.shard_argument(["x"], "P('data', None)", "P(None, 'data')"),
    "shard argument: five": wording.shard_argument(list("abcde"), "P('data', None)", "P(None, 'data')"),
    "free result": wording.free_result("result[0]", "P('data')"),
    "drop constraint": wording.drop_constraint("P('data')", "In [2]:4"),
    "carry copied": wording.carry_copied(["buf"], 2, 1.6e9, 100),
    "carry copied: nothing known": wording.carry_copied([], 1, 1.6e9, 100),
    "read first": wording.read_first("In [2]:4"),
    "read first: no line": wording.read_first(""),
    "unroll: swap": wording.unroll(True),
    "unroll": wording.unroll(False),
    **{f"called in loop: {kind}": wording.called_in_loop(kind, "log", 1000) for kind in KINDS},
    "called in loop: no name": wording.called_in_loop("pure_callback", "", 1000),
    **{f"call less: {kind}": wording.call_less(kind, "log") for kind in KINDS},
    "call less: no name": wording.call_less("pure_callback", ""),
    "gathered for callback": wording.gathered_for_callback("debug_callback", "log", 3.36e7),
    "gathered for callback: print": wording.gathered_for_callback("debug_print", "'x {}'", 3.36e7),
    "gathered for callback: no name": wording.gathered_for_callback("io_callback", "", 3.36e7),
    "handed on": wording.handed_on("distances", "linkage", 6.4e7),
    "handed on: no names": wording.handed_on("", "", 6.4e7),
    "one callback": wording.one_callback("pure_callback", "distances", "linkage"),
    "one callback: lambdas": wording.one_callback("io_callback", "<lambda>", "<lambda>"),
    "fetched in loop": wording.fetched_in_loop(1.6e7, 50),
    "result on host": wording.result_on_host(["table"]),
    "result on host: two": wording.result_on_host(["table", "sums"]),
    "fetched whole": wording.fetched_whole(2e8, 24),
    "keep on host": wording.keep_on_host("table"),
    "transposed result": wording.transposed_result("nmxy", "xymn", 32_000_000),
    "transposed result: no subscripts": wording.transposed_result("", "", 32_000_000),
    "as computed": wording.as_computed("nmxy", "xymn", (3, 2, 0, 1)),
    "as computed: no subscripts": wording.as_computed("", "", (3, 2, 0, 1)),
    "add first": wording.add_first("In [2]:5"),
    "add first, line unknown": wording.add_first(""),
    "combine less": wording.combine_less("xla_gpu_all_gather_combine_threshold_bytes", 8_388_608),
    "batched loop": wording.batched_loop(4096, "f32[4096,1000]", 1, 16_384_000),
    "batched loop: several": wording.batched_loop(4096, "f32[4096,1000]", 2, 32_768_000),
}
