"""HLO modules as the text of a protocol buffer, `hlo_module { name: "jit_f" ... }`, as XLA's snapshots are written.

The names and numbers of the fields are those of the installed jaxlib, which holds its .proto files as they are.
"""

from __future__ import annotations

import functools
import re
from typing import Any

from google.protobuf import any_pb2, descriptor_pb2, descriptor_pool, message_factory, text_format

from jaxstage_ext.core.given.module_files import UnreadableModule
from jaxstage_ext.core.jax_private import jax_options
from jaxstage_ext.core.options import embedded_protos
from jaxstage_ext.ir.wire import protowire
from jaxstage_ext.report.text.units import scaled

_FILES = ("xla/service/hlo.proto", "xla/xla_data.proto")
_MESSAGE, _ENUM, _SYNTAX = 4, 5, 12
_ANY = ".google.protobuf.Any"
_BLOCK = re.compile(rb"^[ \t]*+hlo_module[ \t]*+:?[ \t]*+\{", re.MULTILINE)
_TOKEN = re.compile(rb'"(?:[^"\\\n]|\\.)*+"|[{}]')
_MOST_BYTES = 2**26


def module_of(data: bytes, title: str) -> bytes:
    """The serialised HloModuleProto of such a text, without the inputs of a snapshot. Raises UnreadableModule."""
    text = _module_text(data)
    if len(text) > _MOST_BYTES:
        most = scaled(_MOST_BYTES, "B")
        raise UnreadableModule(f"{title} holds more than {most} of text; dump the module with --xla_dump_hlo_as_proto")
    try:
        parsed = text_format.Parse(text.decode("utf-8", "replace"), _message()(), allow_unknown_field=True)
    except (text_format.ParseError, KeyError, ValueError) as error:
        why = (str(error).splitlines() or [type(error).__name__])[0]
        raise UnreadableModule(f"{title} cannot be read as HLO in the text of a protocol buffer: {why}") from None
    return bytes(parsed.SerializeToString())


def _module_text(data: bytes) -> bytes:
    """What stands in the braces of `hlo_module`, or the whole, which is of a module itself."""
    if (block := _BLOCK.search(data)) is None:
        return data
    depth = 1
    for token in _TOKEN.finditer(data, block.end()):
        depth += {b"{": 1, b"}": -1}.get(token[0], 0)
        if not depth:
            return data[block.end() : token.start()]
    return data[block.end() :]


@functools.cache
def _message() -> Any:
    """The class of an HloModuleProto with all fields of this jaxlib's. Raises KeyError where it does not hold them."""
    found = embedded_protos.find(jax_options.xla_library(), _FILES)
    file: Any = descriptor_pb2.FileDescriptorProto(name="jaxstage/hlo_text.proto", package="xla", syntax="proto3")
    file.dependency.append(any_pb2.DESCRIPTOR.name)
    for name in _FILES:
        for number, payload in protowire.leading_fields(found[name]):
            if number == _SYNTAX:
                break
            if number == _MESSAGE:
                file.message_type.add().ParseFromString(payload)
            elif number == _ENUM:
                file.enum_type.add().ParseFromString(payload)
    known = {f".xla.{each.name}" for each in (*file.message_type, *file.enum_type)} | {_ANY}
    for message in file.message_type:
        _drop_foreign(message, known, f".xla.{message.name}")
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(any_pb2.DESCRIPTOR.serialized_pb)
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("xla.HloModuleProto"))


def _drop_foreign(message: Any, known: set[str], path: str) -> None:
    """Drop the fields whose types are of other files, none of which is in the text of a module."""
    inner = known | {f"{path}.{each.name}" for each in (*message.nested_type, *message.enum_type)}
    for nested in message.nested_type:
        _drop_foreign(nested, inner, f"{path}.{nested.name}")
    for at in reversed(range(len(message.field))):
        name = message.field[at].type_name
        if name and name not in inner and not any(name.startswith(f"{each}.") for each in known):
            del message.field[at]
