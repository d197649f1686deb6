"""The few fields of XLA's HloModuleProto that we read, by number.

Numbers: xla/service/hlo.proto and xla/xla_data.proto in openxla/xla. Field
numbers never change meaning; the text form changes with every version.
Instructions stay bytes here; `protowire` reads them as columns.
"""

from __future__ import annotations

from jaxstage_ext.ir.hlo import sharding_field
from jaxstage_ext.ir.wire.proto_messages import BOOL, BYTES, INT32, INT64, STRING, Fields, build

MODULE_COMPUTATIONS = 3
COMPUTATION_INSTRUCTIONS = 2
INSTRUCTION_NAME = 1
INSTRUCTION_OPCODE = 2
INSTRUCTION_SHAPE = 3
INSTRUCTION_METADATA = 7
INSTRUCTION_LITERAL = 8
INSTRUCTION_FUSION_KIND = 11
INSTRUCTION_TARGET = 28
INSTRUCTION_ID = 35
INSTRUCTION_OPERANDS = 36
INSTRUCTION_CALLED = 38
METADATA_OP_NAME = 2
METADATA_SOURCE_FILE = 3
METADATA_SOURCE_LINE = 4
METADATA_STACK_FRAME = 15
METADATA_SCHEDULING_NAME = 16
METADATA_END_LINE = 17
METADATA_COLUMN = 18
METADATA_END_COLUMN = 19

_MESSAGES: dict[str, Fields] = {
    "FileLocation": {
        "file_name_id": (1, INT32, False),
        "function_name_id": (2, INT32, False),
        "line": (3, INT32, False),
        "column": (4, INT32, False),
        "end_line": (5, INT32, False),
        "end_column": (6, INT32, False),
    },
    "StackFrame": {"file_location_id": (1, INT32, False), "parent_frame_id": (2, INT32, False)},
    "StackFrameIndex": {
        "file_names": (1, STRING, True),
        "function_names": (2, STRING, True),
        "file_locations": (3, "FileLocation", True),
        "stack_frames": (4, "StackFrame", True),
    },
    "Computation": {
        "name": (1, STRING, False),
        "instructions": (2, BYTES, True),
        "id": (5, INT64, False),
        "root_id": (6, INT64, False),
    },
    "Sequence": {"instruction_ids": (1, INT64, True)},
    "SequenceEntry": {"key": (1, INT64, False), "value": (2, "Sequence", False)},
    "Schedule": {"sequences": (1, "SequenceEntry", True)},
    "AliasEntry": {
        "output_shape_index": (1, INT64, True),
        "parameter_number": (2, INT64, False),
        "parameter_shape_index": (3, INT64, True),
        "kind": (4, INT32, False),
    },
    "Aliases": {"entries": (1, "AliasEntry", True)},
    "DonorEntry": {"parameter_number": (1, INT64, False), "parameter_shape_index": (2, INT64, True)},
    "Donors": {"entries": (1, "DonorEntry", True)},
    "DeviceAssignment": {"replica_count": (1, INT32, False), "computation_count": (2, INT32, False)},
    "Module": {
        "name": (1, STRING, False),
        "computations": (3, "Computation", True),
        "entry_computation_id": (6, INT64, False),
        "schedule": (7, "Schedule", False),
        "input_output_alias": (8, "Aliases", False),
        "spmd_output_sharding": (12, "Sharding", False),
        "spmd_parameters_shardings": (14, "Sharding", True),
        "device_assignment": (15, "DeviceAssignment", False),
        "buffer_donor": (18, "Donors", False),
        "stack_frame_index": (17, "StackFrameIndex", False),
    },
    "Allocation": {
        "index": (1, INT64, False),
        "size": (2, INT64, False),
        "is_thread_local": (3, BOOL, False),
        "is_entry_computation_parameter": (5, BOOL, False),
        "parameter_number": (6, INT64, False),
        "maybe_live_out": (7, BOOL, False),
        "color": (8, INT64, False),
        "assigned": (9, BYTES, True),
        "parameter_shape_index": (10, INT64, True),
        "is_tuple": (11, BOOL, False),
        "is_constant": (12, BOOL, False),
    },
    "Trace": {"events": (1, BYTES, True), "whole_module_simulation": (2, BOOL, False)},
    "Assignment": {
        "logical_buffers": (1, BYTES, True),
        "buffer_allocations": (3, "Allocation", True),
        "heap_simulator_traces": (4, "Trace", True),
    },
    "Dumped": {"hlo_module": (1, BYTES, False), "buffer_assignment": (3, "Assignment", False)},
}


Module, Dumped = build(sharding_field.MESSAGES | _MESSAGES, "Module", "Dumped")
"""Message classes for a serialised HloModuleProto, and for an HloProto, which is a module in bytes with XLA's buffer
assignment."""
