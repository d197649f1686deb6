"""JAX's own compile of the golden programs for devices that are not here, in one process: what the worker must equal.

`PYTHONPATH=. python tests/helpers/in_process.py tpu v5e:2x2` writes {program: module text or null} to standard output.
"""

from __future__ import annotations

import json
import os
import sys

os.environ.update(
    JAX_PLATFORMS="cpu",
    JAX_NUM_CPU_DEVICES="4",
    TPU_SKIP_MDS_QUERY="1",
    TPU_WORKER_HOSTNAMES="localhost",
    TPU_ACCELERATOR_TYPE="v5litepod-4",
    TPU_WORKER_ID="0",
    ALLOW_MULTIPLE_LIBTPU_LOAD="1",
    TPU_LOG_DIR="disabled",
)

import jax
from jax.experimental import topologies

from jaxstage_ext.core.jax_private import xla_executables
from tests.golden.record import load_programs


def topology(platform: str, name: str) -> list[jax.Device]:
    if platform == "tpu":
        megacore = {"chip_config_name": "megacore"} if name.startswith("v4") else {}
        return topologies.get_topology_desc(name, platform, **megacore).devices
    from jaxstage_ext.core.targets import gpu_descriptions, packages
    from jaxstage_ext.worker.inside.clients import gpu_specs

    plugin = packages.find("cuda")
    described = gpu_specs(plugin.library)
    gpu = gpu_descriptions.name_or_description("h100", plugin.version)
    spec = described.get(gpu, gpu)
    return topologies.get_topology_desc(name, platform, target_config=spec, topology=name).devices


def main(platform: str, name: str) -> None:
    devices = topology(platform, name)
    make_mesh = jax.make_mesh
    jax.make_mesh = lambda shape, axes, **options: make_mesh(shape, axes, devices=devices[:4], **options)
    texts = {}
    for program, (function, arguments) in load_programs().PROGRAMS.items():
        if program == "callback":
            continue
        if program == "pmap":
            function = jax.pmap(function.__wrapped__, axis_name="i", devices=devices[:4])
        shapes = jax.tree.map(lambda x: jax.ShapeDtypeStruct(jax.numpy.shape(x), jax.numpy.result_type(x)), arguments)
        jitted = function if hasattr(function, "lower") else jax.jit(function)
        with jax.default_device(devices[0]):
            compiled = jitted.lower(*shapes).compile()
        [module] = xla_executables.hlo_modules(compiled)
        texts[program] = xla_executables.hlo_text(module, True)
    json.dump(texts, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
