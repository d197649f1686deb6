"""What to do where a traced value set a shape or decided a Python branch."""

from dataclasses import replace

import jax
import numpy as np
from cause_facts import RECORD, both
from compile_records import compile_record, function_identity, signature

from jaxstage_ext.compilation.causes.advice_for_failures import failure_advice


@jax.jit
def decorated(n, m):
    return n + m


FAILED = "TracerBoolConversionError: Attempted boolean conversion of traced array"
KNOWN = function_identity(decorated.__wrapped__, parameters=("n", "m"))
INTEGER = replace(signature(np.int32(3)), kinds=("int",))
TWO = replace(signature(np.int32(3), np.int32(4)), kinds=("int", "int"))
FUNCTION = compile_record(number=7, function=KNOWN, failed=FAILED, signature=TWO)
SAID = {
    "it did not fail": both(failure_advice(RECORD)),
    "of another error": both(failure_advice(replace(RECORD, failed="ValueError: no"))),
    "no integer": both(failure_advice(replace(RECORD, failed=FAILED))),
    "an integer": both(failure_advice(replace(RECORD, failed=FAILED, signature=INTEGER))),
    "two integers of a decorated function": both(failure_advice(FUNCTION)),
}
