"""The XLA flags of the installed jaxlib, read from the descriptor of DebugOptions in its library."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pb2

from jaxstage_ext.core.jax_private import jax_options
from jaxstage_ext.core.options import embedded_protos
from jaxstage_ext.ir.wire import proto_messages, protowire

_XLA, _BACKENDS = "xla/xla.proto", "xla/backends/autotuner/backends.proto"
_OWN = ".xla.DebugOptions."
_BUILD_OPTIONS = _DEBUG_OPTIONS = 3
"""Field numbers: executable_build_options in CompileOptionsProto, debug_options in ExecutableBuildOptionsProto."""

UNSET = "(not set)"
"""The default of a flag that jaxlib does not pass to XLA."""

_Kind = descriptor_pb2.FieldDescriptorProto
_TYPES = {
    _Kind.TYPE_BOOL: "bool",
    _Kind.TYPE_INT32: "int32",
    _Kind.TYPE_INT64: "int64",
    _Kind.TYPE_FLOAT: "float",
    _Kind.TYPE_DOUBLE: "float",
    _Kind.TYPE_STRING: "string",
    _Kind.TYPE_ENUM: "enum",
    _Kind.TYPE_MESSAGE: "message",
}


@dataclass(frozen=True)
class Flag:
    """One XLA flag."""

    name: str
    type: str
    """"bool", "int32", "int64", "float", "string", "enum" or "message"."""
    values: Mapping[str, int] = field(default_factory=dict)
    """The names of an enum's values, and their numbers; empty where they are unknown."""
    many: bool = False
    """Whether it takes several values, separated by commas."""
    default: str | None = None
    """The default of jaxlib in this process, XLA_FLAGS included; None where unknown."""


@dataclass(frozen=True)
class Flags:
    """All flags by name. Where they could not be read there are none, and `problem` says why."""

    by_name: Mapping[str, Flag]
    problem: str = ""

    def matching(self, text: str) -> list[Flag]:
        """The flags whose names contain all words of the text, in any order."""
        words = [word for word in re.split(r"[\s_-]+", text.lower()) if word]
        return [flag for name, flag in sorted(self.by_name.items()) if all(word in name for word in words)]


@cache
def installed() -> Flags:
    """The flags of this process's jaxlib, read once."""
    return read(jax_options.xla_library(), jax_options.plain_options())


def read(library: Path, options: bytes) -> Flags:
    """The flags of a library, with the defaults of a serialized CompileOptionsProto. Never raises."""
    try:
        files = embedded_protos.find(library, (_XLA, _BACKENDS))
        if _XLA not in files:
            return Flags({}, f"{library.name} has no descriptor of its flags")
        described = embedded_protos.message(files[_XLA], "DebugOptions")
        enums = _enums(described, files)
    except Exception as error:
        return Flags({}, f"the flags of {library.name} cannot be read: {error}")
    try:
        defaults = _defaults(described, enums, options)
    except Exception:
        defaults = {}
    return Flags({f.name: _flag(f, enums, defaults) for f in described.field if f.type in _TYPES})


def values(options: bytes) -> dict[str, str]:
    """The flags in a serialized CompileOptionsProto, in the form of `Flag.default`; none where they cannot be read."""
    try:
        described, enums = _described()
        return _defaults(described, enums, options)
    except Exception:
        return {}


@cache
def _described() -> tuple[Any, dict[str, dict[str, int]]]:
    """The descriptor of this process's DebugOptions, and its enums."""
    files = embedded_protos.find(jax_options.xla_library(), (_XLA, _BACKENDS))
    described = embedded_protos.message(files[_XLA], "DebugOptions")
    return described, _enums(described, files)


def _flag(described: Any, enums: Mapping[str, Mapping[str, int]], defaults: Mapping[str, str]) -> Flag:
    return Flag(
        described.name,
        _TYPES[described.type],
        enums.get(described.type_name, {}),
        described.label == _Kind.LABEL_REPEATED,
        defaults.get(described.name),
    )


def _enums(described: Any, files: Mapping[str, bytes]) -> dict[str, dict[str, int]]:
    enums = {_OWN + enum.name: _values(enum) for enum in described.enum_type}
    if _BACKENDS in files:
        with contextlib.suppress(ValueError):
            enums[".xla.autotuner.Backend"] = _values(embedded_protos.enum(files[_BACKENDS], "Backend"))
    return enums


def _values(described: Any) -> dict[str, int]:
    return {value.name: value.number for value in described.value}


def _defaults(described: Any, enums: Mapping[str, Mapping[str, int]], options: bytes) -> dict[str, str]:
    build = dict(protowire.leading_fields(options))[_BUILD_OPTIONS]
    values = _message(described).FromString(dict(protowire.leading_fields(build))[_DEBUG_OPTIONS])
    texts = {}
    for option in described.field:
        names = {number: name for name, number in enums.get(option.type_name, {}).items()}
        if option.type == _Kind.TYPE_MESSAGE or option.type not in _TYPES:
            continue
        if option.label == _Kind.LABEL_REPEATED:
            texts[option.name] = ",".join(_text(value, names) for value in getattr(values, option.name))
        elif values.HasField(option.name):
            texts[option.name] = _text(getattr(values, option.name), names)
        else:
            texts[option.name] = UNSET
    return texts


def _message(described: Any) -> Any:
    """The class of DebugOptions alone, in which messages of other files are bytes and their enums are numbers."""
    own = descriptor_pb2.DescriptorProto()
    own.CopyFrom(described)
    for option in [*own.field, *(option for nested in own.nested_type for option in nested.field)]:
        if option.type_name and not option.type_name.startswith(_OWN):
            option.type = _Kind.TYPE_INT32 if option.type == _Kind.TYPE_ENUM else _Kind.TYPE_BYTES
            option.ClearField("type_name")
    [kind] = proto_messages.from_descriptors("xla", [own], "DebugOptions")
    return kind


def _text(value: Any, names: Mapping[int, str]) -> str:
    if names and not isinstance(value, bool):
        return names.get(value, str(value))
    return f"{value:.6g}" if isinstance(value, float) else str(value)
