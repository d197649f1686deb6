"""Check a profile for feedback-directed optimization, as JAX's profiler writes it."""

from __future__ import annotations

from functools import cache
from typing import Any

from google.protobuf import text_format
from google.protobuf.message import DecodeError

from jaxstage_ext.core.jax_private import jax_options
from jaxstage_ext.core.options import embedded_protos
from jaxstage_ext.ir.wire import proto_messages

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
        file = embedded_protos.find(jax_options.xla_library(), (_FILE,))[_FILE]
        described = embedded_protos.message(file, _NAME)
        return proto_messages.from_descriptors("tensorflow.profiler", [described], _NAME)[0]
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
