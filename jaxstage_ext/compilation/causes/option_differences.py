"""In what static arguments, the options of `jax.jit`, and JAX's configuration differ between two calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

from jaxstage_ext.compilation.causes.cause import Cause, Difference
from jaxstage_ext.compilation.causes.leaf_differences import device_code, device_text, placement_text
from jaxstage_ext.compilation.causes.sameness import equal, is_of_new_class, same_value
from jaxstage_ext.compilation.records.call_parameters import call_parameters
from jaxstage_ext.compilation.records.compile_record import CompileRecord, KeptValue
from jaxstage_ext.compilation.records.values_inside_functions import ArrayType
from jaxstage_ext.core.jax_private import compile_context, jit_options
from jaxstage_ext.report.text.bounded_repr import bounded_str, plain_pair, plain_repr

_LONGEST = 80


def static_differences(before: CompileRecord, now: CompileRecord) -> Iterator[Difference]:
    """Static arguments with another value, or another object where the type compares by identity."""
    old, new = ({value.name: value for value in _statics(record)} for record in (before, now))
    for name in dict.fromkeys([*new, *old]):
        one, other = old.get(name), new.get(name)
        if one is None or other is None:
            yield _given_or_left(name, one, other, call_parameters(now.function).defaults.get(name))
        elif (same := same_value(one, other)) is not True:
            yield from value_differences(_static_cause(one, other, same), name, one, other)
        elif (form := _form(before, name)) != (now_form := _form(now, name)):
            yield Difference(Cause.ARGUMENT_FORM, name, form, now_form)


def _form(record: CompileRecord, name: str) -> str:
    return "keyword" if record.signature is not None and name in record.signature.keywords else "positional"


def _given_or_left(name: str, one: KeptValue | None, other: KeptValue | None, default: KeptValue | None) -> Difference:
    """A static argument that only one of two calls gives; the other has its default, which may be the same value."""
    given = one or other
    if default is None or given is None:
        return Difference(Cause.STATIC_VALUE, name, value_text(one), value_text(other))
    if same_value(default, given) is True:
        return Difference(Cause.ARGUMENT_FORM, name, value_text(one), value_text(other), value_text(default))
    return Difference(Cause.STATIC_VALUE, name, value_text(one or default), value_text(other or default))


def _statics(record: CompileRecord) -> tuple[KeptValue, ...]:
    return record.signature.statics if record.signature else ()


def _static_cause(one: KeptValue, other: KeptValue, same: bool | None) -> Cause:
    if same is None:
        return Cause.UNKNOWN
    by_identity = one.type == other.type and one.hash_is_identity and other.hash_is_identity
    return Cause.STATIC_IDENTITY if by_identity else Cause.STATIC_VALUE


def value_differences(cause: Cause, name: str, one: KeptValue, other: KeptValue) -> Iterator[Difference]:
    """Two values that differ: by the parts that do, where they were kept."""
    if cause is Cause.STATIC_VALUE and is_of_new_class(one, other):
        yield Difference(cause, name, *_value_texts(one, other), is_of_new_class=True)
        return
    if cause is Cause.STATIC_IDENTITY and one.code is other.code:
        yield Difference(cause, name, *_value_texts(one, other))
        yield from _inside(name, one, other)
        return
    if cause is Cause.STATIC_IDENTITY or one.type != other.type or len(one.parts) != len(other.parts):
        yield Difference(cause, name, *_value_texts(one, other))
        return
    differing = [(old, new) for old, new in zip(one.parts, other.parts, strict=True) if same_value(old, new) is False]
    if not differing:
        yield from _value_difference(cause, name, one, other)
    for old, new in differing:
        path = f"{name}[{new.name}]" if new.name.isdigit() else f"{name}.{new.name}"
        yield from _value_difference(cause, path, old, new)


def _value_difference(cause: Cause, path: str, old: KeptValue, new: KeptValue) -> Iterator[Difference]:
    """By the values inside a captured function that differ, where its code is the same and some do."""
    inside = list(_inside(path, old, new)) if cause is Cause.CAPTURED and old.code is new.code else []
    yield from inside or [Difference(cause, path, *_value_texts(old, new))]


def _inside(path: str, old: KeptValue, new: KeptValue) -> Iterator[Difference]:
    if [name for name, _ in old.inside] != [name for name, _ in new.inside]:
        return
    for (name, before), (_, now) in zip(old.inside, new.inside, strict=True):
        texts = _inside_text(before), _inside_text(now)
        if texts[0] != texts[1]:  # NaN is another NaN to Python
            if not isinstance(before, ArrayType) and not isinstance(now, ArrayType):
                texts = plain_pair(before, now, _LONGEST)
            yield Difference(
                cause=Cause.CAPTURED, what=f"{name} in {path}", before=texts[0], now=texts[1], is_inside_function=True
            )


def _inside_text(value: Any) -> str:
    return bounded_str(value, _LONGEST) if isinstance(value, ArrayType) else plain_repr(value, _LONGEST, exact=True)


def _value_texts(old: KeptValue, new: KeptValue) -> tuple[str, str]:
    """Two values, told apart where they can be."""
    if old.is_kept and new.is_kept:
        return plain_pair(old.value, new.value, _LONGEST)
    return value_text(old), value_text(new)


def value_text(value: KeptValue | None) -> str:
    """A value as Python writes it where it was kept, else its type."""
    if value is None:
        return ""
    return plain_repr(value.value, _LONGEST) if value.is_kept else value.shape or value.type.rpartition(".")[2]


def option_differences(before: CompileRecord, now: CompileRecord) -> Iterator[Difference]:
    """Options of `jax.jit` that differ, each by its name; compiler options by their own."""
    if before.jit_options is not now.jit_options and None not in (before.jit_options, now.jit_options):
        old, new = jit_options.options(before.jit_options), jit_options.options(now.jit_options)
        old.pop("compiler_options", None), new.pop("compiler_options", None)
        yield from _named(Cause.JIT_OPTIONS, old, new, _option_text)
    compiled = dict(before.compiler_options), dict(now.compiler_options)
    yield from _named(Cause.JIT_OPTIONS, *compiled, lambda value: plain_repr(value, _LONGEST), "compiler_options[{!r}]")


def _named(
    cause: Cause, old: Mapping[str, Any], new: Mapping[str, Any], text: Any, form: str = "{}"
) -> Iterator[Difference]:
    for name in dict.fromkeys([*new, *old]):
        if name not in old or name not in new or equal(old[name], new[name]) is not True:
            yield Difference(
                cause,
                form.format(name),
                text(old[name]) if name in old else "",
                text(new[name]) if name in new else "",
            )


def _option_text(value: Any) -> str:
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], tuple) and hasattr(value[1], "num_leaves"):
        leaves = [_sharding_option(leaf) for leaf in value[0]]
        return leaves[0] if len(leaves) == 1 else f"({', '.join(leaves)})"
    return plain_repr(value, _LONGEST)


def _sharding_option(leaf: Any) -> str:
    if leaf is None or type(leaf).__name__ == "UnspecifiedValue":
        return "unspecified"
    return placement_text(leaf)


def context_differences(before: CompileRecord, now: CompileRecord) -> Iterator[Difference]:
    """JAX's configuration and context managers that differ, each by its name."""
    if before.context is now.context or equal(before.context, now.context):
        return
    names, known = compile_context.names(), len(before.context)
    if len(now.context) > known:
        yield Difference(Cause.SETTINGS_ADDED, ", ".join(names[known : len(now.context)]))
    for at, (old, new) in enumerate(zip(before.context, now.context, strict=False)):
        if equal(old, new) is not True:
            name = names[at] if at < len(names) else ""
            yield Difference(Cause.CONFIG, name, _context_text(name, old), _context_text(name, new), _context_code(new))


def _context_code(value: Any) -> str:
    value = _plain_member(value)
    if hasattr(value, "platform"):
        return device_code(value)
    return repr(value) if isinstance(value, (str, int, type(None))) and not isinstance(value, Enum) else ""


def _plain_member(value: Any) -> Any:
    """What JAX's own enumerations stand for: 'strict'."""
    is_jax = isinstance(value, Enum) and type(value).__module__.partition(".")[0] == "jax"
    return value.value if is_jax else value


def _context_text(name: str, value: Any) -> str:
    value = _plain_member(value)
    if hasattr(value, "platform"):
        return device_text(value)
    axes = getattr(value, "shape", None)
    if isinstance(axes, Mapping):
        return f"Mesh({', '.join(f'{name}={size}' for name, size in axes.items())})" if axes else _NO_MESH
    return _NO_MESH if "mesh" in name and value in ((), None) else plain_repr(value, _LONGEST)


_NO_MESH = "none"
