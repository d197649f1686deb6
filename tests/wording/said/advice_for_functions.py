"""What to do where a function was made anew."""

from dataclasses import replace

from cause_facts import BOUND, CAPTURED, INT, OF_EQUINOX, PARTIAL, RECORD, both, record, verdict, with_statics

from jaxstage_ext.compilation.causes import advice_for_functions as advice
from jaxstage_ext.compilation.causes.cause import Cause, Difference, Verdict
from jaxstage_ext.compilation.records.compile_record import KeptValue

ANEW = Difference(Cause.MADE_ANEW, "step")
FUNCTION = replace(CAPTURED, what="update", before="function", now="function")
INSIDE = replace(CAPTURED, is_inside_function=True)
OPTAX = record(captured=(KeptValue("tx", "optax.GradientTransformation"),))
LAMBDA = record(qualname="<lambda>")
OBJECT = Difference(Cause.METHOD_MADE_ANEW, "Net", is_callable_object=True)


SAID = {
    "a cell": both(advice.cell_advice(RECORD, verdict(Cause.CELL_RUN_AGAIN))),
    "made anew": both(advice.made_anew_advice(RECORD, verdict(Cause.MADE_ANEW, ANEW))),
    "made anew, with a static argument": both(
        advice.made_anew_advice(with_statics(RECORD, INT), verdict(Cause.MADE_ANEW, ANEW))
    ),
    "made anew, a decorated one": both(
        advice.made_anew_advice(record(qualname="step"), verdict(Cause.MADE_ANEW, ANEW))
    ),
    "captures a value": both(advice.made_anew_advice(RECORD, verdict(Cause.CAPTURED, CAPTURED))),
    "captures a value, with a static argument": both(
        advice.captured_advice(with_statics(RECORD, INT), verdict(Cause.CAPTURED, CAPTURED))
    ),
    "captures two values": both(
        advice.captured_advice(RECORD, verdict(Cause.CAPTURED, CAPTURED, replace(CAPTURED, what="decay")))
    ),
    "captures a value, a lambda": both(advice.captured_advice(LAMBDA, verdict(Cause.CAPTURED, CAPTURED))),
    "captures a value, equinox": both(advice.captured_advice(OF_EQUINOX, verdict(Cause.CAPTURED, CAPTURED))),
    "captures something": both(advice.captured_advice(RECORD, Verdict(Cause.CAPTURED))),
    "captures a function": both(advice.made_anew_advice(RECORD, verdict(Cause.CAPTURED, FUNCTION))),
    "captures a function that holds a value": both(advice.made_anew_advice(RECORD, verdict(Cause.CAPTURED, INSIDE))),
    "captures an optimizer that holds a value": both(advice.made_anew_advice(OPTAX, verdict(Cause.CAPTURED, INSIDE))),
    "a partial": both(advice.partial_advice(PARTIAL, verdict(Cause.PARTIAL_MADE_ANEW))),
    "a partial of another value": both(
        advice.partial_advice(PARTIAL, verdict(Cause.PARTIAL_MADE_ANEW, replace(CAPTURED, what="n")))
    ),
    "a method": both(advice.method_advice(BOUND, verdict(Cause.METHOD_MADE_ANEW))),
    "a method of an object that differs": both(advice.method_advice(BOUND, verdict(Cause.METHOD_MADE_ANEW, CAPTURED))),
    "an object": both(advice.method_advice(BOUND, verdict(Cause.METHOD_MADE_ANEW, OBJECT))),
}
