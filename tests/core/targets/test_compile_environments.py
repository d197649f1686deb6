"""A compile and all recompiles of its program are made in one environment, which is the one that their keys hold."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from absent import needs
from crossed import crossed

from jaxstage_ext import inspect
from jaxstage_ext.api.inspection import Inspection
from jaxstage_ext.core.options import autotune
from jaxstage_ext.core.recompile import preparation
from jaxstage_ext.core.targets import environments, packages
from jaxstage_ext.core.targets.prepared import Prepared
from jaxstage_ext.report.unavailable import Unavailable
from jaxstage_ext.store import cache
from jaxstage_ext.worker import compile_environment, pool

X = jax.ShapeDtypeStruct((512, 512), np.float32)
UNFUSED = "--xla_tpu_rwb_fusion=false --xla_tpu_dot_dot_fusion=false"
RESULTS = 'version: 3\nresults { device: "CUDA: 9.0, DNN version: 9.1.2" hlo: "{ dot }" version: 1 }\n'
PROGRAM = """
import jax, jax.numpy as jnp
def attention(x):
    return (jax.nn.softmax(jnp.exp(jnp.tanh(x @ x) * 3 + 1) @ x)).sum(0)
"""
SPACE: dict[str, Any] = {}
exec(compile(PROGRAM, "/tmp/attention.py", "exec"), SPACE)


@pytest.fixture(autouse=True)
def workers(workers_of_our_own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in compile_environment.READ_BY_XLA:
        monkeypatch.delenv(name, raising=False)


def inspected(target: str, **options: Any) -> Inspection:
    return inspect(SPACE["attention"], X, target=target, compiler_options=options)


def environment_of_process(pid: int) -> dict[str, str]:
    entries = Path(f"/proc/{pid}/environ").read_text().split("\0")
    return dict(entry.split("=", 1) for entry in entries if entry)


def last_module(inspection: Inspection) -> str:
    """The module after the last pass, without what XLA adds to the one that it gives away."""
    versions = inspection.passes.versions
    return versions[len(versions) - 1]


def test_a_worker_has_the_environment_that_the_key_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """However the kernel's own has changed since the key was made."""
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_enable_fast_math=true")
    monkeypatch.setenv("PJRT_NPROC", "2")
    prepared = preparation.prepared(inspect(lambda x: x + 1, 1.0, target="cpu:2", stage="lower").program.staged)
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_enable_fast_math=false")
    monkeypatch.setenv("TRITON_F32_DEFAULT", "tf32")
    monkeypatch.delenv("PJRT_NPROC")
    prepared.ask("compile", large_constants=True)
    had = environment_of_process(pool.running()["cpu"])
    decides = {name: value for name, value in had.items() if compile_environment.decides(name)}
    assert decides == dict(prepared.environment.variables)
    assert decides["XLA_FLAGS"] == "--xla_cpu_enable_fast_math=true" and decides["PJRT_NPROC"] == "2"


