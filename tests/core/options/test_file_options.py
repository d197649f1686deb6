"""Options that name files: their paths are absolute from the kernel's folder, and what is missing is an error."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from absent import needs
from crossed import crossed

from jaxstage_ext import inspect
from jaxstage_ext.core.options import autotune, file_options, xla_flags
from jaxstage_ext.core.options.flag_values import OptionError, build, check
from jaxstage_ext.core.recompile import preparation
from jaxstage_ext.worker import compile_environment, flag_text

OVERRIDE = "xla_gpu_gemm_autotuner_override_file"
FILES = """
xla_candidate_configs_file xla_dump_to xla_gpu_algorithm_denylist_path xla_gpu_cuda_data_dir
xla_gpu_dump_autotune_logs_to xla_gpu_dump_autotune_results_to xla_gpu_dump_cost_model_top_k_candidates_to
xla_gpu_experimental_autotuner_cache_dir xla_gpu_experimental_collective_perf_table_path
xla_gpu_experimental_matmul_perf_table_path xla_gpu_gemm_autotuner_override_file xla_gpu_kernel_cache_file
xla_gpu_llvm_ir_file xla_gpu_load_autotune_results_from xla_gpu_per_fusion_autotune_cache_dir
xla_gpu_pgle_profile_file_or_directory_path xla_gpu_ptx_file xla_gpu_target_config_filename xla_gpu_topology_filename
""".split()  # noqa: SIM905
"""The options of DebugOptions whose values are paths, read by hand in XLA's debug_options_flags.cc."""
LIBTPU = ("xla_tpu_autofdo_proposed_layout_file", "xla_tpu_impure_latency_hiding_scheduler_profile_path")
SPELLINGS = ("over.txtpb", "./over.txtpb", "sub/../over.txtpb", "a=b.txtpb", "sub/over.txtpb")
CONFIG = "config { block_m: 32 block_n: 32 block_k: 64 split_k: 1 num_stages: 1 num_warps: 2 num_ctas: 1 }\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The kernel's folder, with spaces and an equals sign, and with a file of options."""
    here = tmp_path / "my work = play"
    (here / "sub").mkdir(parents=True)
    monkeypatch.chdir(here)
    for name in compile_environment.READ_BY_XLA:
        monkeypatch.delenv(name, raising=False)
    for name in ("over.txtpb", "a=b.txtpb", "sub/over.txtpb"):
        Path(name).write_text(CONFIG)
    return here


def test_the_flags_that_name_files_are_those_of_the_installed_xla() -> None:
    known = {flag.name for flag in xla_flags.installed().by_name.values() if flag.type == "string"}
    assert {name for name in known if flag_text.paths(name, "value")} == known & {*FILES}


@pytest.mark.parametrize(("name", "value"), crossed(sorted({*FILES} - autotune.FILES), SPELLINGS))
def test_paths_are_absolute_from_the_kernel_s_folder(name: str, value: str, folder: Path) -> None:
    for given in (file_options.checked(name, value), file_options.absolute({name: value})[name]):
        assert os.path.isabs(given)
        assert Path(given).resolve() == (folder / value).resolve()
    assert file_options.names_files({name: value})


@pytest.mark.parametrize("name", LIBTPU)
def test_options_of_libtpu_are_paths_too(name: str, folder: Path) -> None:
    assert check({name: "layout.pb"}) == {name: str(folder / "layout.pb")}


def test_a_list_of_files(folder: Path) -> None:
    made = file_options.checked("xla_gpu_ptx_file", "over.txtpb,sub/over.txtpb")
    assert made == f"{folder}/over.txtpb,{folder}/sub/over.txtpb"


def test_a_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The magics and `inspect` know it; XLA and JAX take "~" for a name."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "over.txtpb").write_text(CONFIG)
    assert check({OVERRIDE: "~/over.txtpb"}) == {OVERRIDE: str(tmp_path / "over.txtpb")}
    assert file_options.absolute({OVERRIDE: "~/over.txtpb"})[OVERRIDE].endswith("/~/over.txtpb")


