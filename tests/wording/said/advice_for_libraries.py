"""What to do where a library made and called the jitted function."""

from dataclasses import replace

from cause_facts import FLOAT, INT, OF_EQUINOX, RECORD, both, verdict, with_statics

from jaxstage_ext.compilation.causes.advice_for_libraries import is_of_library, library_advice, maker_advice
from jaxstage_ext.compilation.causes.cause import Cause

VALUE = with_statics(OF_EQUINOX, replace(FLOAT, name="x"))
FUNCTION = with_statics(RECORD, replace(INT, name="x", code=both.__code__))
SAID = {
    **{cause.name: both(library_advice("diffrax", RECORD, verdict(cause))) for cause in Cause if is_of_library(cause)},
    "a function that the user gave": both(library_advice("diffrax", FUNCTION, verdict(Cause.STATIC_IDENTITY))),
    "a number that the user gave": both(library_advice("diffrax", VALUE, verdict(Cause.STATIC_VALUE))),
    "a number that the user gave to equinox": both(library_advice("equinox", VALUE, verdict(Cause.STATIC_VALUE))),
    "a function of an optimizer": both(maker_advice("optax", RECORD)),
}
