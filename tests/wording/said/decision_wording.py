"""What a decision of a layout is worth, and what is wrong with the user's own specs."""

from dataclasses import replace

from jaxstage_ext.ir.partitioning.partitioned_module import CollectiveKind
from jaxstage_ext.search import decision_wording as wording
from jaxstage_ext.search.layout_result import CompiledState, CompileEffort, Decision, DecisionKind
from jaxstage_ext.search.own_blame import Blame, BlamedGroup

SPLIT, STORE = DecisionKind.SPLIT, DecisionKind.STORE
BOTH = ("heads", "hidden")


def decision(
    kind: DecisionKind, seconds: float | None, size: int, of: CollectiveKind | None = None, is_gradient: bool = False
) -> str:
    return wording.sentence(Decision(kind, "model", 2, BOTH * (kind is SPLIT), seconds, size, of, is_gradient))


def blame(seconds: float | None, size: int) -> str:
    spec, better = ((), ("model",)), (("data", "model"), ())
    return wording.blamed(Blame((BlamedGroup(("params['w']",), (0,), spec, better),), seconds, size, 0.5))


STORED = Decision(STORE, "data", 8, (), 0.002, 5_000_000_000, CollectiveKind.ALL_GATHER)

SAID: dict[str, object] = {
    "compiled": [wording.sentence(replace(STORED, effort=effort)) for effort in CompileEffort],
    "does not fit without": wording.sentence(replace(STORED, seconds=None, without=CompiledState.DOES_NOT_FIT)),
    "compiling without": [
        wording.without(one) for one in (STORED, Decision(SPLIT, "model", 2, ("heads", "hidden"), None, 0))
    ],
    "saves both": decision(SPLIT, 0.018, 5_000_000_000, CollectiveKind.ALL_REDUCE, True),
    "saves work": decision(SPLIT, 0.018, 0),
    "stores": decision(STORE, -0.002, 5_000_000_000, CollectiveKind.ALL_GATHER),
    "time unknown": decision(STORE, None, 5_000_000_000),
    "split as they are stored": wording.sentence(Decision(STORE, "model", 8, tuple("abcdef"), 0.03, 10**9)),
    "nothing": decision(SPLIT, None, 0),
    "collectives": [decision(SPLIT, 0.01, -1000, kind) for kind in CollectiveKind],
    "one dimension": wording.sentence(Decision(SPLIT, "data", 8, ("batch",), 0.01, 0)),
    "own layout": blame(0.005, 1_000_000_000),
    "own layout, time unknown": blame(None, 1_000_000_000),
    "own layout, no worse": blame(0.0, 0),
    "own layout, two groups": wording.blamed(
        Blame(
            (
                BlamedGroup(("params['w']", "moments['w']"), (0, 1), (("data",), ()), ((), ())),
                BlamedGroup(("x",), (2,), ((), ("data",)), (("data",), ())),
            ),
            0.005,
            0,
            0.5,
        )
    ),
    "own layout, a parameter and its moments": wording.blamed(
        Blame((BlamedGroup(("params['w']", "mu['w']", "nu['w']"), (0, 1, 2), None, ((),)),), 0.005, 0, 0.5)
    ),
    "own layout against the best": wording.against_best(STORED),
    "specs": [wording.spec_text(spec) for spec in (None, (), ((), ()), (("a",), ()), ((), ("a", "b")))],
}
