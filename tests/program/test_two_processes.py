"""A program over two processes: each device has its process beside it, and this machine is shared by its own alone."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

from jaxstage_ext.analysis.sharding.device_places import DevicePlace, processes

PROGRAM = """
import sys
import jax
jax.config.update("jax_cpu_collectives_implementation", "gloo")
jax.config.update("jax_num_cpu_devices", 1)
number, port = int(sys.argv[1]), sys.argv[2]
jax.distributed.initialize(f"localhost:{port}", num_processes=2, process_id=number)
import numpy as np
import jaxstage_ext
from jaxstage_ext.core.targets import survey
from jaxstage_ext.program.running import live_arrays
mesh = jax.sharding.Mesh(np.array(jax.devices()), ("d",))
named = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("d"))
x = jax.make_array_from_callback((4, 4), named, lambda index: np.ones((4, 4), np.float32)[index])
inspection = jaxstage_ext.inspect(jax.jit(lambda x: x.sum()), x)
if number == 0:
    print(inspection.shardings)
    print(live_arrays.described(x, "x")[0])
    print(next(survey.rows()).what)
    print(inspection.memory.fit.text)
    print(inspection)
"""


def test_devices_of_two_processes() -> None:
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        port = str(probe.getsockname()[1])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "JAX_PLATFORMS": "cpu", "XLA_FLAGS": ""}
    both = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(number), port],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(2)
    ]
    try:
        said, problem = both[0].communicate(timeout=120)
    finally:
        for process in both:
            process.kill()
            process.communicate()
    assert both[0].returncode == 0, problem
    assert "2 devices of 2 processes, mesh d=2" in said
    assert "(process 0)\n" in said and "(process 1)\n" in said
    assert "this kernel's cpu, 2 devices of 2 processes, 1 of them this one's" in said
    assert "Its devices are of 2 processes" in " ".join(said.replace("│", " ").split())
    assert "of this machine (<1%)" in said, "one of its devices is on this machine"


def test_one_process_is_not_named() -> None:
    alone = [DevicePlace(0, 0), DevicePlace(1, 0)]
    assert processes(alone) == 1 and alone[1].within(1) == "1"
    assert processes([DevicePlace(0), DevicePlace(1)]) == 0
    assert DevicePlace(2048, 1).within(2) == "2048 (process 1)"
