"""What kind an event is, by its name: the names that XLA, JAX and the drivers of GPUs give to what they do."""

from __future__ import annotations

import re

from jaxstage_ext.report.recording import EventKind

_LAUNCH = re.compile(
    r"(cu|cuda|hip)(Ext)?(Module)?(Graph)?Launch|(cu|cuda|hip)(Memcpy|Memset)|(cu|cuda|hip)LaunchKernel|nv_?rtLaunch"
)
_WAIT = re.compile(
    r"Await|BlockUntilReady|BlockHostUntil|block_until_ready|[Ww]ait for|^Wait[: ]|Rendezvous|SemaphoreAcquire"
    r"|(cu|cuda|hip)\w{0,40}(Synchronize|WaitEvent)|AcquireNextValue"
)
_COMPILE = re.compile(
    r"[Cc]ompile|^trace_to_jaxpr|^lower_|^lower_jaxpr|jaxpr_to_mlir|^trace_|HloPassPipeline|\bcodegen\b|^XlaLower|LowerToMLIR"
)
_COLLECTIVE = re.compile(
    r"nccl(Dev)?Kernel|rccl|^(all-reduce|all-gather|reduce-scatter|all-to-all|collective-|ragged-all-to-all|send|recv)"
    r"|AllReduce|AllGather|ReduceScatter|AllToAll|all_reduce_kernel|nvshmem"
)
_COPY = re.compile(
    r"^Mem(cpy|set|Copy|Set)|[Mm]emcpy|[Mm]emset|rocclr_(copy|fill)Buffer|^(TransferTo|TransferFrom|dma_)"
)
_SYNCHRONIZES = re.compile(r"^event_(wait|record)|^(stream_)?(wait|sync)|[Ss]ynchroniz")
_INTERNAL = re.compile(r"^(end: |ThreadpoolListener::|MutexLock|PythonRefManager::|RecordUsage$|Record$)")
RUNS_ON = "ThunkExecutor::Execute (wait for completion)"
"""What XLA:CPU records while a program runs whose threads may do parts of an operation without an event."""
LAUNCHES = "CommonPjRtLoadedExecutable::ExecutePrepare"
"""What XLA:CPU records where a program is launched on a device."""
COMPILE_THREADS = re.compile(r"codegen|[Cc]ompil")
"""Names of threads that only compile."""


def on_host(name: str) -> EventKind:
    """The kind of an event of a host thread."""
    if name.startswith("$"):
        return EventKind.PYTHON
    for pattern, kind in ((_WAIT, EventKind.WAIT), (_LAUNCH, EventKind.LAUNCH), (_COMPILE, EventKind.COMPILE)):
        if pattern.search(name):
            return kind
    return EventKind.HOST


def on_device(name: str) -> EventKind:
    """The kind of an event of a device's stream."""
    if _COLLECTIVE.search(name):
        return EventKind.COLLECTIVE
    return EventKind.COPY if _COPY.search(name) else EventKind.KERNEL


def synchronizes(name: str) -> bool:
    """Whether an event of a device only waits for, or marks, what other streams do."""
    return _SYNCHRONIZES.search(name) is not None


def op_kind(name: str) -> EventKind:
    """The kind of an HLO instruction, by its name."""
    return EventKind.COLLECTIVE if _COLLECTIVE.search(name) else EventKind.OP


def is_internal(name: str) -> bool:
    """Whether an event says something only of the profiler or the runtime's own threads: shown when asked for."""
    return _INTERNAL.search(name) is not None
