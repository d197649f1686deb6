"""The compile options that XLA is given for a program, each with where it comes from."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import jax

from jaxstage_ext.core.jax_private import jax_options, lowered_modules, module_lowering
from jaxstage_ext.core.options import flag_values, unread_flags, xla_flags
from jaxstage_ext.core.options.build_options import for_xla
from jaxstage_ext.core.stage.stage_definition import COMPILE, LOWER
from jaxstage_ext.core.stage.stageable import unwrap
from jaxstage_ext.core.stage.staged import Staged
from jaxstage_ext.worker import flag_text

_LOGGING = "xla_detailed_logging"
_OF_LOGGING = "it changes what XLA logs of the compile, and nothing in the program"
_OF_PROFILING = (
    "jax_enable_pgle: JAX compiles without command buffers, profiles the first runs, and compiles again with "
    "fdo_profile"
)
_OF_PROFILE = "jax_enable_pgle: the profile of the runs before this compile"
_OF_PROPAGATION = "True where no sharding was given, so that XLA's partitioner chooses it"
_LIBTPU = "LIBTPU_INIT_ARGS"
_SHARDY = "use_shardy_partitioner"
PROFILE_VERSION = "profile_version"
"""Of the profile for feedback-directed optimisation."""
_NO_PROFILE = "no profile for feedback-directed optimisation is looked up"


class Basis(enum.Enum):
    """How the options are known that follow from `jax.config`."""

    RECORDED = "recorded"
    """At the compile that made the executable."""
    EXPECTED = "expected"
    """There is no executable: what JAX would give XLA now."""
    UNKNOWN = "unknown"
    """JAX had compiled it before anything recorded its options."""


class OptionOrigin(enum.StrEnum):
    """Where a compile option comes from."""

    CALL = "this call"
    JIT = "jax.jit"
    CONFIG = "jax.config"
    ENVIRONMENT = "environment"
    XLA_FLAGS = "XLA_FLAGS"
    JAX = "JAX"


_BY_VARIABLE = (OptionOrigin.XLA_FLAGS, "XLA_FLAGS")


@dataclass(frozen=True)
class ReceivedOption:
    """A compile option that differs from XLA's default."""

    name: str
    """XLA's, or that of a field of CompileOptions."""
    value: str
    """As text."""
    default: str | None
    """XLA's as text; None where unknown, since XLA_FLAGS set another in this process, or jaxlib has none."""
    origin: OptionOrigin
    setter: str
    """What set it: an entry of `jax.config`, a variable, a parameter; JAX, which gives it to every program."""
    note: str = ""
    """What is to be known of it: that it does nothing here, or hides another."""


def received(staged: Staged, platform: str, by: OptionOrigin = OptionOrigin.CALL) -> list[ReceivedOption]:
    """The options of a program that was lowered, those of the call first. `platform` is "cpu", "gpu" or "tpu".

    They are those of the compile that made the executable, whatever `jax.config` and the environment have become
    since; those of `jax.config` are left out where the `basis` is unknown. `by` is what gave the call's options.
    """
    lowered = unwrap(staged.value(LOWER))
    own = lowered_modules.own_options(lowered) if lowered is not None else {}
    call = for_xla(staged.call.compiler_options)
    configured = _configured(staged)
    environment = staged.environment
    variable, of_libtpu = (environment.variable(name) if environment else "" for name in ("XLA_FLAGS", _LIBTPU))
    hidden = {**_texts(own), **_texts(call)}
    return [
        *_given(call, by, platform, own, variable),
        *_given({n: v for n, v in own.items() if n not in call}, OptionOrigin.JIT, platform, {}, variable),
        *(_of_config(configured, hidden, platform) if configured else ()),
        *_of_variable(variable, hidden, platform),
        *(_of_libtpu(of_libtpu) if platform == "tpu" else ()),
        *(_of_fields(configured, hidden, module_lowering.is_gspmd(lowered)) if configured else ()),
        *(_of_profile(configured, hidden, platform) if configured else ()),
        *(_of_propagation(configured) if configured else ()),
    ]


def basis(staged: Staged) -> Basis:
    """How the options of a program are known."""
    if staged.value(COMPILE) is None and staged.received is None:
        return Basis.EXPECTED
    return Basis.UNKNOWN if staged.received is None else Basis.RECORDED


def _configured(staged: Staged) -> jax_options.ConfiguredOptions | None:
    if basis(staged) is not Basis.EXPECTED:
        return staged.received
    module = lowered_modules.module_of_lowered(unwrap(staged.value(LOWER)))
    if module is None:
        return jax_options.configured_options()
    return jax_options.expected_options(module, jax.devices()[0].client if staged.target.is_local else None)


def _texts(options: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in flag_values.shown(options).items()}


def _given(
    options: Mapping[str, Any], origin: OptionOrigin, platform: str, below: Mapping[str, Any], variable: str
) -> Iterator[ReceivedOption]:
    for name, value in _texts(options).items():
        notes = [note for note in flag_values.notes({name: options[name]}, platform) if note]
        if name in below:
            notes.append(f"jax.jit set it to {_texts(below)[name]}, which this hides")
        default = _default(name, variable)
        yield ReceivedOption(name, value, default, origin, "compiler_options", "; ".join(notes))