@pytest.mark.parametrize("name", ["xla_dump_to", "dump_to"])
def test_a_folder_to_dump_into_need_not_exist(name: str, folder: Path) -> None:
    assert build([f"{name}=dumps"]) == {"xla_dump_to": str(folder / "dumps")}
    assert build([f"{name}=-"]) == {"xla_dump_to": "-"}


@pytest.mark.parametrize("value", ["nowhere.txtpb", "~/nowhere.txtpb", "sub/nowhere.txtpb", "/nowhere.txtpb"])
def test_a_missing_file_is_an_error_with_its_full_path(value: str, folder: Path) -> None:
    path = str(folder / Path(value).expanduser())
    for make in (lambda: build([f"{OVERRIDE}={value}"]), lambda: check({OVERRIDE: value})):
        with pytest.raises(OptionError) as raised:
            make()
        assert str(raised.value) == f"{OVERRIDE}: there is no file {path!r}"


def test_a_folder_where_a_file_is_wanted(folder: Path) -> None:
    with pytest.raises(OptionError, match="is a directory, not a file"):
        check({OVERRIDE: "sub"})
    assert check({"xla_gpu_pgle_profile_file_or_directory_path": "sub"})


@pytest.mark.parametrize(
    "text",
    [
        "xla_tpu_keep_hlo_proto_literals_up_to=100", "xla_hlo_evaluator_use_fast_path=true", "xla_cpu_max_isa=AVX2",
        "xla_run_hlo_passes_starting_from=fusion", "xla_gpu_override_gemm_autotuner='block_m:_64'", "xla_dump_to=",
        "xla_gpu_gemm_autotuner_override_file=/over.txtpb", "xla_disable_hlo_passes=a,b",
    ],
)  # fmt: skip
def test_what_is_no_path_or_absolute_stays(text: str) -> None:
    assert flag_text.with_absolute_paths(f"--{text}") == f"--{text}"


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("--{o}=over.txtpb", '--{o}="{f}/over.txtpb"'),
        ("-{o}=over.txtpb", '-{o}="{f}/over.txtpb"'),
        ("--xla_a=1\n--{o}='over.txtpb'  --xla_b", '--xla_a=1\n--{o}="{f}/over.txtpb"  --xla_b'),
        ('--{o}="with space.txtpb" --xla_a', '--{o}="{f}/with space.txtpb" --xla_a'),
        ("--{o}=a=b.txtpb", '--{o}="{f}/a=b.txtpb"'),
        ("flags.txt", '"{f}/flags.txt"'),
        ("--xla_gpu_ptx_file=a.ptx,b.ptx", '--xla_gpu_ptx_file="{f}/a.ptx,{f}/b.ptx"'),
        ("--{o} over.txtpb", None),
        ("", ""),
    ],
)
def test_the_environment_of_a_worker_names_files_by_absolute_paths(
    text: str, made: str | None, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XLA_FLAGS", text.format(o=OVERRIDE))
    environment = compile_environment.current()
    if made is not None:
        assert environment.variable("XLA_FLAGS") == made.format(o=OVERRIDE, f=folder)
    assert file_options.environment_names_files(environment) == bool(text)


def test_libtpu_knows_no_quotes(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path with a space cannot be said to it."""
    text = f"--{LIBTPU[0]}=layout.pb --xla_tpu_rwb_fusion=false"
    monkeypatch.setenv("LIBTPU_INIT_ARGS", text)
    assert compile_environment.current().variable("LIBTPU_INIT_ARGS") == text
    monkeypatch.chdir(tmp_path)
    made = text.replace("=layout", f"={tmp_path}/layout")
    assert compile_environment.current().variable("LIBTPU_INIT_ARGS") == made


def by_option(value: str) -> tuple[Callable[..., Any], dict[str, Any]]:
    return lambda x: x @ x, {OVERRIDE: value}


def by_jit(value: str) -> tuple[Callable[..., Any], dict[str, Any]]:
    return jax.jit(lambda x: x @ x, compiler_options={OVERRIDE: value}), {}


X = jax.ShapeDtypeStruct((1024, 1024), jnp.bfloat16)


@pytest.mark.parametrize("way", [by_option, by_jit])
def test_a_worker_gets_the_file_of_the_kernel_s_folder(way: Any, folder: Path) -> None:
    """It is asked in a folder of its own, and what it compiles is no entry of the cache."""
    needs("h100")
    texts = []
    for value in ("over.txtpb", str(folder / "over.txtpb")):
        function, options = way(value)
        inspection = inspect(function, X, target="h100", compiler_options=options)
        prepared = preparation.prepared(inspection.program.staged)
        assert str(folder / "over.txtpb").encode() in prepared.request["options"]
        assert str(folder / "over.txtpb") in dict(prepared.environment.files)
        assert inspection.compiled.key is None
        texts.append(inspection.documents["hlo"].text)
    assert texts[0] == texts[1]
    if jax.__version_info__ < (0, 11):  # later ones write the tile elsewhere
        assert '"sizes":["32","32"]' in texts[0]


@pytest.mark.parametrize("way", [by_jit])
def test_a_missing_file_of_a_jitted_function_is_an_error_of_a_target_that_reads_it(way: Any, folder: Path) -> None:
    needs("h100")
    function, options = way("nowhere.txtpb")
    with pytest.raises(ValueError, match=r"there is no file '.*/my work = play/nowhere\.txtpb'"):
        inspect(function, X, target="h100", compiler_options=options)
    assert inspect(function, X, target="cpu:1").error is None


AT_START = """
import jax, jax.numpy as jnp, jaxstage_ext, sys
from jaxstage_ext.core.recompile import preparation
jax.devices()
if sys.argv[1] == "removed":
    import os
    del os.environ["XLA_FLAGS"]
x = jax.ShapeDtypeStruct((1024, 1024), jnp.bfloat16)
try:
    inspection = jaxstage_ext.inspect(lambda x: x @ x, x, target="h100")
    prepared = preparation.prepared(inspection.program.staged)
    print(inspection.compiled.key, prepared.overrides, dict(prepared.environment.files).keys())
except ValueError as error:
    print(error)
"""


@pytest.mark.once("a variable that a process began with, read by us")
@pytest.mark.parametrize("then", ["kept", "removed"])
@pytest.mark.parametrize("file", ["over.txtpb", "nowhere.txtpb"])
def test_the_flags_that_a_kernel_started_with(then: str, file: str, folder: Path) -> None:
    """XLA reads them once: they hold for each compile, also where the variable is removed."""
    needs("h100")
    environment = {**os.environ, "XLA_FLAGS": f"--{OVERRIDE}={file}", "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-c", AT_START, then]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100)
    path = str(folder / file)
    wanted = f"None { ({OVERRIDE: path}) } {({path: 0}).keys()}"
    assert done.stdout.strip() == (wanted if file == "over.txtpb" else f"{OVERRIDE}: there is no file {path!r}")


def test_a_compilation_cache_that_is_on_when_they_are_first_asked_for_is_not_of_xla_flags(tmp_path: Path) -> None:
    for read in (file_options.of_process, xla_flags.installed):
        read.cache_clear()
    before = jax.config.jax_compilation_cache_dir
    jax.config.update("jax_compilation_cache_dir", str(tmp_path))
    try:
        assert file_options.of_process() == {}
        assert str(tmp_path) not in str(xla_flags.installed().by_name)
    finally:
        jax.config.update("jax_compilation_cache_dir", before)
        for read in (file_options.of_process, xla_flags.installed):
            read.cache_clear()
