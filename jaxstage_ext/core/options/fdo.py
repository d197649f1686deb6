"""Check a profile for feedback-directed optimization, as JAX's profiler writes it."""

from __future__ import annotations

from functools import cache
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format
from google.protobuf.message import DecodeError

from jaxstage_ext.core import jax_private
from jaxstage_ext.core.options import embedded_protos

_FILE, _NAME = "tsl/profiler/protobuf/profiled_instructions.proto", "ProfiledInstructionsProto"


def doubt(profile: bytes) -> str | None:
    """Why the profile may be damaged; None where it is valid or cannot be checked."""
    if (kind := _kind()) is None:
        return None
    message = _binary(kind, profile) or _text(kind, profile)
    if message is None:
        return f"it is not a {_NAME}, neither binary nor text"
    return None if message.costs else "it has no instruction costs"


@cache
def _kind() -> Any:
    try:
        descriptors = embedded_protos.find(jax_private.xla_library(), (_FILE,))
        file = descriptor_pb2.FileDescriptorProto(name=_FILE, package="tensorflow.profiler", syntax="proto3")
        file.message_type.append(embedded_protos.message(descriptors[_FILE], _NAME))
        pool = descriptor_pool.DescriptorPool()
        pool.Add(file)
        return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"tensorflow.profiler.{_NAME}"))
    except Exception:
        return None


def _binary(kind: Any, profile: bytes) -> Any:
    try:
        return kind.FromString(profile)
    except DecodeError:
        return None


def _text(kind: Any, profile: bytes) -> Any:
    try:
        return text_format.Parse(profile.decode(), kind())
    except (UnicodeDecodeError, text_format.ParseError):
        return None
