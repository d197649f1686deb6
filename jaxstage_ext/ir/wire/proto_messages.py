"""Protobuf message classes that are built at run time, with only the fields that are read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_Kind = descriptor_pb2.FieldDescriptorProto
BOOL, STRING, BYTES = _Kind.TYPE_BOOL, _Kind.TYPE_STRING, _Kind.TYPE_BYTES
INT32, INT64 = _Kind.TYPE_INT32, _Kind.TYPE_INT64

Fields = Mapping[str, tuple[int, int | str, bool]]
"""The fields of a message by name: (number, type or name of a message, whether it is repeated)."""


def build(messages: Mapping[str, Fields], *wanted: str) -> list[Any]:
    """The classes of the wanted messages; all messages that they hold must be among `messages`."""
    described = [_described(name, fields) for name, fields in messages.items()]
    return from_descriptors("jaxstage", described, *wanted)


def from_descriptors(package: str, messages: list[Any], *wanted: str) -> list[Any]:
    """The classes of the wanted messages out of their DescriptorProtos."""
    file = descriptor_pb2.FileDescriptorProto(name=f"{package}/{wanted[0]}.proto", package=package, syntax="proto3")
    file.message_type.extend(messages)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return [message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{name}")) for name in wanted]


def _described(name: str, fields: Fields) -> Any:
    message = descriptor_pb2.DescriptorProto(name=name)
    for field_name, (number, kind, repeated) in fields.items():
        field = message.field.add(name=field_name, number=number)
        field.label = _Kind.LABEL_REPEATED if repeated else _Kind.LABEL_OPTIONAL
        field.type = _Kind.TYPE_MESSAGE if isinstance(kind, str) else cast(Any, kind)
        if isinstance(kind, str):
            field.type_name = f".jaxstage.{kind}"
    return message
