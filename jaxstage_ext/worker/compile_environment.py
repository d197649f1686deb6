"""What decides a compile besides the program, its options and its target: the environment of the compiler's process."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from jaxstage_ext.worker import flag_text

READ_BY_XLA = ("XLA_FLAGS", "LIBTPU_INIT_ARGS")
"""The environment variables that XLA and libtpu read options from, when they are loaded."""
_QUOTES = {"XLA_FLAGS": True, "LIBTPU_INIT_ARGS": False}
FIXED = {
    "TPU_SKIP_MDS_QUERY": "1",  # without it libtpu waits for a metadata server for ever
    "TPU_WORKER_HOSTNAMES": "localhost",
    "TPU_ACCELERATOR_TYPE": "v5litepod-4",  # any will do; without one libtpu complains
    "TPU_WORKER_ID": "0",
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",  # the kernel may hold libtpu's lock
    "TPU_LOG_DIR": "disabled",
    "TPU_MIN_LOG_LEVEL": "2",
    "TPU_STDERR_LOG_LEVEL": "2",
    "TF_CPP_MIN_LOG_LEVEL": "1",
}
"""Variables that every worker has, whatever this process's are."""
_DECIDES = re.compile(
    r"(?:XLA|LIBTPU|TPU|CLOUD_TPU|MEGASCALE|PJRT|TF(?!_CLI_|_VAR_)|TSL|CUDA|NVIDIA|NVPTX|PTXAS|CUDNN|CUBLAS|NCCL|TRITON|MLIR|LLVM|OMP)_.+"
    r"|(?:ENABLE|DISABLE|ALLOW)_[A-Z0-9_]+|NPROC|(?:CHIPS_PER_)?HOST_BOUNDS|ALT|WRAP|TURN_OFF_LR_LOOP_ENTRY_BRANCH_OPT"
    r"|LD_LIBRARY_PATH|LD_PRELOAD"
)
"""Variables that the compilers and Triton were seen to read; the rest of their prefixes too, as versions add some."""
_LOGS = re.compile(r"TF_CPP_.*|TPU_(?:LOG_DIR|MAX_LOG_SIZE_MB|VMODULE|VLOG_LEVEL|(?:MIN|STDERR)_LOG_LEVEL)")


@dataclass(frozen=True)
class CompileEnvironment:
    """The environment of a compile. Equal ones, and equal programs, options and targets, make equal executables."""

    variables: tuple[tuple[str, str], ...]
    """Those that XLA, its plugins and their tools read; paths in options are absolute."""
    processors: int
    """How many the process may use, among which XLA divides the loops of CPU programs."""
    compiler: tuple[str, ...] = ()
    """What identifies the compiler's files."""
    files: tuple[tuple[str, str], ...] = ()
    """The files that options name, each with what identifies its contents."""

    @property
    def parts(self) -> tuple[str, ...]:
        """All of it, as parts of a key."""
        named = (f"{name}={value}" for name, value in (*self.variables, *self.files))
        return (*self.compiler, str(self.processors), *named)

    def variable(self, name: str) -> str:
        """The value of a variable; "" where it is not set."""
        return dict(self.variables).get(name, "")


def current() -> CompileEnvironment:
    """The environment of this process, without the compiler and the files."""
    return CompileEnvironment(_variables(os.environ), _processors())


def process_environment(environment: CompileEnvironment) -> dict[str, str]:
    """The variables of a process that compiles in an environment, with those of this process that decide nothing."""
    rest = {name: value for name, value in os.environ.items() if not decides(name)}
    return {**rest, **FIXED, **dict(environment.variables)}


def decides(name: str) -> bool:
    """Whether a compile may depend on the environment variable of this name."""
    return bool(_DECIDES.fullmatch(name)) and not _LOGS.fullmatch(name)


def _variables(environ: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    given = {name: value for name, value in {**environ, **FIXED}.items() if decides(name)}
    texts = {name: flag_text.with_absolute_paths(given[name], _QUOTES[name]) for name in READ_BY_XLA if name in given}
    return tuple(sorted({**given, **texts}.items()))


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
