"""Operations that run by themselves, such as `jnp.ones((8, 8))` at the head of a test file, are compiled once a week.

Each is 20 to 100 ms of a processor, for each shape, in each test process; read from the folder of `compiled_once` it is
2. Programs are compiled anew in each test, by a call and by `inspect`: JAX's own operations alone are kept, as
`dispatch.apply_primitive` and the functions of `jax.random` run them. JAX's events and its log are what they were.
"""

from __future__ import annotations

import contextlib
import hashlib
import sys
from typing import Any

import compiled_once

_OF_RANDOM = ("jit__normal", "jit__uniform", "jit__randint", "jit__truncated_normal", "jit__bernoulli", "jit__threefry")
_EAGER = "apply_primitive"
_FRAMES = 40
"""How far up the stack the caller of a compile is looked for: some 15 frames of JAX are between."""


def keep() -> None:
    """From now on in this process. JAX is imported here: a test process has it anyway."""
    from jax._src import compiler

    from jaxstage_ext.core.targets import packages

    compile_ = compiler.backend_compile_and_load

    def kept(backend: Any, module: Any, executable_devices: Any, options: Any, host_callbacks: Any) -> Any:
        if backend.platform != "cpu" or host_callbacks or not _is_of_jax(module.operation.attributes["sym_name"].value):
            return compile_(backend, module, executable_devices, options, host_callbacks)
        text = module.operation.get_asm(enable_debug_info=False)  # wherever it is called
        asked = text.encode() + options.SerializeAsString() + "".join(packages.identity("cpu")).encode()
        path = compiled_once.folder(()) / hashlib.sha256(asked).hexdigest()
        with contextlib.suppress(OSError, RuntimeError):  # not there, or of another processor
            return backend.deserialize_executable(
                path.read_bytes(), executable_devices=executable_devices, compile_options=options
            )
        made = compile_(backend, module, executable_devices, options, host_callbacks)
        with contextlib.suppress(OSError, RuntimeError):
            compiled_once.keep_bytes(path, made.serialize())
        return made

    compiler.backend_compile_and_load = kept


def _is_of_jax(name: str) -> bool:
    """Whether the module of that name is an operation that runs by itself, not a program of a test."""
    frame = sys._getframe(2)
    for _ in range(_FRAMES):
        if frame is None:
            return False
        code = frame.f_code
        if code.co_name == _EAGER and code.co_filename.endswith("dispatch.py"):
            return True
        if name.startswith(_OF_RANDOM) and code.co_filename.endswith(("_src/random.py", "_src/random/core.py")):
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False
