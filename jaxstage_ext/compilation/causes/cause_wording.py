"""Causes in words: why, and what to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from jaxstage_ext.compilation.causes.advice_for_failures import failure_advice
from jaxstage_ext.compilation.causes.advice_for_libraries import is_of_library, library_advice, maker_advice
from jaxstage_ext.compilation.causes.cause import Advice, Cause, Difference, Verdict
from jaxstage_ext.compilation.causes.cause_advice import ADVICE
from jaxstage_ext.compilation.causes.function_differences import function_text
from jaxstage_ext.compilation.causes.precedents import makes_another
from jaxstage_ext.compilation.records.compile_record import CompileRecord
from jaxstage_ext.compilation.records.function_source import library_of, maker_of
from jaxstage_ext.compilation.records.record_names import function_title
from jaxstage_ext.compilation.records.record_outcome import is_lookup

_MOST_NAMED: Final = 3
_SAY_ALL: Final = (Cause.CACHE_CLEARED, Cause.AHEAD_OF_TIME, Cause.EAGER)
"""Causes to which differences from an earlier call add nothing."""
_OF_TYPES: Final = (Cause.SHAPE, Cause.DTYPE)
"""What is said of a function that ran under a transformation: the rest depends on which one it was."""
_MADE: Final = (Cause.MADE_ANEW, Cause.PARTIAL_MADE_ANEW, Cause.CAPTURED)
_NEW_FUNCTIONS: Final = (Cause.MADE_ANEW, Cause.PARTIAL_MADE_ANEW, Cause.METHOD_MADE_ANEW)
_OF_ARGUMENTS: Final = (Cause.SHAPE, Cause.DTYPE, Cause.WEAK_TYPE, Cause.PYTREE)
_MESHES: Final = {"mesh_context_manager": "the mesh", "abstract_mesh_context_manager": "the mesh"}


def why(record: CompileRecord, verdict: Verdict) -> str:
    """One sentence: "x is float64, was float32"."""
    whole = _WHOLE.get(verdict.cause)
    phrases = [_phrase(difference) for difference in verdict.differences if difference.cause is not Cause.UNKNOWN]
    phrases = [] if verdict.cause in _SAY_ALL else phrases
    if verdict.cause is Cause.TRANSFORMED:
        phrases = [_phrase(difference) for difference in verdict.differences if difference.cause in _OF_TYPES]
    shown = [*([whole(record, verdict)] if whole else []), *dict.fromkeys(phrases)]
    more = len(shown) - _MOST_NAMED + verdict.more
    if more > 0:
        shown = [*shown[:_MOST_NAMED], f"{more} more {'difference' if more == 1 else 'differences'}"]
    return "; ".join(shown)


def advice(record: CompileRecord, verdict: Verdict) -> Advice | None:
    """What avoids it; None where nothing needs to be done."""
    if (failure := failure_advice(record)) is not None:
        return failure
    if is_lookup(record):
        return None
    library = library_of(record) if is_of_library(verdict.cause) else ""
    if library:
        return library_advice(library, record, verdict)
    if verdict.cause in _MADE and (maker := maker_of(record)):
        return maker_advice(maker, record)
    make = ADVICE.get(verdict.cause)
    made = make(record, verdict) if make is not None else None
    return _with_that_of_the_function(record, verdict, made) if made is not None else None


def _with_that_of_the_function(record: CompileRecord, verdict: Verdict, made: Advice) -> Advice:
    """Advice about arguments, after that about a function which is new to JAX: it compiles again whatever they are."""
    anew = next((each.cause for each in verdict.differences if each.cause in _NEW_FUNCTIONS), None)
    if anew is None or verdict.cause not in _OF_ARGUMENTS:
        return made
    function = advice(record, replace(verdict, cause=anew))
    if function is None:
        return made
    return Advice(f"{function.sentence} {made.sentence}", "\n".join(filter(None, [function.code, made.code])))


def _first(record: CompileRecord, verdict: Verdict) -> str:
    layers = record.function.layers if record.function else ()
    is_wrapped = record.function is not None and any(map(makes_another, layers))
    name = function_text(record.function) if record.function and is_wrapped else function_title(record)
    return f"first call of {name} in this log"


def _ahead(record: CompileRecord, verdict: Verdict) -> str:
    return f"{record.name} was traced, lowered or compiled ahead of time, as asked"


def _transformed(record: CompileRecord, verdict: Verdict) -> str:
    return f"{record.name} ran under a transformation outside it, such as jax.grad or jax.vmap"


def _eager(record: CompileRecord, verdict: Verdict) -> str:
    return f"{record.name} ran outside jax.jit"


def _cleared(record: CompileRecord, verdict: Verdict) -> str:
    if verdict.differences:
        return "JAX's caches were cleared"
    return "JAX no longer had this program: its caches were cleared, or it was evicted"


def _failed(record: CompileRecord, verdict: Verdict) -> str:
    return f"the earlier call #{verdict.nearest} with the same arguments failed, so nothing was cached"


def _concurrent(record: CompileRecord, verdict: Verdict) -> str:
    return "another thread was compiling the same call at that moment"


def _unknown(record: CompileRecord, verdict: Verdict) -> str:
    return f"unknown: {verdict.reason}"


_WHOLE: Final[dict[Cause, Callable[[CompileRecord, Verdict], str]]] = {
    Cause.FIRST: _first,
    Cause.AHEAD_OF_TIME: _ahead,
    Cause.TRANSFORMED: _transformed,
    Cause.EAGER: _eager,
    Cause.CACHE_CLEARED: _cleared,
    Cause.FAILED_BEFORE: _failed,
    Cause.CONCURRENT: _concurrent,
    Cause.UNKNOWN: _unknown,
}


def _is_was(difference: Difference) -> str:
    return f"{difference.what} is {difference.now}, was {difference.before}"


def _option(difference: Difference) -> str:
    if not difference.before:
        return f"{difference.what} is {difference.now}, was not given"
    if not difference.now:
        return f"{difference.what} is not given, was {difference.before}"
    return _is_was(difference)


def _pytree(difference: Difference) -> str:
    if not difference.before:
        return f"{difference.what} is new: {difference.now}"
    if not difference.now:
        return f"{difference.what} is gone, was {difference.before}"
    if difference.before == difference.now:
        return f"{difference.what} is of a new class {difference.now}: the class was defined again"
    now, before = (_CONTAINERS.get(text, text) for text in (difference.now, difference.before))
    return f"{difference.what} is {now}, was {before}"


_CONTAINERS: Final = {"list": "a list", "tuple": "a tuple", "dict": "a dict"}


def _form(difference: Difference) -> str:
    if not difference.now:
        return f"{difference.what} is left at its default {difference.target}, was given"
    if not difference.before:
        return f"{difference.what} is given, was left at its default {difference.target}"
    now, before = (_FORMS.get(text, text) for text in (difference.now, difference.before))
    return f"{difference.what} is {now}, was {before}"


_FORMS: Final = {"keyword": "passed by keyword", "positional": "passed by position"}


def _placed(difference: Difference) -> str:
    return f"{difference.what} is {_at(difference.now)}, was {_at(difference.before)}"


def _at(place: str) -> str:
    if place.startswith("P("):
        return f"sharded {place}"
    return _PLACES.get(place, f"on {place}")


_PLACES: Final = {"uncommitted": "uncommitted", "none": "not sharded"}


def _static(difference: Difference) -> str:
    if difference.before == difference.now and not difference.is_of_new_class:
        return f"static {difference.what} is a different {difference.now} object"
    return f"static {_pytree(difference)}"


def _static_identity(difference: Difference) -> str:
    return f"static {difference.what} is another {difference.now} object, and {difference.now} compares by identity"


def _config(difference: Difference) -> str:
    name = _MESHES.get(difference.what, difference.what)
    return f"{name} is {difference.now}, was {difference.before}"


def _cell(difference: Difference) -> str:
    return f"the code that defines {difference.what} ran again: the code is unchanged, but JAX sees a new function"


def _redefined(difference: Difference) -> str:
    return f"{difference.what} was redefined with other code"


def _made_anew(difference: Difference) -> str:
    return f"{difference.what} is a new function object with the same code"


def _partial(difference: Difference) -> str:
    return f"{difference.what} is a new functools.partial object, and JAX compares partials by identity"


def _method(difference: Difference) -> str:
    if difference.is_callable_object:
        return f"the jitted function is another {difference.what} object"
    return f"{difference.what} is a new bound method; every attribute access creates one"


def _settings_added(difference: Difference) -> str:
    names = f" ({difference.what})" if difference.what else ""
    return f"importing a module added settings to JAX{names}, and every function compiles once more"


def _captured(difference: Difference) -> str:
    if difference.now == difference.before:
        return f"{difference.what} is another {difference.now} object"
    return _pytree(difference)


def _unhashable(difference: Difference) -> str:
    if not difference.what:
        return "a static argument has no hash"
    return f"static {difference.what} is a {difference.now}, which has no hash"


def _donated(difference: Difference) -> str:
    return f"{difference.what or 'an argument'} was donated to an earlier call, or deleted: its buffer is gone"


_PHRASES: Final[dict[Cause, Callable[[Difference], str]]] = {
    Cause.PYTREE: _pytree,
    Cause.JIT_OPTIONS: _option,
    Cause.ARGUMENT_FORM: _form,
    Cause.PLACEMENT: _placed,
    Cause.OTHER_DEVICE: _placed,
    Cause.SHARDING_TYPE: _placed,
    Cause.STATIC_VALUE: _static,
    Cause.STATIC_IDENTITY: _static_identity,
    Cause.CONFIG: _config,
    Cause.SETTINGS_ADDED: _settings_added,
    Cause.CELL_RUN_AGAIN: _cell,
    Cause.REDEFINED: _redefined,
    Cause.MADE_ANEW: _made_anew,
    Cause.PARTIAL_MADE_ANEW: _partial,
    Cause.METHOD_MADE_ANEW: _method,
    Cause.CAPTURED: _captured,
    Cause.UNHASHABLE_STATIC: _unhashable,
    Cause.DONATED_BEFORE: _donated,
}


def _phrase(difference: Difference) -> str:
    return _PHRASES.get(difference.cause, _is_was)(difference)
