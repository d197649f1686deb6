"""A second look at an absent target: what its compiler said before is shown, and no worker is asked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from absent import needs

from jaxstage_ext import inspect
from jaxstage_ext.api.inspection import Inspection
from jaxstage_ext.core.stage.staged import Cache, CacheHit, Stage
from jaxstage_ext.core.targets import packages
from jaxstage_ext.program.head import stage_wording
from jaxstage_ext.report.unavailable import Unavailable
from jaxstage_ext.store import cache
from jaxstage_ext.worker import pool

X = np.arange(12, dtype=np.float32).reshape(3, 4)
NOTE = stage_wording.note(Stage("compile", hit=CacheHit(Cache.INSPECTION, 1.0))).partition("1 s")[0]


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The methods that workers are asked for."""
    methods: list[str] = []
    ask = pool.ask

    def noted(platform: str, request: dict[str, Any], *args: Any, **how: Any) -> Any:
        methods.append(request["method"])
        return ask(platform, request, *args, **how)

    monkeypatch.setattr(pool, "ask", noted)
    yield methods
    pool.close_all()


def plain() -> Any:
    def f(x):
        return jnp.sum(jnp.tanh(x @ x.T))

    return f


def note(inspection: Inspection) -> str | None:
    return inspection.summary()["stages"][-1]["note"]


def looks(target: str, **options: Any) -> list[Inspection]:
    return [inspect(plain(), X, target=target, **options) for _ in range(2)]


@pytest.mark.parametrize("target", ["cpu:4", "v5e:2x2", "h100:4"])
def test_the_second_look_asks_nobody_and_shows_the_same(target: str, asked: list[str]) -> None:
    needs(target)
    first, second = looks(target)
    assert asked.count("compile") == 1
    assert note(first) is None
    assert (note(second) or "").startswith(NOTE)
    assert second.compiled.seconds == first.compiled.seconds
    for kind in first.documents:
        assert second.documents[kind].text == first.documents[kind].text
        assert second.documents[kind].coverage == first.documents[kind].coverage
    assert second.compiled.proto == first.compiled.proto
    assert second.summary()["facts"] == first.summary()["facts"]
    assert second.summary()["notes"] == first.summary()["notes"]


def test_each_target_and_option_is_its_own(asked: list[str]) -> None:
    for target, options in (("cpu:4", {}), ("cpu:2", {}), ("cpu:4", {"xla_backend_optimization_level": 0})):
        inspect(plain(), X, target=target, compiler_options=options)
    assert asked.count("compile") == 3


def test_options_that_name_files_are_compiled_each_time(asked: list[str], tmp_path: Path) -> None:
    first, second = looks("cpu:2", compiler_options={"xla_dump_to": str(tmp_path)})
    assert asked.count("compile") == 2
    assert note(first) is note(second) is None


def test_flags_in_the_environment_count(asked: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for flags in ("", "--xla_cpu_enable_fast_math=true", "--xla_cpu_enable_fast_math=true", "--xla_dump_to=x"):
        monkeypatch.setenv("XLA_FLAGS", flags)
        pool.close_all()
        inspect(plain(), X, target="cpu:2")
    assert asked.count("compile") == 3


def test_a_failure_is_not_kept(asked: list[str]) -> None:
    def f(x):
        return jax.pure_callback(lambda y: y, x, x)

    for _ in range(2):
        with pytest.raises(Unavailable):
            inspect(f, X, target="v5e:2x2" if not packages.find("tpu").lacks else "cpu:0")


def cell(kernel: int) -> Any:
    """A function out of a cell of the kernel with that process id."""
    space: dict[str, Any] = {}
    source = "def f(x):\n    return x * 3 + 1\n"
    exec(compile(source, f"/tmp/ipykernel_{kernel}/1234.py", "exec"), space)
    return space["f"]


def test_a_later_kernel_finds_it_and_its_lines_are_its_own(asked: list[str], tmp_path: Path) -> None:
    cache.use_folder(tmp_path)
    found = []
    for kernel in (4711, 8472, 99):
        cache.clear()
        found.append(inspect(cell(kernel), X, target="cpu:1"))
        hlo = found[-1].documents["hlo"]
        spans = {(span.file, span.line) for n in range(len(hlo)) if (span := hlo.source_of(n + 1))}
        assert spans == {(f"/tmp/ipykernel_{kernel}/1234.py", 2)}
    assert (note(found[1]) or "").startswith(NOTE)
    assert asked.count("compile") == 2, "a process id of another length is another module"
    assert all(b"ipykernel_4711" not in path.read_bytes() for path in tmp_path.iterdir())


@pytest.mark.parametrize(
    "put", [lambda key: cache.put(key, b"junk"), lambda key: cache.store(key, {"seconds": 1}), lambda key: None]
)
def test_an_entry_of_another_form_is_a_miss(put: Any, asked: list[str]) -> None:
    key = inspect(plain(), X, target="cpu:2").compiled.key
    cache.clear()
    put(key)
    inspection = inspect(plain(), X, target="cpu:2")
    assert inspection.error is None and note(inspection) is None


def test_a_folder_that_cannot_be_written_is_one_note(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache.use_folder(tmp_path / "file")
    notes = [inspect(lambda x, n=n: x + n, X, target="cpu:2").summary()["notes"] for n in range(3)]
    assert [sum("inspection cache's folder" in note for note in told) for told in notes] == [1, 0, 0]


def test_devices_are_asked_for_once(asked: list[str]) -> None:
    needs("tpu")
    mesh = jax.sharding.AbstractMesh((2, 2), ("a", "b"))
    split = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("a"))
    for _ in range(2):
        inspect(
            jax.jit(lambda x: x + 1, in_shardings=split), jax.ShapeDtypeStruct((4, 4), np.float32), target="v5e:2x2"
        )
    assert asked.count("devices") <= 1
