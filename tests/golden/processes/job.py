"""One process of the job whose inspections are saved here: run `python job.py PORT PROCESS` for both at a time."""

from __future__ import annotations

import sys
from pathlib import Path

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import jaxstage_ext

PORT, PROCESS = sys.argv[1], int(sys.argv[2])
ORDERS = {"in_order": range(8), "in_turn": [0, 4, 1, 5, 2, 6, 3, 7], "mixed": [0, 4, 5, 1, 2, 6, 3, 7]}


def step(x, params):
    h = x @ params["w"] + params["b"]
    return h.mean(), h, params["scale"] * 2


def on(mesh, shape, *axes):
    sharding = NamedSharding(mesh, PartitionSpec(*axes))
    return jax.make_array_from_callback(shape, sharding, lambda at: np.ones(shape, np.float32)[at])


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", 4)
    address = f"127.0.0.1:{PORT}"
    jax.distributed.initialize(
        address, 2, PROCESS, coordinator_bind_address=address, cluster_detection_method="deactivate"
    )
    for name, order in ORDERS.items():
        mesh = Mesh(np.array(jax.devices())[list(order)].reshape(4, 2), ("data", "model"))
        params = {"w": on(mesh, (32, 128), None, "model"), "b": on(mesh, (128,), "model"), "scale": on(mesh, (8, 8))}
        made = jaxstage_ext.inspect(jax.jit(step), on(mesh, (64, 32), "data"), params)
        if PROCESS == 0:
            Path(__file__).with_name(f"{name}.json").write_text(made.to_json())