def _default(name: str, variable: str) -> str | None:
    """XLA's default of a flag, or of a field; None where unknown: jaxlib has what XLA_FLAGS has made of it."""
    flag = xla_flags.installed().by_name.get(name)
    if flag is None:
        return jax_options.build_fields(jax_options.plain_options()).get(name)
    is_changed = name in dict(flag_text.options(variable)) and name not in unread_flags.unread(variable)
    return None if is_changed else flag.default


def _of_config(
    configured: jax_options.ConfiguredOptions, hidden: Mapping[str, str], platform: str
) -> Iterator[ReceivedOption]:
    """Flags that JAX sets for entries of `jax.config`."""
    plain, made = xla_flags.values(jax_options.plain_options()), xla_flags.values(configured.options)
    for name, value in made.items():
        if value == plain.get(name):
            continue
        origin, setter = _setter(name, configured)
        if origin is OptionOrigin.JAX and flag_values.is_of_another_backend(name, platform):
            continue  # JAX gives every program the place of a CUDA toolkit that is installed
        notes = [note for note in flag_values.notes({name: value}, platform) if note]
        notes += [_OF_LOGGING] if name == _LOGGING else []
        notes += [f"the call sets {hidden[name]}, which hides this"] if name in hidden else []
        yield ReceivedOption(name, value, plain.get(name), origin, setter, "; ".join(notes))


def _setter(name: str, configured: jax_options.ConfiguredOptions) -> tuple[OptionOrigin, str]:
    """Where an option that `jax.config` implies comes from, and what set it."""
    setter = jax_options.config_of_flag(name, configured)
    if not setter:
        return OptionOrigin.JAX, OptionOrigin.JAX.value
    return (OptionOrigin.ENVIRONMENT if setter.isupper() else OptionOrigin.CONFIG), setter


def _of_variable(text: str, hidden: Mapping[str, str], platform: str) -> Iterator[ReceivedOption]:
    """Flags of XLA_FLAGS, also those that do nothing."""
    known, ignored = xla_flags.installed().by_name, unread_flags.unread(text)
    given = list(flag_text.options(text)) if text else []
    last = {name: at for at, (name, _) in enumerate(given)}
    for at, (name, value) in enumerate(given):
        if at < last[name]:
            note = f"XLA_FLAGS sets it again to {given[last[name]][1] or 'true'}, which hides this"
            yield ReceivedOption(name, value or "true", _default(name, text), *_BY_VARIABLE, note)
            continue
        notes = [note for note in flag_values.notes({name: value}, platform) if note]
        if name in ignored:
            notes.append(
                f"XLA had read XLA_FLAGS before it was set, and has {ignored[name] or '(empty)'}: it does nothing here"
            )
        if name in hidden:
            notes.append(f"the call sets {hidden[name]}, which hides this")
        if known and name not in known:
            notes.append("this jaxlib has no such flag")
        yield ReceivedOption(name, value or "true", _default(name, text), *_BY_VARIABLE, "; ".join(notes))


def _of_libtpu(text: str) -> Iterator[ReceivedOption]:
    """Flags of LIBTPU_INIT_ARGS, which libtpu alone reads."""
    for name, value in flag_text.options(text) if text else ():
        note = "only libtpu knows this flag, and reads it when it is loaded"
        yield ReceivedOption(name, value or "true", None, OptionOrigin.ENVIRONMENT, _LIBTPU, note)


def _of_fields(
    configured: jax_options.ConfiguredOptions, hidden: Mapping[str, str], is_gspmd: bool
) -> Iterator[ReceivedOption]:
    """Fields of CompileOptions that are no flags: effort levels, the profile's version, the partitioner.

    A module with shardings of before Shardy is compiled without it, whatever `jax.config` says.
    """
    plain = jax_options.build_fields(jax_options.plain_options())
    made = jax_options.build_fields(configured.options) | ({_SHARDY: str(False)} if is_gspmd else {})
    for name, value in made.items():
        if value != plain.get(name) and name not in hidden:
            note = _NO_PROFILE if (name, value) == (PROFILE_VERSION, "-1") else ""
            yield ReceivedOption(name, value, plain.get(name), *_setter(name, configured), note)


def _of_profile(
    configured: jax_options.ConfiguredOptions, hidden: Mapping[str, str], platform: str
) -> Iterator[ReceivedOption]:
    """What `jax_enable_pgle` sets, where the call does not."""
    for name, value in jax_options.guided_by_profile(configured.options).items():
        if name not in hidden:
            notes = [*flag_values.notes({name: value}, platform), _OF_PROFILE if value else _OF_PROFILING]
            default = _default(name, "")
            yield ReceivedOption(name, value or "(empty)", default, *_setter(name, configured), "; ".join(notes))


def _of_propagation(configured: jax_options.ConfiguredOptions) -> Iterator[ReceivedOption]:
    """The arguments and results whose sharding XLA chooses, one value for all where they agree."""
    for name, values in jax_options.propagation(configured.options).items():
        if any(values):
            text = "True" if all(values) else ", ".join(map(str, values))
            yield ReceivedOption(name, text, "False", OptionOrigin.JAX, OptionOrigin.JAX.value, _OF_PROPAGATION)
