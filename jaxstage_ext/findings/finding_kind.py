"""The kinds of findings: what a program may have that costs it time or memory, and where to read more."""

from __future__ import annotations

import enum


class FindingGroup(enum.Enum):
    """What a kind of finding costs."""

    MEMORY = "memory"
    COMPUTE = "compute"
    MOVEMENT = "movement"
    COMPILE_TIME = "compile time"
    CALLS = "calls"


_JAX = "https://docs.jax.dev/en/latest/"
_XLA = "https://openxla.org/xla/"


class FindingKind(enum.Enum):
    """A kind of finding; its value is its title."""

    group: FindingGroup
    read_more: str
    """A page about it; "" none."""

    def __new__(cls, title: str, group: FindingGroup, read_more: str = "") -> FindingKind:
        made = object.__new__(cls)
        made._value_, made.group, made.read_more = title, group, read_more
        return made

    MISSING_DONATION = "missing donation", FindingGroup.MEMORY, f"{_JAX}buffer_donation.html"
    UNUSED_DONATION = "donation unused", FindingGroup.MEMORY, f"{_JAX}buffer_donation.html"
    USELESS_CHECKPOINT = (
        "checkpoint that saves nothing",
        FindingGroup.MEMORY,
        f"{_JAX}gradient-checkpointing.html",
    )
    RESIDUALS = "residuals of the backward pass", FindingGroup.MEMORY, f"{_JAX}gradient-checkpointing.html"
    CAPTURED_CONSTANT = "large captured constant", FindingGroup.MEMORY, f"{_JAX}internals/constants.html"
    UNREAD_ARGUMENT = "argument that nothing reads", FindingGroup.MEMORY
    REPLICATED_STATE = (
        "state replicated over a data axis",
        FindingGroup.MEMORY,
        f"{_JAX}notebooks/Distributed_arrays_and_automatic_parallelization.html",
    )
    INDEX_ARRAY = "index array larger than the data", FindingGroup.MEMORY
    WHOLE_INTERMEDIATE = (
        "intermediate value in memory whole",
        FindingGroup.MEMORY,
        f"{_JAX}_autosummary/jax.lax.map.html",
    )
    TILE_PADDING = "padding of the device's tiles", FindingGroup.MEMORY, f"{_XLA}tiled_layout"
    LARGE_TEMPORARIES = "temporaries that fill the memory", FindingGroup.MEMORY
    EXTRA_FLOPS = "more FLOPs than the jaxpr has", FindingGroup.COMPUTE
    CHEAPER_FORM = "cheaper form of an operation", FindingGroup.COMPUTE
    BOTH_BRANCHES = "both branches of a cond run", FindingGroup.COMPUTE, f"{_JAX}_autosummary/jax.lax.cond.html"
    REPEATED_WORK = "the same work in every iteration", FindingGroup.COMPUTE
    EXCESS_PRECISION = (
        "precision above what is needed",
        FindingGroup.COMPUTE,
        f"{_JAX}default_dtypes.html",
    )
    PROMOTION = "operand that forces a promotion", FindingGroup.COMPUTE, f"{_JAX}type_promotion.html"
    SERIAL_LOOP = "operation that became a loop", FindingGroup.COMPUTE
    SMALL_KERNELS = "many small kernels", FindingGroup.COMPUTE
    BROKEN_FUSION = "fusion broken", FindingGroup.COMPUTE
    IDLE_MATRIX_UNIT = "matrix unit idle", FindingGroup.COMPUTE
    CARRY_COPY = "carry copied in every iteration", FindingGroup.MOVEMENT, f"{_JAX}_autosummary/jax.lax.scan.html"
    BATCHED_LOOP = "loop under vmap", FindingGroup.MOVEMENT, f"{_JAX}_autosummary/jax.lax.while_loop.html"
    LAYOUT_COPY = "copies that change a layout", FindingGroup.MOVEMENT
    HOST_TRANSFER = "transfers to and from the host", FindingGroup.MOVEMENT
    COLLECTIVE = (
        "collective",
        FindingGroup.MOVEMENT,
        f"{_JAX}notebooks/Distributed_arrays_and_automatic_parallelization.html",
    )
    FULL_REMATERIALISATION = "involuntary full rematerialisation", FindingGroup.MOVEMENT
    SLOW_PASS = "slow pass", FindingGroup.COMPILE_TIME
    UNROLLED_LOOP = (
        "unrolled loop of equal bodies",
        FindingGroup.COMPILE_TIME,
        f"{_JAX}_autosummary/jax.lax.scan.html",
    )
    RECOMPILE = "recompile", FindingGroup.COMPILE_TIME, f"{_JAX}jit-compilation.html"
    PERSISTENT_MISS = (
        "persistent cache that does not help",
        FindingGroup.COMPILE_TIME,
        f"{_JAX}persistent_compilation_cache.html",
    )
    EAGER_CALL = "operations outside of jax.jit", FindingGroup.CALLS, f"{_JAX}jit-compilation.html"
    PYTHON_CALL = "Python work in every call", FindingGroup.CALLS, f"{_JAX}pytrees.html"
    COPIED_ARGUMENT = "arguments copied in every call", FindingGroup.CALLS
    STALE_VALUE = "value that JAX no longer reads", FindingGroup.CALLS, f"{_JAX}faq.html"
    NONDETERMINISTIC = "results that differ from run to run", FindingGroup.CALLS
    REUSED_KEY = "random key used twice", FindingGroup.CALLS, f"{_JAX}jax.experimental.key_reuse.html"
