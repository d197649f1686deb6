"""The custom calls that JAX registers for a platform when it is imported or starts the platform's plugin."""

from __future__ import annotations

import functools
from typing import Any


def register_cpu(xla_client: Any) -> None:
    """Without LAPACK's handlers svd and solve do not compile."""
    from jaxlib import cpu_sparse, lapack

    for library in (lapack, cpu_sparse):
        for name, handler, version in library.registrations()["cpu"]:
            xla_client.register_custom_call_target(name, handler, platform="cpu", api_version=version)
    for name in lapack.batch_partitionable_targets():
        xla_client.register_custom_call_as_batch_partitionable(name)


def register_cuda(xla_client: Any, plugin: Any) -> None:
    """Solvers, random numbers and sparse matrices, which JAX's CUDA plugin registers."""
    from jaxlib import gpu_linalg, gpu_prng, gpu_solver, gpu_sparse, plugin_support

    extension: Any = plugin_support.import_from_plugin("cuda", "cuda_plugin_extension")
    if extension is None:
        return
    add_type, add_call = extension.register_custom_type, extension.register_custom_call_target
    xla_client.register_custom_type_handler("CUDA", functools.partial(add_type, plugin))
    xla_client.register_custom_call_handler("CUDA", functools.partial(add_call, plugin))
    for name, value in extension.ffi_types().items():
        xla_client.register_custom_type(name, value, platform="CUDA")
    calls = [(name, value, 1) for name, value in extension.ffi_handlers().items()]
    for library in (gpu_linalg, gpu_prng, gpu_solver, gpu_sparse):
        calls += library.registrations().get("CUDA", ())
    for name, value, version in calls:
        xla_client.register_custom_call_target(name, value, platform="CUDA", api_version=version)
