"""What to do where a trace failed because a traced value set a shape or decided a Python branch."""

from __future__ import annotations

from jaxstage_ext.compilation.causes.advice_for_functions import jitted, variable
from jaxstage_ext.compilation.causes.argument_paths import arguments
from jaxstage_ext.compilation.causes.cause import Advice
from jaxstage_ext.compilation.records.compile_record import CompileRecord
from jaxstage_ext.compilation.records.function_source import decorators, definition, is_jitted_by_name
from jaxstage_ext.core.jax_private.refused_calls import needs_concrete_value

_COUNTS = ("int", "bool")


def failure_advice(record: CompileRecord) -> Advice | None:
    """The arguments that are Python integers or booleans become static; None of another failure."""
    if record.failed is None or not needs_concrete_value(record.failed):
        return None
    names = _counts(record)
    if not names:
        return Advice(
            "A traced value sets a shape or decides a Python branch: make it static, or use jnp.where or jax.lax.cond."
        )
    code = _static_code(record, names)
    return Advice(f"Make {' and '.join(names)} static: it sets a shape or decides a Python branch.", code)


def _static_code(record: CompileRecord, names: list[str]) -> str:
    """The function jitted with static arguments; "" where what its name means is jitted already."""
    function = record.function
    if function is not None and decorators(function) in ("@jax.jit", "@jit"):
        definition_line = definition(function).splitlines()[-1]
        return f"@functools.partial(jax.jit, static_argnames={names!r})\n{definition_line}"
    if is_jitted_by_name(function):
        return ""
    return f"{variable(record)} = jax.jit({jitted(record)}, static_argnames={names!r})"


def _counts(record: CompileRecord) -> list[str]:
    kinds = record.signature.kinds if record.signature else ()
    given = [argument for argument in arguments(record) if argument.tree.node_data() is None]
    return [a.name for a in given if a.first < len(kinds) and kinds[a.first] in _COUNTS and a.name.isidentifier()]
