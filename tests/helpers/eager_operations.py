"""Operations that run by themselves, such as `jnp.ones((8, 8))` at the head of a test file, are compiled once a week.

Each is 20 to 100 ms of a processor, for each shape, in each test process; read from the folder of `compiled_once` it is
2. JAX's own operations alone are kept, as `dispatch.apply_primitive` runs them, and what functions of `jax.numpy` and
`jax.random` call, while tests are collected: in a test everything is compiled as it is for users.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import compiled_once

_EAGER = "apply_primitive"
_CALL, _WRAPPER = "cache_miss", "reraise_with_filtered_traceback"
_OF_JAX = re.compile(r"/jax/_src/(numpy|random|nn|scipy|image)\b")
"""Files of JAX whose functions call jitted functions of JAX's own, as `jnp.where` does."""
_OF_USERS = ("jit_scan", "jit_while", "jit_cond", "jit_custom", "jit_shard_map", "jit_pallas", "jit_checkpoint")
"""Operations that hold a function of the user's, whose lines are in the module."""


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """Within the block, they come from the folder, where they are there, and go to it. JAX is imported here."""
    from jax._src import compiler

    from jaxstage_ext.core.targets import packages

    compile_ = compiler.backend_compile_and_load

    def read_or_compiled(backend: Any, module: Any, executable_devices: Any, options: Any, host_callbacks: Any) -> Any:
        if backend.platform != "cpu" or host_callbacks or not _is_of_jax(module.operation.attributes["sym_name"].value):
            return compile_(backend, module, executable_devices, options, host_callbacks)
        text = module.operation.get_asm(enable_debug_info=False)  # wherever it is called
        machine, processor, *_ = packages.identity("cpu")  # of which release jaxlib is, the folder says
        asked = text.encode() + options.SerializeAsString() + machine.encode() + processor.encode()
        path = compiled_once.folder(()) / hashlib.sha256(asked).hexdigest()
        with contextlib.suppress(OSError, RuntimeError):  # not there, or of another processor
            return backend.deserialize_executable(
                path.read_bytes(), executable_devices=executable_devices, compile_options=options
            )
        made = compile_(backend, module, executable_devices, options, host_callbacks)
        with contextlib.suppress(OSError, RuntimeError):
            compiled_once.keep_bytes(path, made.serialize())
        return made

    compiler.backend_compile_and_load = read_or_compiled
    try:
        yield
    finally:
        compiler.backend_compile_and_load = compile_


def _is_of_jax(name: str) -> bool:
    """Whether the module of that name is an operation that runs by itself, not a program of a test."""
    if name.startswith(_OF_USERS):
        return False
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_name != _CALL:
        frame = frame.f_back
    while frame is not None and frame.f_code.co_name in (_CALL, _WRAPPER):
        frame = frame.f_back
    if frame is None:
        return False
    return frame.f_code.co_name == _EAGER or _OF_JAX.search(frame.f_code.co_filename) is not None
