"""The XLA flags that `what_if` tries by itself, by platform: what each does, and where that is documented.

They decide what overlaps and what is fused, and leave the values that a program computes alone but for rounding. A
name that the installed jaxlib does not know is left out; some have another name in JAX 0.10.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

_FLAGS = "xla/debug_options_flags.cc"
_JAX_GPU = "https://docs.jax.dev/en/latest/gpu_performance_tips.html"
_TOOLBOX = "https://docs.nvidia.com/jax-toolbox/performance-profiling/gpu-performance"


class TrialFlags(NamedTuple):
    """Flags that are set together.

    Attributes:
      options: values by XLA's names.    effect: what they do.    source: where that is documented.
    """

    options: Mapping[str, str]
    effect: str
    source: str


def _one(name: str, value: str, effect: str, source: str = _FLAGS) -> TrialFlags:
    return TrialFlags({name: value}, effect, source)


_COMBINE = "gathers small {} into one of up to so many bytes: fewer are launched, and each starts later"
_UNCOMBINED = "runs each {} as soon as its operand is there, in place of one large one at the end"
_PIPELINE = "moves {} of a loop into the iteration beside, where they overlap with its computation"

GPU = (
    _one(
        "xla_gpu_enable_latency_hiding_scheduler",
        "true",
        "orders instructions by an estimate of what hides collectives, also where XLA does not by default",
        _JAX_GPU,
    ),
    TrialFlags(
        {
            "xla_gpu_all_reduce_combine_threshold_bytes": "0",
            "xla_gpu_all_gather_combine_threshold_bytes": "0",
            "xla_gpu_reduce_scatter_combine_threshold_bytes": "0",
        },
        _UNCOMBINED.format("collective"),
        _TOOLBOX,
    ),
    TrialFlags(
        {
            "xla_gpu_all_reduce_combine_threshold_bytes": "536870912",
            "xla_gpu_all_gather_combine_threshold_bytes": "536870912",
            "xla_gpu_reduce_scatter_combine_threshold_bytes": "536870912",
        },
        _COMBINE.format("collectives"),
        _TOOLBOX,
    ),
    _one("xla_gpu_pipeline_all_gather", "COLLECTIVE_PIPELINING_MODE_ON", _PIPELINE.format("all-gathers"), _TOOLBOX),
    _one("xla_gpu_enable_pipelined_all_gather", "true", _PIPELINE.format("all-gathers"), _TOOLBOX),
    _one("xla_gpu_pipeline_all_reduce", "COLLECTIVE_PIPELINING_MODE_ON", _PIPELINE.format("all-reduces"), _TOOLBOX),
    _one("xla_gpu_enable_pipelined_all_reduce", "true", _PIPELINE.format("all-reduces"), _TOOLBOX),
    _one(
        "xla_gpu_enable_while_loop_double_buffering",
        "true",
        "unrolls loops by two, so that collectives of one iteration overlap with the next without copies",
        _TOOLBOX,
    ),
    _one(
        "xla_gpu_experimental_parallel_collective_overlap_limit",
        "4",
        "lets up to four collectives be in flight at the same time in place of one",
    ),
    _one(
        "xla_gpu_threshold_for_windowed_einsum_mib",
        "0",
        "splits products of gathered or scattered operands into steps that overlap with the exchange",
        _TOOLBOX,
    ),
    _one("xla_gpu_memory_limit_slop_factor", "70", "leaves the scheduler less memory to overlap with", _TOOLBOX),
)
CPU = (
    _one("xla_cpu_enable_fast_math", "true", "lets LLVM reorder arithmetic: faster loops, other rounding"),
    _one("xla_cpu_prefer_vector_width", "512", "lets loops use vectors of 512 bits"),
    _one(
        "xla_cpu_scheduler_type",
        "CPU_SCHEDULER_TYPE_CONCURRENCY_OPTIMIZED",
        "orders instructions for parallelism rather than for memory",
    ),
)
TPU = (
    _one(
        "xla_tpu_enable_latency_hiding_scheduler",
        "false",
        "schedules collectives without an estimate of what could hide them",
        "https://openxla.org/xla/flags_guidance",
    ),
    _one(
        "xla_tpu_enable_async_collective_fusion",
        "false",
        "keeps collectives out of the fusions that would hide them",
        "https://openxla.org/xla/flags_guidance",
    ),
)
BY_PLATFORM: Mapping[str, tuple[TrialFlags, ...]] = {"gpu": GPU, "cpu": CPU, "tpu": TPU}

ESTIMATOR = frozenset(
    (
        "xla_gpu_enable_analytical_latency_estimator",
        "xla_gpu_enable_analytical_sol_latency_estimator",
        "xla_gpu_analytical_latency_estimator_options",
        "xla_gpu_experimental_collective_perf_table_path",
        "xla_gpu_experimental_matmul_perf_table_path",
        "xla_gpu_collective_inflation_factor",
        "xla_gpu_enable_triton_gemm",
        "fdo_profile",
    )
)
"""Options that change how XLA estimates: a time under them is not comparable with one without.

Matrix products that Triton computes have other estimates than those of cuBLAS, which XLA has tables of: without
xla_gpu_enable_triton_gemm one step was estimated 2.6 times shorter, and nothing says that it is.
"""


def effect_of(options: Mapping[str, object]) -> str:
    """What these options do; "" where they are not among those listed."""
    given = {name: str(value).lower() for name, value in options.items()}
    for flags in (each for listed in BY_PLATFORM.values() for each in listed):
        if {name: value.lower() for name, value in flags.options.items()} == given:
            return flags.effect
    return ""
