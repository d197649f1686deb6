"""Files of HLO: which kind one is by how it begins, the module in it, and the platform that it was compiled for.

Numbers: HloProto of xla/service/hlo.proto in openxla/xla.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass, field

from google.protobuf.message import DecodeError

from jaxstage_ext.ir import text_beginning
from jaxstage_ext.ir.hlo import whole_module

_BYTECODE = b"ML\xefR"
_MODULE_FIELD, _NAME_FIELD = b"\x0a", 0x0A
_NAME = rb"\x0a[\x01-\x7f][\w.\-]+"
_HLO_PROTO = re.compile(rb"(?:\x0a[\x80-\xff]*[\x00-\x7f]){0,2}" + _NAME + rb"\x12[\x01-\x7f][\w.\-]+[\x1a\x12]")
"""A module's name and that of its entry computation, which no other message of XLA's or JAX's begins with.

It stands alone, in an HloProto, or in the HloProto of an HloSnapshot.
"""
_HLO_TEXT_PROTO = re.compile(
    rb"(?:\s|#[^\n]*+\n)*+(?:hlo(?:_module)?\s*+:?\s*+\{|name: ?\"[^\"\n]*+\"\s++entry_computation_name:)"
)
_SCHEDULED = re.compile(r"\bis_scheduled=true\b")
_OF_TPU = re.compile(r"[}\]\d]:T\(\d+(?:,\d+)?\)")
_OF_GPU = re.compile(
    r'"gpu_backend_config"|fusion_backend_config|__cu(?:blas|dnn|fft|solver)|__triton|"operation_queue_id"'
)
_OF_CPU = re.compile(r'"outer_dimension_partitions"|__onednn|__ynn|"cpu_backend_config"|xla_ffi_python_cpu|%ynn_fusion')
_NAMED = re.compile(r"\.(?:(?P<platform>cpu|tpu|gpu)|(?:sm_\d+(?:\.\d+)?[a-z]?|gfx\w+)_gpu)_(?:after|before)_")


class ModuleForm(enum.Enum):
    """A form in which a module is written to a file."""

    HLO_TEXT = "HLO text"
    HLO_PROTO = "serialized HLO"
    HLO_TEXT_PROTO = "HLO in the text of a protocol buffer"
    STABLEHLO_TEXT = "StableHLO text"
    STABLEHLO_BYTECODE = "StableHLO bytecode"


def form_of(head: bytes, name: str = "") -> ModuleForm | None:
    """The form of a file that begins so; None where it is no module.

    Serialised HLO is known by its first fields, or, where these are damaged, by its name, "*.hlo.pb" or
    "*.hlo_module.pb".
    """
    if head.startswith(_BYTECODE):
        return ModuleForm.STABLEHLO_BYTECODE
    if text_beginning.is_hlo(head):
        return ModuleForm.HLO_TEXT
    if text_beginning.is_mlir(head):
        return ModuleForm.STABLEHLO_TEXT
    if _HLO_TEXT_PROTO.match(head):
        return ModuleForm.HLO_TEXT_PROTO
    if _HLO_PROTO.match(head):
        return ModuleForm.HLO_PROTO
    is_named = re.search(r"\.hlo(?:_module)?\.pb(?:\.gz)?$", name) is not None
    return ModuleForm.HLO_PROTO if is_named and head[:1] == _MODULE_FIELD else None


@dataclass(frozen=True)
class WholeModule:
    """A serialised HloModuleProto, and on how many devices it runs as it says itself; 0 where it does not."""

    proto: bytes = field(repr=False)
    partitions: int


def module_in(data: bytes) -> WholeModule:
    """The module in a serialised HloModuleProto, HloProto or HloSnapshot. Raises ValueError where there is none."""
    inner = _first_field(data)
    for candidate in (data, inner, _first_field(inner)):
        try:
            module = whole_module.read(candidate)
        except (ValueError, IndexError, DecodeError):
            continue
        return WholeModule(candidate, module.header.device_assignment.computation_count)
    raise ValueError("it holds no whole HLO module")


def _first_field(data: bytes) -> bytes:
    """What a message's first field holds, where that is its field 1; b"" otherwise."""
    if not data or data[0] != _NAME_FIELD:
        return b""
    size = shift = 0
    for at in range(1, min(len(data), 11)):
        size |= (data[at] & 0x7F) << shift
        shift += 7
        if data[at] < 0x80:
            return data[at + 1 : at + 1 + size] if len(data) >= at + 1 + size else b""
    return b""


def is_scheduled(text: str) -> bool:
    """Whether the text is of a module that has a schedule, as each has that XLA has compiled."""
    return _SCHEDULED.search(text.partition("\n")[0]) is not None


def platform_of(text: str, name: str = "") -> str:
    """The platform that a module was compiled for, "cpu", "gpu" or "tpu", by its file's name or text; "" if unknown.

    Tiled layouts are those of TPUs; backend configurations and library calls have the names of their backend.
    """
    if named := _NAMED.search(name):
        return named["platform"] or "gpu"
    found = [kind for kind, mark in (("tpu", _OF_TPU), ("gpu", _OF_GPU), ("cpu", _OF_CPU)) if mark.search(text)]
    return found[0] if len(found) == 1 else ""
