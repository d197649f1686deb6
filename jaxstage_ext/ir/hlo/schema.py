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
BOOL, STRING, BYTES, INT32, INT64 = _Kind.TYPE_BOOL, _STRING, _BYTES, _INT32, _INT64
_BOOL = BOOL

Messages = dict[str, dict[str, tuple[int, int | str, bool]]]
_MESSAGES: Messages = {
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
    "Sequence": {"instruction_ids": (1, _INT64, True)},
    "SequenceEntry": {"key": (1, _INT64, False), "value": (2, "Sequence", False)},
    "Schedule": {"sequences": (1, "SequenceEntry", True)},
    "AliasEntry": {
        "output_shape_index": (1, _INT64, True),
        "parameter_number": (2, _INT64, False),
        "parameter_shape_index": (3, _INT64, True),
        "kind": (4, _INT32, False),
    },
    "Aliases": {"entries": (1, "AliasEntry", True)},
    "DonorEntry": {"parameter_number": (1, _INT64, False), "parameter_shape_index": (2, _INT64, True)},
    "Donors": {"entries": (1, "DonorEntry", True)},
    "Module": {
        "name": (1, _STRING, False),
        "computations": (3, "Computation", True),
        "entry_computation_id": (6, _INT64, False),
        "schedule": (7, "Schedule", False),
        "input_output_alias": (8, "Aliases", False),
        "buffer_donor": (18, "Donors", False),
        "stack_frame_index": (17, "StackFrameIndex", False),
    },
    "Allocation": {
        "index": (1, _INT64, False),
        "size": (2, _INT64, False),
        "is_thread_local": (3, _BOOL, False),
        "is_entry_computation_parameter": (5, _BOOL, False),
        "parameter_number": (6, _INT64, False),
        "maybe_live_out": (7, _BOOL, False),
        "color": (8, _INT64, False),
        "assigned": (9, _BYTES, True),
        "parameter_shape_index": (10, _INT64, True),
        "is_tuple": (11, _BOOL, False),
        "is_constant": (12, _BOOL, False),
    },
    "Trace": {"events": (1, _BYTES, True), "whole_module_simulation": (2, _BOOL, False)},
    "Assignment": {
        "logical_buffers": (1, _BYTES, True),
        "buffer_allocations": (3, "Allocation", True),
        "heap_simulator_traces": (4, "Trace", True),
    },
    "Dumped": {"hlo_module": (1, _BYTES, False), "buffer_assignment": (3, "Assignment", False)},
}


def build(messages: Messages, *wanted: str) -> list[Any]:
    """The wanted message classes, out of messages by name, each {field: (number, type, repeated)}."""
    file = descriptor_pb2.FileDescriptorProto(name=f"jaxstage/{wanted[0]}.proto", package="jaxstage", syntax="proto3")
    for name, fields in messages.items():
        message = file.message_type.add(name=name)
        for field_name, (number, kind, repeated) in fields.items():
            field = message.field.add(name=field_name, number=number)
            field.label = _Kind.LABEL_REPEATED if repeated else _Kind.LABEL_OPTIONAL
            field.type = _Kind.TYPE_MESSAGE if isinstance(kind, str) else cast(Any, kind)
            if isinstance(kind, str):
                field.type_name = f".jaxstage.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return [message_factory.GetMessageClass(pool.FindMessageTypeByName(f"jaxstage.{name}")) for name in wanted]


Module, Instruction, Dumped = build(_MESSAGES, "Module", "Instruction", "Dumped")
"""Message classes for a serialised HloModuleProto, for one of its instructions, and for an HloProto, which is a module
in bytes with XLA's buffer assignment."""

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
