"""Compile options: flags as people write them, checked and converted to what jaxlib takes."""

from __future__ import annotations

import difflib
import inspect
import math
import numbers
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import jax

from jaxstage_ext.core.jax_private import lowered_modules
from jaxstage_ext.core.options import autotune, build_options, fdo, file_options, xla_flags
from jaxstage_ext.core.options.xla_flags import Flag, Flags
from jaxstage_ext.report.deliberate_error import DeliberateError
from jaxstage_ext.report.text.typed_forms import typed

LEVEL, PROFILE = "xla_backend_optimization_level", "fdo_profile"
_BITS = {"int32": 31, "int64": 63}
_WANTED = {
    "bool": "True or False",
    "int32": "a 32-bit integer",
    "int64": "a 64-bit integer",
    "float": "a number such as 0.5",
    "string": "a string",
}
_BOOLS = {"true": True, "1": True, "false": False, "0": False}
_BACKENDS = {"xla_cpu_": ("cpu", "CPU"), "xla_gpu_": ("gpu", "GPU"), "xla_tpu_": ("tpu", "TPU")}
_GPU_NAMES = ("gpu", "cuda", "rocm")


class OptionError(DeliberateError, ValueError):
    """An invalid compile option; the message is one line."""


def build(
    xla: Iterable[str] = (), level: int | None = None, profile: str | None = None, more: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Options from `name=value` texts, an optimization level, the path of an FDO profile, and others by name.

    Raises OptionError.
    """
    given: dict[str, Any] = dict(more or {})
    for text in xla:
        name, value = _assignment(text)
        _add(given, name, value)
    if level is not None:
        _add(given, LEVEL, level)
    if profile is not None:
        _add(given, PROFILE, _read(profile))
    return check(given)


def check(given: Mapping[str, Any], known: Flags | None = None) -> dict[str, Any]:
    """The options by XLA's own names, with values as jaxlib takes them.

    Names and values are passed on unchecked where the flags of this jaxlib cannot be
    read, and for TPU flags, which only libtpu knows.

    Raises OptionError for an unknown name, or a value of the wrong type.
    """
    known = known or xla_flags.installed() if given else Flags({})
    checked: dict[str, Any] = {}
    for raw, value in given.items():
        name = _name(raw, known)
        if name in checked:
            raise OptionError(f"{name} is set twice; set it once")
        flag = known.by_name.get(name)
        checked[name] = converted(flag, value) if flag else _unchecked(name, value)
        checked[name] = _with_path(name, checked[name])
    return checked


def _with_path(name: str, value: Any) -> Any:
    try:
        return autotune.path(name, str(value)) if name in autotune.FILES else file_options.checked(name, value)
    except (autotune.AutotuneError, file_options.FileOptionError) as error:
        raise OptionError(str(error)) from None


def compile_lowered(lowered: Any, options: Mapping[str, Any]) -> Any:
    """`lowered.compile()` with these options. Raises TypeError where a library's own Lowered takes no options."""
    if isinstance(lowered, jax.stages.Lowered):
        build_options.order(options, lowered_modules.placed(lowered, None).count, None)
    options = build_options.for_xla(options)
    if not options:
        return lowered.compile()
    if not isinstance(lowered, jax.stages.Lowered) and not _takes_options(lowered.compile):
        kind = f"{type(lowered).__module__.split('.')[0]}'s {type(lowered).__name__}"
        raise TypeError(
            f"{kind} takes no compiler_options, so {', '.join(options)} cannot be set; jit the function with jax.jit"
        )
    return lowered.compile(compiler_options=dict(options))


def shown(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options as JSON values. Numbers that JavaScript would round are text."""
    return {name: _shown(value) for name, value in options.items()}


def notes(options: Mapping[str, Any], platform: str) -> list[str]:
    """Warnings about options that are compiled for a platform ("cpu", "gpu", "tpu")."""
    if not options:
        return []
    notes = [note for name in options if (note := _backend_note(name, platform))]
    profile = options.get(PROFILE)
    if doubt := fdo.doubt(profile) if profile and isinstance(profile, bytes) else None:
        notes.append(f"The FDO profile may be damaged: {doubt}. XLA may ignore it.")
    problem = xla_flags.installed().problem
    return notes + ([f"Compile options are passed to XLA unchecked: {problem}."] if problem else [])


def _backend_note(name: str, platform: str) -> str | None:
    if name == autotune.SAVE:
        return None
    if name.startswith("xla_tpu_") and name not in xla_flags.installed().by_name:
        where = "" if platform == "tpu" else f". This program is compiled for {platform}"
        return f"{name} is passed on unchecked, because only libtpu knows the TPU flags{where}."
    if not is_of_another_backend(name, platform):
        return None
    platform = "gpu" if platform in _GPU_NAMES else platform
    title = _backend(name)[1]
    return (
        f"{name} is a flag of XLA's {title} backend, and may have no effect: this program is compiled for {platform}."
    )


def is_of_another_backend(name: str, platform: str) -> bool:
    """Whether a flag's name says that it is for other devices than those of a platform ("cpu", "gpu", "tpu")."""
    kind = _backend(name)[0]
    return bool(kind) and kind != ("gpu" if platform in _GPU_NAMES else platform)


def _backend(name: str) -> tuple[str, str]:
    """The platform and the title of the backend that a flag is for; empty where it is for all."""
    return next((of for prefix, of in _BACKENDS.items() if name.startswith(prefix)), ("", ""))


def _assignment(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    name = name.strip().lstrip("-")
    if not equals or not name:
        raise OptionError(f"{text!r} is not of the form name=value, for example {LEVEL}=0")
    value = value.strip()
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return name, value[1:-1] if quoted else value


def _add(given: dict[str, Any], name: str, value: Any) -> None:
    if name in given:
        raise OptionError(f"{name} is set twice, to {_quoted(given[name])} and {_quoted(value)}; set it once")
    given[name] = value


def _read(profile: str) -> bytes:
    path = Path(profile).expanduser()
    try:
        data = path.read_bytes()
    except OSError as error:
        why = "no such file" if isinstance(error, FileNotFoundError) else (error.strerror or str(error)).lower()
        raise OptionError(f"the FDO profile {profile!r} cannot be read: {why}") from None
    if not data:
        raise OptionError(f"the FDO profile {profile!r} is empty; record it again")
    return data


def _name(raw: Any, known: Flags) -> str:
    """XLA's own name of an option."""
    if not isinstance(raw, str):
        raise OptionError(f"an option's name must be a string, not {_quoted(raw)}")
    name = re.sub(r"^-+", "", raw).replace("-", "_")
    for candidate in (name, f"xla_{name}"):
        if candidate in known.by_name:
            return candidate
    if build_options.knows(name) or name.startswith("xla_tpu_") or not known.by_name:
        return name
    if name.startswith("tpu_"):
        return f"xla_{name}"
    near = _near(name, known)
    every = typed(f"%xla_flags lists all {len(known.by_name)} of them", f"it has {len(known.by_name)} others")
    hint = f"did you mean {' or '.join(near)}?" if near else every
    raise OptionError(f"XLA has no option {raw!r}; {hint}")


def _near(name: str, known: Flags) -> list[str]:
    """Flags with a similar name, else the shortest of those with the same words, corrected for misspellings."""
    full = name if name.startswith("xla_") else f"xla_{name}"
    if close := difflib.get_close_matches(full, known.by_name, n=2, cutoff=0.8):
        return close
    vocabulary = {word for flag in known.by_name for word in flag.split("_")}
    words = [difflib.get_close_matches(word, vocabulary, n=1) or [word] for word in full.split("_")]
    holding = known.matching(" ".join(word for (word,) in words))
    return sorted((flag.name for flag in holding), key=len)[:2] if len(holding) <= 10 else []


def _unchecked(name: str, value: Any) -> Any:
    if name == PROFILE and not isinstance(value, bytes):
        raise OptionError(f"{PROFILE} must be the profile's bytes, not {_quoted(value)}; read the file first")
    if name != PROFILE and build_options.knows(name):
        try:
            return build_options.read(name, value)
        except build_options.BuildOptionError as error:
            raise OptionError(str(error)) from None
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return _BOOLS[value.lower()]
    if isinstance(value, bool | int | float | str | bytes):
        return value
    raise OptionError(f"{name} must be a bool, a number or a string, not {_quoted(value)}")


def converted(flag: Flag, value: Any) -> Any:
    """The value as jaxlib takes it: a bool, a number of the flag's type, or a string."""
    if flag.type == "message":
        raise OptionError(f"{flag.name} is a message, which jaxlib takes only from the environment variable XLA_FLAGS")
    if flag.many:
        parts = value.split(",") if isinstance(value, str) else value
        if not isinstance(parts, list | tuple):
            raise _wrong(flag, value)
        return ",".join(str(_single(flag, part, value)) for part in parts if part != "")
    return _single(flag, value, value)


def _single(flag: Flag, part: Any, value: Any) -> Any:
    part = part.item() if hasattr(part, "item") and getattr(part, "shape", None) == () else part
    read = _READERS[flag.type](flag, part)
    if read is None:
        raise _wrong(flag, value)
    return read


def _bool(flag: Flag, value: Any) -> bool | None:
    return value if isinstance(value, bool) else _BOOLS.get(str(value).strip().lower())


def _int(flag: Flag, value: Any) -> int | None:
    if isinstance(value, str) and re.fullmatch(r"\s*[+-]?[0-9]{1,20}\s*", value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    most: int = 2 ** _BITS[flag.type]
    return value if -most <= value < most else None


def _float(flag: Flag, value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, str | numbers.Real):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _string(flag: Flag, value: Any) -> str | None:
    return str(value) if isinstance(value, str | Path) else None


def _enum(flag: Flag, value: Any) -> str | int | None:
    if not flag.values:
        return value if isinstance(value, str | int) and not isinstance(value, bool) else None
    names = {name.upper(): name for name in flag.values}
    numbered = {str(number): name for name, number in flag.values.items()}
    text = "" if isinstance(value, bool) else str(value).strip()
    return names.get(text.upper()) or numbered.get(text)


_READERS: dict[str, Any] = {
    "bool": _bool,
    "int32": _int,
    "int64": _int,
    "float": _float,
    "string": _string,
    "enum": _enum,
}


def _wrong(flag: Flag, value: Any) -> OptionError:
    wanted = f"one of {', '.join(flag.values)}" if flag.type == "enum" else _WANTED[flag.type]
    if flag.many:
        wanted = f"a comma-separated list, each item {wanted}"
    return OptionError(f"{flag.name} must be {wanted}, not {_quoted(value)}")


def _takes_options(compile_: Any) -> bool:
    try:
        parameters = inspect.signature(compile_).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(p.name == "compiler_options" or p.kind is p.VAR_KEYWORD for p in parameters)


def _shown(value: Any) -> Any:
    if isinstance(value, bytes):
        return f"{len(value):,} bytes"
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    number = isinstance(value, int | float)
    exact = math.isfinite(value) and abs(value) < 2**53 if number else isinstance(value, str)
    return value if exact else str(value)


def _quoted(value: Any) -> str:
    text = repr(_shown(value) if isinstance(value, bytes) else value)
    return text if len(text) <= 60 else text[:57] + "..."
