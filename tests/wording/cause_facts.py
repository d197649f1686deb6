"""Causes of recompiles made by hand, each as the log finds it for a call of `step` in In [3]:2."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from compile_records import compile_record, function_identity

from jaxstage_ext.compilation.causes.cause import Advice, Cause, Difference, Verdict
from jaxstage_ext.compilation.records.compile_record import CompileRecord, KeptValue
from jaxstage_ext.compilation.records.equinox_call import LAYER

INT, FLOAT = KeptValue("n", "int", 3, is_kept=True), KeptValue("n", "float", 0.5, is_kept=True)
NUMBER = Difference(Cause.SHAPE, "x", "f32[8]", "f32[9]", "np.pad(x, (0, 7))")
CAPTURED = Difference(Cause.CAPTURED, "lr", "0.1", "0.2")


def record(**function: Any) -> CompileRecord:
    """A call whose function has these facts. Its number is 7, and it is not written anywhere."""
    return compile_record(number=7, function=function_identity(lambda x: x, **{"qualname": "step", **function}))


RECORD = record()
BOUND = record(bound=(KeptValue("self", "models.Net"),), layers=("method",), qualname="Net.forward")
PARTIAL = record(bound=(INT,), layers=("partial",))
OF_EQUINOX = record(layers=(LAYER,))


def with_statics(base: CompileRecord, *statics: KeptValue) -> CompileRecord:
    assert base.signature is not None
    return replace(base, signature=replace(base.signature, statics=statics))


def verdict(cause: Cause, *differences: Difference, **facts: Any) -> Verdict:
    """What was found, by default of an argument x."""
    usual = Difference(cause, "x", "float32", "float64", "jnp.float32")
    return Verdict(cause, differences or (usual,), **{"nearest": 3, "can_be_mended": True, **facts})


def one(cause: Cause, what: str = "x", before: str = "1", now: str = "2", target: str = "", **facts: Any) -> Verdict:
    """A verdict of one difference."""
    return verdict(cause, Difference(cause, what, before, now, target, **facts))


def both(advice: Advice | None) -> list[str]:
    """The sentence and the code."""
    return [] if advice is None else [advice.sentence, *filter(None, [advice.code])]
