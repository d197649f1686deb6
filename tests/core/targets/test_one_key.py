"""One key for one program: everything that can change a compile changes it, or has nothing stored.

Each change is made for real: files are written, variables set, processors taken away, compilers replaced.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from absent import needs

from jaxstage_ext.api.inspect import prepare
from jaxstage_ext.core.call import Call
from jaxstage_ext.core.options import autotune, flag_values
from jaxstage_ext.core.recompile import preparation
from jaxstage_ext.core.targets import packages
from jaxstage_ext.core.targets.prepared import Prepared
from jaxstage_ext.core.targets.target import Target, parse_all
from jaxstage_ext.worker.compile_environment import CompileEnvironment

RESULTS = 'version: 3\nresults { device: "CUDA: 9.0, DNN version: 9.1.2" hlo: "{ dot }" version: 1 }\n'
LARGE = 5_000_000
"""Bytes of a library of which only samples are read."""


def squared(x):
    return jnp.tanh(x @ x)


def halved(x):
    return jnp.tanh(x @ x) / 2


def nothing(bench: Bench) -> None:
    """No change."""


@dataclass
class Bench:
    """A program that is prepared again and again, and the things around it that change."""

    folder: Path
    patch: pytest.MonkeyPatch
    target: str = "cpu:2"
    function: Any = squared
    argument: Any = field(default_factory=lambda: np.ones((4, 4), np.float32))
    options: dict[str, Any] = field(default_factory=dict)

    def prepared(self) -> Prepared:
        call = Call(self.function, (self.argument,), compiler_options=flag_values.check(self.options))
        inspection = prepare(call, "lower", parse_all(self.target))[0]
        inspection.advance(lambda: None)
        assert inspection.error is None, inspection.error
        return preparation.prepared(inspection.program.staged)

    def keys(self, *changes: Change) -> list[str | None]:
        """The keys before and after each change. One line asks for all, since a module says where it was traced."""
        return [self.prepared().key("what") for change in (nothing, nothing, *changes) if change(self) is None]

    def file(self, name: str, text: str | bytes) -> str:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return str(path)

    def library(self, name: str, seed: int) -> str:
        """A file that is as large and as old as the one before, but another one."""
        path = self.file(name, np.random.default_rng(seed).bytes(LARGE))
        os.utime(path, ns=(10**18, 10**18))
        return path


Change = Callable[[Bench], None]
CHANGES: dict[str, tuple[str, Change]] = {}
"""Each change, and the part of the request or of its environment that it is seen in."""


def change(part: str) -> Callable[[Change], Change]:
    def noted(made: Change) -> Change:
        CHANGES[made.__name__] = part, made
        return made

    return noted


@change("module")
def another_function(bench: Bench) -> None:
    bench.function = halved


@change("module")
def another_shape(bench: Bench) -> None:
    bench.argument = bench.argument[:2, :2]


@change("module")
def another_type(bench: Bench) -> None:
    bench.argument = bench.argument.astype(np.float16)


@change("module")
def donation(bench: Bench) -> None:
    bench.function = jax.jit(squared, donate_argnums=0)


@change("module")
def the_same_code_elsewhere(bench: Bench) -> None:
    space: dict[str, Any] = {}
    exec(compile("def squared(x):\n    return jnp.tanh(x @ x)\n", bench.file("cell.py", ""), "exec"), globals(), space)
    bench.function = space["squared"]


@change("options")
def an_option(bench: Bench) -> None:
    bench.options = {"xla_backend_optimization_level": 0}


@change("options")
def an_option_of_jit(bench: Bench) -> None:
    bench.function = jax.jit(squared, compiler_options={"xla_backend_optimization_level": 0})


@change("options")
def an_option_of_the_build(bench: Bench) -> None:
    bench.options = {"optimization_level": "O1"}


@change("options")
def a_profile(bench: Bench) -> None:
    bench.options = {"fdo_profile": b"costs"}


@change("order")
def other_devices(bench: Bench) -> None:
    bench.options = {"device_assignment": "1"}


@change("room")
def more_devices(bench: Bench) -> None:
    bench.target = "cpu:4"


@change("platform")
def another_platform(bench: Bench) -> None:
    needs("tpu")
    bench.target = "v5e:2x2"


@change("processors")
def fewer_processors(bench: Bench) -> None:
    """XLA divides the loops of CPU programs among them."""
    available = os.sched_getaffinity(0)
    if len(available) < 2:
        pytest.skip("this machine has one processor")
    bench.patch.setattr(Bench, "restore", lambda self: os.sched_setaffinity(0, available), raising=False)
    os.sched_setaffinity(0, sorted(available)[:1])


VARIABLES = {
    "XLA_FLAGS": "--xla_cpu_enable_fast_math=true",
    "LIBTPU_INIT_ARGS": "--xla_tpu_rwb_fusion=false",
    "PJRT_NPROC": "1",
    "TPU_MEGACORE": "megacore_dense",
    "TPU_CHIPS_PER_HOST_BOUNDS": "2,2,1",
    "TF_FP16_CONV_USE_FP32_COMPUTE": "0",
    "TRITON_F32_DEFAULT": "tf32",
    "DISABLE_MMA_V3": "1",
    "CUDA_VISIBLE_DEVICES": "0",
    "LLVM_PASS_PLUGIN_PATH": "plugin.so",
    "OMP_NUM_THREADS": "1",
    "LD_LIBRARY_PATH": "/another",
}


def _variable(name: str, value: str) -> Change:
    def made(bench: Bench) -> None:
        bench.patch.setenv(name, value)

    return made


CHANGES |= {f"variable {name}": ("variables", _variable(name, value)) for name, value in VARIABLES.items()}


def _replaced(of: str) -> Change:
    """jaxlib, or what `packages` finds under a name, is another file of the same size, age and version."""

    def made(bench: Bench) -> None:
        found, path = packages._file_of, bench.library("replaced.so", 1)
        bench.patch.setattr(packages, "_file_of", lambda package, name: path if name == of else found(package, name))

    return made


CHANGES["jaxlib replaced"] = "compiler", _replaced("libjax_common.so")


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    bench = Bench(tmp_path, monkeypatch)
    yield bench
    getattr(bench, "restore", lambda: None)()


@pytest.mark.parametrize("name", CHANGES)
def test_what_changes_a_compile_changes_its_key(name: str, bench: Bench) -> None:
    before, repeated, after = bench.keys(CHANGES[name][1])
    assert None not in (before, after)
    assert before == repeated != after


def test_every_part_of_a_request_is_changed_by_one() -> None:
    """A field that is added to the request, the target or the environment needs a change here."""
    parts = {part for part, _ in CHANGES.values()}
    tpu_and_gpu = {"kind", "topology", "configuration"}  # below
    ignored = {"name", "platform", "chips"}  # a target's name; the platform and how many devices: above, and "room"
    assert {field.name for field in fields(CompileEnvironment)} - {"files"} <= parts  # files: below, never stored
    assert {field.name for field in fields(Target)} <= ignored | tpu_and_gpu
    assert {"module", "options", "order", "room"} <= parts


TARGETS = {"v5e:2x2": "v5e:2x4", "v6e:2x2": "v5e:2x2", "h100": "a100", "h100:2": "h100:4"}


@pytest.mark.parametrize("one", TARGETS)
def test_each_target_has_its_key(one: str, bench: Bench) -> None:
    needs(one)
    bench.target = one
    before, repeated, after = bench.keys(lambda bench: setattr(bench, "target", TARGETS[one]))
    assert before == repeated != after


@pytest.mark.needs("tpu")
def test_a_replaced_libtpu_of_the_same_version_has_another_key(bench: Bench) -> None:
    bench.target = "v5e:2x2"
    bench.patch.setenv("TPU_LIBRARY_PATH", bench.library("libtpu.so", 1))
    before, repeated, after = bench.keys(lambda bench: bench.library("libtpu.so", 2) and None)
    assert before == repeated != after


@pytest.mark.needs("cuda")
@pytest.mark.parametrize("name", ["xla_cuda_plugin.so", "ptxas", "libdevice.10.bc"])
def test_a_replaced_part_of_the_cuda_compiler_has_another_key(name: str, bench: Bench) -> None:
    bench.target = "h100"
    path = bench.library(name, 1)
    find, toolkit = packages._file_of, packages._in_toolkit
    bench.patch.setattr(packages, "_file_of", lambda package, file: path if file == name else find(package, file))
    bench.patch.setattr(packages, "_in_toolkit", lambda file: path if Path(file).name == name else toolkit(file))
    before, repeated, after = bench.keys(lambda bench: bench.library(name, 2) and None)
    assert before == repeated != after


def named_by_an_option(bench: Bench) -> str:
    bench.options = {"xla_gpu_gemm_autotuner_override_file": bench.file("over.txtpb", "")}
    return bench.file("over.txtpb", "")


def named_by_jit(bench: Bench) -> str:
    file = bench.file("over.txtpb", "")
    bench.function = jax.jit(squared, compiler_options={"xla_gpu_gemm_autotuner_override_file": file})
    return file


def autotune_results(bench: Bench) -> str:
    file = bench.file("results.txtpb", RESULTS)
    bench.options = {autotune.LOAD: file}
    return file


def named_in(variable: str) -> Callable[[Bench], str]:
    def made(bench: Bench) -> str:
        bench.patch.chdir(bench.folder)
        bench.patch.setenv(variable, "--xla_tpu_autofdo_proposed_layout_file=layout.txtpb --xla_tpu_rwb_fusion=false")
        return bench.file("layout.txtpb", "")

    return made


def a_file_of_flags(bench: Bench) -> str:
    bench.patch.chdir(bench.folder)
    bench.patch.setenv("XLA_FLAGS", "flags.txt")
    return bench.file("flags.txt", "--xla_cpu_enable_fast_math=true")


FILES: dict[str, Callable[[Bench], str]] = {
    "option": named_by_an_option,
    "jit": named_by_jit,
    "autotune results": autotune_results,
    "XLA_FLAGS": named_in("XLA_FLAGS"),
    "LIBTPU_INIT_ARGS": named_in("LIBTPU_INIT_ARGS"),
    "file of flags": a_file_of_flags,
}


@pytest.mark.parametrize("name", FILES)
def test_where_files_decide_nothing_is_stored_and_the_worker_is_of_their_contents(name: str, bench: Bench) -> None:
    needs("cuda")
    bench.target = "h100"
    file = FILES[name](bench)
    first, second = bench.prepared(), bench.prepared()
    assert bench.keys() == [None, None]
    assert file in dict(first.environment.files)
    assert first.environment == second.environment
    bench.file(Path(file).name, RESULTS.replace("{ dot }", "{ another dot }"))
    assert bench.prepared().environment != first.environment


DUMPS: dict[str, Any] = {
    "option": {"xla_dump_to": "dumps"},
    "dump of passes": {"xla_dump_hlo_pass_re": ".*"},
    "results": {autotune.SAVE: "results.txt"},
    "cache": {"xla_gpu_per_fusion_autotune_cache_dir": "cache"},
    "kernels": {"xla_gpu_kernel_cache_file": "kernels"},
}


@pytest.mark.parametrize("name", DUMPS)
def test_where_files_are_written_nothing_is_stored(name: str, bench: Bench) -> None:
    bench.patch.chdir(bench.folder)
    bench.options = DUMPS[name]
    if autotune.SAVE not in bench.options:
        assert bench.keys() == [None, None]
    bench.options = {}
    bench.patch.setenv("XLA_FLAGS", " ".join(f"--{flag}={value}" for flag, value in DUMPS[name].items()))
    assert bench.keys() == [None, None]


def test_what_decides_nothing_keeps_the_key(bench: Bench) -> None:
    def change(bench: Bench) -> None:
        for variable in ("HOME", "TF_CPP_MIN_LOG_LEVEL", "TPU_STDERR_LOG_LEVEL", "JPY_SESSION_NAME", "TERM"):
            bench.patch.setenv(variable, "1")
        bench.patch.chdir(bench.folder)

    before, repeated, after = bench.keys(change)
    assert before == repeated == after is not None
