"""Waiting for what this thread launched on the local devices, whoever holds the results.

A device runs what it is given in order, and XLA:CPU what one thread launches on a device: a program that comes last
ends last. On a CPU, programs of several devices have an order of their own. It goes to jaxlib directly, so that JAX's
caches, events and logs do not know of it. Checked with jax 0.10.2 and 0.12.0.1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jaxlib import xla_client

from jaxstage_ext.core.own_work import WAIT_MODULE

_MODULE = """module @{name} attributes {{mhlo.num_partitions = 1 : i32, mhlo.num_replicas = {devices} : i32}} {{
  func.func public @main() -> tensor<i8> {{
    %0 = stablehlo.constant dense<0> : tensor<i8>
    return %0 : tensor<i8>
  }}
}}"""


def waiting() -> Callable[[], None]:
    """What waits for it: compiled now, so that it costs little when it is called."""
    devices = jax.local_devices()
    groups = [[device] for device in devices] if devices[0].platform == "cpu" else []
    last = [_last(group) for group in [*groups, *([devices] if len(devices) > 1 or not groups else [])]]

    def wait() -> None:
        for executable in last:
            for arrays in executable.execute_sharded([]).disassemble_into_single_device_arrays():
                for array in arrays:
                    array.block_until_ready()

    return wait


def _last(devices: Sequence[Any]) -> Any:
    options: Any = xla_client.CompileOptions()
    options.num_replicas = len(devices)
    ids = np.array([[device.id] for device in devices], np.int32)
    options.device_assignment = xla_client.DeviceAssignment.create(ids)
    options.executable_build_options.debug_options.xla_dump_to = ""
    text = _MODULE.format(name=WAIT_MODULE, devices=len(devices))
    return devices[0].client.compile_and_load(text, xla_client.DeviceList(tuple(devices)), options)
