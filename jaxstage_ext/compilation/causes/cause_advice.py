"""What the user can do about each cause: a sentence, and code with the user's own names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from jaxstage_ext.compilation.causes.advice_for_functions import (
    captured_advice,
    cell_advice,
    jit,
    jitted,
    made_anew_advice,
    method_advice,
    partial_advice,
    statics,
    variable,
)
from jaxstage_ext.compilation.causes.cause import Advice, Cause, Difference, Verdict
from jaxstage_ext.compilation.causes.leaf_differences import UNCOMMITTED
from jaxstage_ext.compilation.causes.nearest_record import AS_ARRAY
from jaxstage_ext.compilation.causes.suggested_code import as_one_array, call_text
from jaxstage_ext.compilation.records.compile_record import CompileRecord
from jaxstage_ext.compilation.records.equinox_call import LAYER
from jaxstage_ext.compilation.records.function_source import is_jitted_by_name

_FUNCTION_TYPES: Final = ("function", "builtin_function_or_method", "method", "partial", "PjitFunction")
_CONTROL_FLOW: Final = ("scan", "while", "cond", "while_loop", "fori_loop", "map")
_MOST_NAMED: Final = 4
_MESHES: Final = ("mesh_context_manager", "abstract_mesh_context_manager")


def _main(verdict: Verdict) -> Difference:
    return next((d for d in verdict.differences if d.cause is verdict.cause), Difference(verdict.cause))


def _root(path: str) -> str:
    """The parameter that a path begins with: "params" of "params['w'][0]"."""
    ends = [at for at in (path.find("["), path.find(".")) if at > 0]
    return path[: min(ends)] if ends else path


def _each(verdict: Verdict) -> list[Difference]:
    """The differences of the main cause, one an argument."""
    return list({d.what: d for d in verdict.differences if d.cause is verdict.cause}.values()) or [_main(verdict)]


def _named(differences: Sequence[Difference]) -> str:
    """Arguments in a sentence: "x", "x and y", "x, y and 3 more"."""
    names = [difference.what for difference in differences]
    if len(names) > _MOST_NAMED:
        names = [*names[: _MOST_NAMED - 1], f"{len(names) - _MOST_NAMED + 1} more"]
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def _code(differences: Sequence[Difference], write: Callable[[Difference], str]) -> str:
    """An expression for the one argument, or an assignment to each; "" where one of them can have none."""
    if not all(difference.target for difference in differences):
        return ""
    if len(differences) == 1:
        return write(differences[0])
    if not all(difference.what.isidentifier() for difference in differences):
        return ""
    return "\n".join(f"{difference.what} = {write(difference)}" for difference in differences)


def _shape(record: CompileRecord, verdict: Verdict) -> Advice:
    main, every = _main(verdict), _each(verdict)
    dtypes = [d for d in verdict.differences if d.cause is Cause.DTYPE]
    if any(map(_is_of_keys, dtypes)):
        return _dtype(record, verdict)
    if dtypes:
        return _shape_and_dtype(_shape(record, _without(verdict, dtypes)), every, dtypes)
    if any(each.is_of_other_rank for each in every):
        return Advice(f"Pass {_named(every)} with the same number of dimensions in every call.")
    if "." in main.what:  # an attribute: a model or a state, not a batch
        return Advice(f"Pass {_root(main.what)} with the same shapes in every call, or jit a function for each.")
    code = _code(every, lambda each: each.target)
    if all(each.has_bucket_sizes for each in every):
        return Advice(
            f"If each new size costs too much, pad {_named(every)} to one fixed shape outside the jitted function, and "
            "mask the padding: the sizes that differ are powers of two already.",
            code,
        )
    return Advice(
        f"Pad {_named(every)} to a fixed shape, or to a few sizes such as powers of two, and mask the padding"
        f"{'; np.pad compiles nothing' if code else ''}.",
        code,
    )


def _without(verdict: Verdict, differences: Sequence[Difference]) -> Verdict:
    return replace(verdict, differences=tuple(d for d in verdict.differences if d not in differences))


def _shape_and_dtype(padded: Advice, shapes: Sequence[Difference], dtypes: Sequence[Difference]) -> Advice:
    """The advice for shapes, and what to do about the dtypes, of the same argument or of others."""
    sentence = f"{padded.sentence} {_dtype_sentence(dtypes)}"
    if not padded.code or not all(each.target for each in dtypes):
        return Advice(sentence, padded.code)
    if len(shapes) == len(dtypes) == 1 and shapes[0].what == dtypes[0].what:
        return Advice(sentence, f"jnp.asarray({padded.code}, {dtypes[0].target})")
    if all(each.what.isidentifier() for each in (*shapes, *dtypes)):
        code = padded.code if len(shapes) > 1 else f"{shapes[0].what} = {padded.code}"
        return Advice(sentence, "\n".join([code, *(f"{each.what} = {_as_array(each)}" for each in dtypes)]))
    return Advice(sentence, padded.code)


def _is_of_keys(difference: Difference) -> bool:
    return difference.cause is Cause.DTYPE and "key<" in difference.before + difference.now


def _dtype(record: CompileRecord, verdict: Verdict) -> Advice:
    every = list({d.what: d for d in verdict.differences if d.cause is Cause.DTYPE}.values())
    sentence = _dtype_sentence(every)
    return Advice(sentence, _code(every, _as_array) if all(each.target for each in every) else "")


def _dtype_sentence(every: Sequence[Difference]) -> str:
    keys = [each for each in every if _is_of_keys(each)]
    if keys:
        return f"Make {_named(keys)} the same way in every call, with jax.random.key and one implementation."
    if not all(each.target for each in every):
        return f"Pass {_named(every)} with one dtype in every call."
    dtypes = {each.target.removeprefix("jnp.") for each in every}
    which = f"as {dtypes.pop().rstrip('_')}" if len(dtypes) == 1 else "with one dtype each"
    return f"Pass {_named(every)} {which} in every call."


def _as_array(difference: Difference) -> str:
    return f"jnp.asarray({difference.what}, {difference.target})"


def _weak_type(record: CompileRecord, verdict: Verdict) -> Advice:
    every = _each(verdict)
    return Advice(
        f"Give {_named(every)} an explicit dtype in every call: Python scalars and arrays made from them are weakly "
        "typed.",
        _code(every, _as_array),
    )


def _pytree(record: CompileRecord, verdict: Verdict) -> Advice:
    main = _main(verdict)
    if main.target == AS_ARRAY:
        return Advice(f"Pass {main.what} as an array in every call.", as_one_array(main))
    if main.target:
        return Advice(f"Pass {main.what} as a {main.target} in every call.", f"{main.target}({main.what})")
    if main.before == main.now:
        return _class_advice(main.now)
    if "None" in (main.before, main.now):
        return Advice(f"Pass an array for {main.what} in every call, or None in every call.")
    return Advice(f"Give {_root(main.what)} the same structure in every call: the same keys, lengths and types.")


def _class_advice(name: str) -> Advice:
    return Advice(f"Define the class {name} in a cell of its own, and run again only the cells that use it.")


def _argument_form(record: CompileRecord, verdict: Verdict) -> Advice:
    main = _main(verdict)
    how = "in every call or in none" if not main.before or not main.now else "the same way in every call"
    return Advice(
        f"Pass {main.what} {how}: JAX compares the arguments as they are given.",
        call_text(record, dict(_earlier_forms(verdict))),
    )


def _earlier_forms(verdict: Verdict) -> Iterator[tuple[str, bool]]:
    """Whether each argument that was given in another form was given by keyword before; a default is written out."""
    for difference in verdict.differences:
        if difference.cause is Cause.ARGUMENT_FORM and difference.before:
            yield difference.what, not difference.now or difference.before == "keyword"


def _with_sharding(what: str) -> str:
    return f"jax.ShapeDtypeStruct({what}.shape, {what}.dtype, sharding={what}.sharding)"


def _placement(record: CompileRecord, verdict: Verdict) -> Advice:
    every = _each(verdict)
    if verdict.is_after_ahead and all(each.before == UNCOMMITTED for each in every):
        return Advice(
            f"Compile ahead of time with the sharding that {_named(every)} has in the call: a shape alone has none.",
            _code(every, lambda each: _with_sharding(each.what)),
        )
    return Advice(
        f"Put {_named(every)} on the same devices before every call.",
        _code(every, lambda each: f"jax.device_put({each.what}, {each.target})"),
    )


def _static_value(record: CompileRecord, verdict: Verdict) -> Advice | None:
    main = _main(verdict)
    if main.is_of_new_class:
        return _class_advice(main.now)
    if not verdict.can_be_mended:
        return Advice(f"Each value of the static {main.what} needs its own program; keep the number of values small.")
    if record.function is not None and LAYER in record.function.layers:
        return Advice(
            f"Pass {main.what} as an array: equinox.filter_jit takes Python numbers as static.",
            as_one_array(main),
        )
    name = variable(record)
    if _root(main.what) != main.what:
        return Advice(f"If {main.what} sets no shape and decides no Python branch, pass it as an argument of its own.")
    sentence = (
        f"If {main.what} sets no shape and decides no Python branch, pass it as an ordinary argument: "
        f"take it out of static_argnames or static_argnums."
    )
    is_jitted = is_jitted_by_name(record.function)  # what the name means keeps its static arguments
    code = "" if is_jitted else f"{name} = {jit(record)}({jitted(record)}{statics(record, main.what)})"
    if not _is_size(record, main.what):
        return Advice(sentence, code)
    return Advice(f"{sentence} If it sets a shape, round it up to one of a few sizes, such as powers of two.", code)


def _is_size(record: CompileRecord, name: str) -> bool:
    """Whether a static argument could be the size of an axis."""
    statics = record.signature.statics if record.signature else ()
    return any(value.name == name and type(value.value) is int and value.value > 0 for value in statics)


def _static_identity(record: CompileRecord, verdict: Verdict) -> Advice:
    main = _main(verdict)
    kind = main.now
    if kind in _FUNCTION_TYPES:
        return Advice(f"Pass the same function object as {main.what} in every call: define it once, outside the loop.")
    return Advice(
        f"Give {kind} __eq__ and __hash__, for example as a frozen dataclass, or pass the same object in every call.",
        f"@dataclasses.dataclass(frozen=True)\nclass {kind}: ...",
    )


def _jit_options(record: CompileRecord, verdict: Verdict) -> Advice:
    return Advice(
        f"Make one jitted function of {record.name} with one set of options, and call that everywhere.",
    )


def _config(record: CompileRecord, verdict: Verdict) -> Advice:
    main = _main(verdict)
    if main.what in _MESHES:
        return Advice("Set the mesh once, before the first call.", "jax.set_mesh(mesh)")
    if main.what.startswith("jax_") and main.target:
        return Advice(
            f"Set {main.what} once, before the first call.", f"jax.config.update({main.what!r}, {main.target})"
        )
    return Advice(f"Make every call under the same setting of {main.what}.")


def _settings_added(record: CompileRecord, verdict: Verdict) -> Advice:
    names = _main(verdict).what.split(", ")
    is_pallas = all(name.startswith("pallas_") for name in names)
    return Advice(
        "Import all modules before the first call of a jitted function.",
        "from jax.experimental import pallas" if is_pallas else "",
    )


def _cleared(record: CompileRecord, verdict: Verdict) -> Advice:
    return Advice("Call jax.clear_caches() and .clear_cache() only where memory needs it, and never between calls.")


def _concurrent(record: CompileRecord, verdict: Verdict) -> Advice:
    return Advice(f"Call {record.name} once before the threads start.")


def _unhashable(record: CompileRecord, verdict: Verdict) -> Advice:
    main = _main(verdict)
    name = main.what or "it"
    if main.target:
        return Advice(f"Pass {name} as a tuple, which has a hash.", main.target)
    return Advice(f"Pass {name} as an ordinary argument, or as a frozen dataclass or a tuple, which have a hash.")


def _donated(record: CompileRecord, verdict: Verdict) -> Advice:
    name = _main(verdict).what
    if not name:
        return Advice("Use the result of the call in place of what it donated.")
    return Advice(
        f"Use the result in place of {name}, or drop donate_argnums if {name} is needed afterwards.",
        f"{_root(name)} = {record.name}({_root(name)})  # and go on with the result" if record.name else "",
    )


def _eager(record: CompileRecord, verdict: Verdict) -> Advice | None:
    if not verdict.is_wasted or record.name not in _CONTROL_FLOW:
        return None
    return Advice(
        f"Define the functions that are given to jax.lax.{record.name} once, or call it inside a jitted function.",
    )


ADVICE: Final[dict[Cause, Callable[[CompileRecord, Verdict], Advice | None]]] = {
    Cause.SHAPE: _shape,
    Cause.DTYPE: _dtype,
    Cause.WEAK_TYPE: _weak_type,
    Cause.PYTREE: _pytree,
    Cause.ARGUMENT_FORM: _argument_form,
    Cause.PLACEMENT: _placement,
    Cause.SHARDING_TYPE: _placement,
    Cause.STATIC_VALUE: _static_value,
    Cause.STATIC_IDENTITY: _static_identity,
    Cause.JIT_OPTIONS: _jit_options,
    Cause.CONFIG: _config,
    Cause.SETTINGS_ADDED: _settings_added,
    Cause.CELL_RUN_AGAIN: cell_advice,
    Cause.MADE_ANEW: made_anew_advice,
    Cause.PARTIAL_MADE_ANEW: partial_advice,
    Cause.METHOD_MADE_ANEW: method_advice,
    Cause.CAPTURED: captured_advice,
    Cause.CACHE_CLEARED: _cleared,
    Cause.CONCURRENT: _concurrent,
    Cause.UNHASHABLE_STATIC: _unhashable,
    Cause.DONATED_BEFORE: _donated,
    Cause.EAGER: _eager,
}
