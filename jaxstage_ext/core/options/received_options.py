"""The compile options that XLA is given for a program, each with where it comes from."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from jaxstage_ext.core import jax_private
from jaxstage_ext.core.options import flag_values, unread_flags, xla_flags
from jaxstage_ext.core.options.build_options import for_xla
from jaxstage_ext.core.stageable import unwrap
from jaxstage_ext.core.staged import LOWER, Staged
from jaxstage_ext.worker import flag_text

_NOT_SHOWN = {"xla_detailed_logging"}
"""What JAX sets for every program, which changes nothing in it."""


class OptionOrigin(enum.StrEnum):
    """Where a compile option comes from."""

    CALL = "this call"
    JIT = "jax.jit"
    CONFIG = "jax.config"
    XLA_FLAGS = "XLA_FLAGS"
    JAX = "JAX"


@dataclass(frozen=True)
class ReceivedOption:
    """A compile option that differs from XLA's default.

    Attributes:
      name: XLA's, or that of a field of CompileOptions.   value, default: as text; default is "" where unknown.
      setter: what set it: an entry of `jax.config`, a variable, a parameter.
      note: what is to be known of it: that it does nothing here, or hides another.
    """

    name: str
    value: str
    default: str
    origin: OptionOrigin
    setter: str
    note: str = ""


def received(staged: Staged, platform: str) -> list[ReceivedOption]:
    """The options of a program that was lowered, those of the call first. `platform` is "cpu", "gpu" or "tpu".

    They are those of the compile where it was compiled, whatever `jax.config` and the environment have become since.
    """
    lowered = unwrap(staged.value(LOWER))
    own = jax_private.own_options(lowered) if lowered is not None else {}
    call = for_xla(staged.call.compiler_options)
    configured = staged.configured or jax_private.configured_options()
    variable = staged.environment.variable("XLA_FLAGS") if staged.environment else ""
    hidden = {**_texts(own), **_texts(call)}
    return [
        *_given(call, OptionOrigin.CALL, "compiler_options", platform, own),
        *_given({n: v for n, v in own.items() if n not in call}, OptionOrigin.JIT, "compiler_options", platform, {}),
        *_of_config(configured, hidden),
        *_of_variable(variable, hidden, platform),
        *_of_fields(configured, hidden),
    ]


def _texts(options: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in flag_values.shown(options).items()}


def _given(
    options: Mapping[str, Any], origin: OptionOrigin, setter: str, platform: str, below: Mapping[str, Any]
) -> Iterator[ReceivedOption]:
    known = xla_flags.installed().by_name
    for name, value in _texts(options).items():
        flag = known.get(name)
        notes = [note for note in flag_values.notes({name: options[name]}, platform) if note]
        if name in below:
            notes.append(f"jax.jit set it to {_texts(below)[name]}, which this hides")
        yield ReceivedOption(name, value, (flag.default or "") if flag else "", origin, setter, "; ".join(notes))


def _of_config(configured: jax_private.ConfiguredOptions, hidden: Mapping[str, str]) -> Iterator[ReceivedOption]:
    """Flags that JAX sets for entries of `jax.config`."""
    plain, made = xla_flags.values(jax_private.plain_options()), xla_flags.values(configured.options)
    for name, value in made.items():
        if name in _NOT_SHOWN or value == plain.get(name):
            continue
        setter = jax_private.config_of_flag(name, configured)
        note = f"the call sets {hidden[name]}, which hides this" if name in hidden else ""
        origin = OptionOrigin.CONFIG if setter else OptionOrigin.JAX
        yield ReceivedOption(name, value, plain.get(name, ""), origin, setter or "JAX sets it itself", note)


def _of_variable(text: str, hidden: Mapping[str, str], platform: str) -> Iterator[ReceivedOption]:
    """Flags of XLA_FLAGS, also those that do nothing."""
    known, ignored = xla_flags.installed().by_name, unread_flags.unread(text)
    for name, value in flag_text.options(text) if text else ():
        notes = [note for note in flag_values.notes({name: value}, platform) if note]
        if name in ignored:
            notes.append(f"XLA had read XLA_FLAGS before it was set, and has {ignored[name]}")
        if name in hidden:
            notes.append(f"the call sets {hidden[name]}, which hides this")
        if known and name not in known:
            notes.append("this jaxlib has no such flag")
        yield ReceivedOption(name, value or "true", "", OptionOrigin.XLA_FLAGS, "XLA_FLAGS", "; ".join(notes))


def _of_fields(configured: jax_private.ConfiguredOptions, hidden: Mapping[str, str]) -> Iterator[ReceivedOption]:
    """Fields of CompileOptions that are no flags: effort levels, the profile's version, the partitioner."""
    plain = jax_private.build_fields(jax_private.plain_options())
    for name, value in jax_private.build_fields(configured.options).items():
        if value != plain.get(name) and name not in hidden:
            setter = jax_private.config_of_flag(name, configured)
            origin = OptionOrigin.CONFIG if setter else OptionOrigin.JAX
            yield ReceivedOption(name, value, plain.get(name, ""), origin, setter or "JAX sets it itself")