@pytest.mark.parametrize(
    ("variable", "lane"),
    crossed(["LIBTPU_INIT_ARGS", "XLA_FLAGS", "PJRT_NPROC", "TPU_MEGACORE"], [pool.COMPILE, pool.RECOMPILE]),
)
def test_a_warm_worker_of_another_environment_is_replaced(
    variable: str, lane: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = {"LIBTPU_INIT_ARGS": UNFUSED, "XLA_FLAGS": "--xla_cpu_enable_fast_math=true"}

    def ping() -> int:
        environment = environments.taken("cpu")
        return int(pool.ask("cpu", {"method": "ping"}, lane=lane, environment=environment)["pid"])

    first, same = ping(), ping()
    monkeypatch.setenv(variable, values.get(variable, "1"))
    second, third = ping(), ping()
    assert first == same != second == third


@pytest.mark.needs("tpu")
def test_a_changed_library_is_not_answered_for_by_the_warm_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker keeps the libtpu that it has loaded."""
    inspected("v5e:2x2")
    (tmp_path / "libtpu.so").write_bytes(b"not a library")
    monkeypatch.setenv("TPU_LIBRARY_PATH", str(tmp_path / "libtpu.so"))
    with pytest.raises(Exception, match=r"libtpu\.so"):
        inspected("v5e:2x2")


@pytest.mark.needs("tpu")
def test_options_of_libtpu_that_change_in_between_have_modules_and_entries_of_their_own(tmp_path: Path) -> None:
    """Each module is the one that a kernel started with these options gets, from the compiler and from the folder."""
    used, empty = tmp_path / "used", tmp_path / "empty"
    [(fused, _), (unfused, kept)] = kernel_with(used, "", UNFUSED)
    assert fused != unfused and not kept
    assert kernel_with(empty, UNFUSED) == [(unfused, False)]
    assert kernel_with(used, UNFUSED, "") == [(unfused, True), (fused, True)]


def kernel_with(folder: Path, *arguments: str) -> list[tuple[str, bool]]:
    """The modules of a new kernel whose LIBTPU_INIT_ARGS changes, and whether they came from its cache's folder."""
    code = f"""
import json, os, sys, numpy as np, jax, jaxstage_ext
space = {{}}
exec(compile({PROGRAM!r}, "/tmp/attention.py", "exec"), space)
x, made = jax.ShapeDtypeStruct((512, 512), np.float32), []
for os.environ["LIBTPU_INIT_ARGS"] in sys.argv[1:]:
    inspection = jaxstage_ext.inspect(space["attention"], x, target="v5e:2x2")
    made.append([inspection.documents["hlo"].text, inspection.compiled.kept])
print(json.dumps(made))
"""
    environment = {**os.environ, "LIBTPU_INIT_ARGS": arguments[0], "JAXSTAGE_CACHE_DIR": str(folder)}
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return [(text, kept) for text, kept in json.loads(done.stdout.splitlines()[-1])]


@pytest.mark.needs("tpu")
def test_a_panel_s_recompiles_are_of_the_environment_of_its_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another tab of a panel is opened after LIBTPU_INIT_ARGS has changed."""
    expected = last_module(inspected("v5e:2x2"))
    cache.clear()
    first = inspected("v5e:2x2")
    monkeypatch.setenv("LIBTPU_INIT_ARGS", UNFUSED)
    second = inspected("v5e:2x2")
    assert last_module(first) == expected != last_module(second)


def test_a_file_that_changes_after_the_compile_is_no_part_of_its_program(tmp_path: Path) -> None:
    needs("h100")
    file = tmp_path / "results.txtpb"
    file.write_text(RESULTS)
    inspection = inspected("h100", **{autotune.LOAD: str(file)})
    file.write_text(RESULTS.replace("{ dot }", "{ another dot }"))
    with pytest.raises(Unavailable) as raised:
        inspection.passes  # noqa: B018
    assert str(raised.value) == f"{str(file)!r} has changed since this program was compiled; run its cell again"


def test_a_compiler_that_is_replaced_after_the_compile_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    inspection = inspected("cpu:2")
    identity = packages.identity
    monkeypatch.setattr(packages, "identity", lambda platform: (*identity(platform), "replaced"))
    with pytest.raises(Unavailable, match="jaxlib was replaced since this program was compiled; run its cell again"):
        inspection.passes  # noqa: B018
    assert inspected("cpu:2").passes


def test_a_worker_whose_compiler_is_replaced_while_it_is_asked_answers_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even where the old one is put back: it may have loaded either."""
    assert inspected("cpu:2").passes
    pid, ask, identity = pool.running()["cpu/recompile"], pool.ask, packages.identity

    def replaced(*arguments: Any, **how: Any) -> Any:
        answer = ask(*arguments, **how)
        monkeypatch.setattr(packages, "identity", lambda platform: (*identity(platform), "replaced"))
        return answer

    cache.clear()
    inspection = inspected("cpu:2")
    cache.clear()
    monkeypatch.setattr(pool, "ask", replaced)
    with pytest.raises(Unavailable, match="jaxlib was replaced while this program was compiled; run its cell again"):
        inspection.passes  # noqa: B018
    monkeypatch.setattr(packages, "identity", identity)
    monkeypatch.setattr(pool, "ask", ask)
    assert inspected("cpu:2").passes
    assert pool.running()["cpu/recompile"] != pid


def test_a_jaxlib_that_is_not_the_kernel_s_compiles_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """pip installs another one in the running kernel; its workers would load it."""
    version = packages.version_of
    monkeypatch.setattr(packages, "version_of", lambda name: "9.9.9" if name == "jaxlib" else version(name))
    with pytest.raises(ValueError, match=r"jaxlib 9\.9\.9 is installed, but this kernel has loaded .*; restart"):
        inspected("cpu:2")
    assert inspect(lambda x: x + 1, 1.0).error is None


RACES = ("while it is asked", "before it is asked")


@pytest.mark.parametrize("when", RACES)
@pytest.mark.needs("tpu")
def test_an_environment_that_changes_during_a_request_is_not_in_its_answer(
    when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = inspected("v5e:2x2").documents["hlo"].text
    cache.clear()
    pool.close_all()
    ask = Prepared.ask

    def changed(self: Prepared, *arguments: Any, **how: Any) -> Any:
        if when == "before it is asked":
            monkeypatch.setenv("LIBTPU_INIT_ARGS", UNFUSED)
        answer = ask(self, *arguments, **how)
        monkeypatch.setenv("LIBTPU_INIT_ARGS", UNFUSED)
        return answer

    monkeypatch.setattr(Prepared, "ask", changed)
    for _ in range(2):
        assert inspected("v5e:2x2").documents["hlo"].text == expected
        monkeypatch.delenv("LIBTPU_INIT_ARGS", raising=False)


LOCAL = """
import os, json, sys, jax, jaxstage_ext, jax.numpy as jnp
from jaxstage_ext.store import cache
cache.enable(False)
x, shown = jnp.ones((64, 64)), []
for change in ({}, {"XLA_FLAGS": sys.argv[1]}):
    os.environ.update(change)
    inspection = jaxstage_ext.inspect(lambda x: jnp.tanh(x @ x).sum(), x)
    versions = inspection.passes.versions
    modules = [inspection.documents["hlo"].text, versions[len(versions) - 1]]
    shown.append([modules, inspection.summary()["notes"]])
print(json.dumps(shown))
"""
OTHER = "--xla_cpu_enable_fast_math=true --xla_backend_optimization_level=0"


@pytest.mark.parametrize(
    ("at_start", "later"), [("", OTHER), (OTHER, ""), (OTHER, "--xla_disable_all_hlo_passes=true")]
)
def test_a_local_program_s_recompiles_have_the_flags_that_its_kernel_read(at_start: str, later: str) -> None:
    """HLO and the module after the last pass, before and after XLA_FLAGS changes, which XLA reads once."""
    environment = {**os.environ, "XLA_FLAGS": at_start, "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-c", LOCAL, later]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    (before, notes), (after, later_notes) = json.loads(done.stdout.splitlines()[-1])
    assert before == after
    told = [note for note in later_notes if note.startswith("XLA_FLAGS was changed after XLA read it")]
    assert bool(told) == bool(later) and not notes
