"""XLA's sharding and device-group messages, by number: OpSharding, NamedShardingProto, MeshProto and replica groups.

Numbers: xla/xla_data.proto and xla/service/hlo.proto in openxla/xla.
"""

from __future__ import annotations

from jaxstage_ext.ir.wire.proto_messages import BOOL, INT32, INT64, STRING, Fields, build

REPLICATED, MAXIMAL, TUPLE, OTHER, MANUAL, UNKNOWN, UNREDUCED = range(7)
"""OpSharding.Type."""

MESSAGES: dict[str, Fields] = {
    "MeshAxis": {"name": (1, STRING, False), "size": (2, INT64, False)},
    "Iota": {"reshape_dims": (1, INT64, True), "transpose_perm": (2, INT64, True)},
    "Mesh": {"axes": (1, "MeshAxis", True), "device_ids": (2, INT64, True), "iota_transform": (3, "Iota", False)},
    "SubAxis": {"pre_size": (1, INT64, False), "size": (2, INT64, False)},
    "AxisRef": {"mesh_axis_index": (1, INT64, False), "sub_axis_info": (2, "SubAxis", False)},
    "Dimension": {"axes": (1, "AxisRef", True), "is_closed": (2, BOOL, False)},
    "Named": {
        "mesh": (2, "Mesh", False),
        "dim_shardings": (3, "Dimension", True),
        "replicated_axes": (4, "AxisRef", True),
        "unreduced_axes": (5, "AxisRef", True),
        "manual_axes": (7, "AxisRef", True),
    },
    "Sharding": {
        "type": (1, INT32, False),
        "tile_assignment_dimensions": (3, INT64, True),
        "tile_assignment_devices": (4, INT64, True),
        "tuple_shardings": (5, "Sharding", True),
        "replicate_on_last_tile_dim": (6, BOOL, False),
        "last_tile_dims": (8, INT32, True),
        "iota_reshape_dims": (9, INT64, True),
        "iota_transpose_perm": (10, INT32, True),
        "named_sharding": (14, "Named", False),
    },
    "Group": {"replica_ids": (1, INT64, True)},
    "IotaGroups": {
        "num_replica_groups": (1, INT64, False),
        "num_devices_per_group": (2, INT64, False),
        "iota_reshape_dims": (3, INT64, True),
        "iota_transpose_perm": (4, INT32, True),
    },
    "DeviceList": {"replica_groups": (1, "Group", True), "iota_replica_group_list": (2, "IotaGroups", False)},
    "MeshGroups": {"mesh": (1, "Mesh", False), "axes": (2, "AxisRef", True)},
    "Pair": {"source": (1, INT64, False), "target": (2, INT64, False)},
    "Collective": {
        "replica_groups": (49, "Group", True),
        "source_target_pairs": (52, "Pair", True),
        "collective_device_list": (87, "DeviceList", False),
        "iota_collective_device_list": (92, "IotaGroups", False),
        "mesh_axes_replica_group_list": (93, "MeshGroups", False),
        "channel_id": (26, INT64, False),
        "use_global_device_ids": (71, BOOL, False),
        "dimensions": (14, INT64, True),
    },
    "Dot": {
        "lhs_contracting": (1, INT64, True),
        "rhs_contracting": (2, INT64, True),
        "lhs_batch": (3, INT64, True),
        "rhs_batch": (4, INT64, True),
    },
    "WindowDimension": {"size": (1, INT64, False)},
    "Window": {"dimensions": (1, "WindowDimension", True)},
    "Dimensions": {
        "dimensions": (14, INT64, True),
        "window": (15, "Window", False),
        "dot": (30, "Dot", False),
        "fft_length": (32, INT64, True),
    },
}

Sharding, Collective, Dimensions = build(MESSAGES, "Sharding", "Collective", "Dimensions")
"""Message classes: a serialised OpSharding; an HloInstructionProto with only the device groups of a collective, or with
only the dimensions along which an operation works."""
