"""The few fields of XLA's HloModuleProto that we read, by number.

Numbers: xla/service/hlo.proto and xla/xla_data.proto in openxla/xla. Field
numbers never change meaning; the text form changes with every version.
Instructions stay bytes here; `protowire` reads them as columns.
"""

from __future__ import annotations

from typing import Any, cast

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

INSTRUCTION_NAME = 1
INSTRUCTION_OPCODE = 2
INSTRUCTION_METADATA = 7
INSTRUCTION_ID = 35
INSTRUCTION_OPERANDS = 36
INSTRUCTION_CALLED = 38
METADATA_OP_NAME = 2
METADATA_STACK_FRAME = 15

_Kind = descriptor_pb2.FieldDescriptorProto
_STRING, _BYTES, _INT32, _INT64 = _Kind.TYPE_STRING, _Kind.TYPE_BYTES, _Kind.TYPE_INT32, _Kind.TYPE_INT64

_MESSAGES: dict[str, dict[str, tuple[int, int | str, bool]]] = {
    "FileLocation": {
        "file_name_id": (1, _INT32, False),
        "function_name_id": (2, _INT32, False),
        "line": (3, _INT32, False),
        "column": (4, _INT32, False),
        "end_line": (5, _INT32, False),
        "end_column": (6, _INT32, False),
    },
    "StackFrame": {"file_location_id": (1, _INT32, False), "parent_frame_id": (2, _INT32, False)},
    "StackFrameIndex": {
        "file_names": (1, _STRING, True),
        "function_names": (2, _STRING, True),
        "file_locations": (3, "FileLocation", True),
        "stack_frames": (4, "StackFrame", True),
    },
    "Shape": {
        "element_type": (2, _INT32, False),
        "dimensions": (3, _INT64, True),
        "tuple_shapes": (4, "Shape", True),
    },
    "Instruction": {"shape": (3, "Shape", False), "operand_ids": (INSTRUCTION_OPERANDS, _INT64, True)},
    "Computation": {
        "name": (1, _STRING, False),
        "instructions": (2, _BYTES, True),
        "id": (5, _INT64, False),
        "root_id": (6, _INT64, False),
    },
    "Module": {
        "name": (1, _STRING, False),
        "computations": (3, "Computation", True),
        "entry_computation_id": (6, _INT64, False),
        "stack_frame_index": (17, "StackFrameIndex", False),
    },
}


def _build() -> tuple[Any, Any]:
    file = descriptor_pb2.FileDescriptorProto(name="jaxstage/hlo.proto", package="jaxstage", syntax="proto3")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field_name, (number, kind, repeated) in fields.items():
            field = message.field.add(name=field_name, number=number)
            field.label = _Kind.LABEL_REPEATED if repeated else _Kind.LABEL_OPTIONAL
            field.type = _Kind.TYPE_MESSAGE if isinstance(kind, str) else cast(Any, kind)
            if isinstance(kind, str):
                field.type_name = f".jaxstage.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    module, instruction = (pool.FindMessageTypeByName(f"jaxstage.{name}") for name in ("Module", "Instruction"))
    return message_factory.GetMessageClass(module), message_factory.GetMessageClass(instruction)


Module, Instruction = _build()
"""Message classes for a serialised HloModuleProto, and for one of its instructions."""

ELEMENT_BITS = {
    **dict.fromkeys((1, 2, 6, 19, 20, 23, 24, 25, 28, 29, 33), 8),
    **dict.fromkeys((3, 7, 10, 16), 16),
    **dict.fromkeys((4, 8, 11), 32),
    **dict.fromkeys((5, 9, 12, 15), 64),
    **dict.fromkeys((21, 22, 32), 4),
    **dict.fromkeys((26, 27), 2),
    **dict.fromkeys((30, 31), 1),
    18: 128,
    17: 0,
}
"""Bits of an element by PrimitiveType; a token (17) takes none."""
TUPLE = 13
