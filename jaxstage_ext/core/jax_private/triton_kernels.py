"""Pallas kernels of Triton, lowered for a GPU that is not in this machine.

JAX asks the machine's first GPU for its compute capability: JAX 0.12 refuses where there is none, 0.10 takes 9.0.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from jax._src.interpreters.mlir import LoweringParameters

_PALLAS = "jax._src.pallas.pallas_call"
"""What a program with a Pallas kernel has imported."""
_REGISTRATION = "jax._src.pallas.triton.pallas_call_registration"
_ASKED = {"gpu_info_lib": "get_gpu_info", "jax": "local_devices"}
"""What that module asks for the GPU: its global, and the function of it. JAX 0.12, JAX 0.10."""


@dataclass(frozen=True)
class _ForGpu(LoweringParameters):
    """JAX's usual parameters, under another key of its cache for each compute capability."""

    capability: tuple[int, int] = (0, 0)


_installing = threading.Lock()
_target = threading.local()


@contextlib.contextmanager
def lowered_for(capability: tuple[int, int] | None) -> Iterator[Mapping[str, Any]]:
    """Inside the block, this thread lowers Triton kernels for a GPU of this compute capability; None changes nothing.

    Gives what `Traced.lower` takes for it, since JAX would keep one lowering for all GPUs. Other threads, and this one
    after the block, ask the machine's own GPU as before.
    """
    if capability is None or _PALLAS not in sys.modules:
        yield {}
        return
    _install()
    before, _target.capability = getattr(_target, "capability", None), capability
    try:
        yield {"_private_parameters": _ForGpu(capability=capability)}
    finally:
        _target.capability = before


def _install() -> None:
    """Put what answers for the GPU into the module that asks, once in the process."""
    with contextlib.suppress(ImportError), _installing:
        module = importlib.import_module(_REGISTRATION)
        for name, function in _ASKED.items():
            real = getattr(module, name, None)
            if real is not None and not isinstance(real, _Asked):
                setattr(module, name, _Asked(real, function))


class _Asked:
    """A module of JAX's, which answers for the GPU that this thread lowers for."""

    def __init__(self, real: Any, function: str) -> None:
        self._real, self._function = real, function

    def __getattr__(self, name: str) -> Any:
        capability = getattr(_target, "capability", None)
        if name != self._function or capability is None:
            return getattr(self._real, name)
        major, minor = capability
        if name == "get_gpu_info":
            return lambda: SimpleNamespace(compute_capability=10 * major + minor)
        return lambda *args, **kwargs: [SimpleNamespace(compute_capability=f"{major}.{minor}")]
