"""What the memory of a call says in words: does it fit, what to change, arguments, results, constants; bad input."""

from __future__ import annotations

import json
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from absent import needs
from jax.sharding import NamedSharding, PartitionSpec

from jaxstage_ext import inspect
from jaxstage_ext.analysis.memory import fit, memory_wording
from jaxstage_ext.analysis.memory.entry_values import Donation
from jaxstage_ext.analysis.memory.fit import FitVerdict
from jaxstage_ext.analysis.memory.live_memory import Memory
from jaxstage_ext.analysis.memory.memory_advice import Suggestion
from jaxstage_ext.analysis.memory.spaces import Space
from jaxstage_ext.core.recompile.recompiled_buffers import Assigned
from jaxstage_ext.ir.hlo import buffer_assignment
from jaxstage_ext.program.questions import memory
from jaxstage_ext.report.unavailable import Unavailable

X = jnp.ones((256, 256))
DONATIONS = memory_wording.DONATIONS
LARGE = jnp.arange(1024 * 512.0).reshape(1024, 512)


pytestmark = pytest.mark.usefixtures("no_workers_left", "kept_answers")


def of(function: Any, *arguments: Any, target: str = "local") -> Memory:
    return inspect(function, *arguments, stage="lower", target=target).memory


def by(table: Any, name: str) -> dict[Any, dict[str, Any]]:
    return {row[name]: row for row in table.rows()}


def test_arguments_by_name_with_what_became_of_their_donation() -> None:
    def f(p: Any, x: jax.Array, unused: jax.Array, *rest: Any) -> Any:
        return {"loss": (x @ p["w"]).sum(), "w": p["w"] * 2}, rest[0] + 1

    jitted = jax.jit(f, donate_argnums=(0, 1, 2), keep_unused=False)
    arguments = ({"w": X, "b": [jnp.ones(3)]}, jnp.ones((5, 256)), jnp.ones(77), jnp.ones(9))
    with pytest.warns(UserWarning, match="donated buffers were not usable"):
        found = of(jitted, *arguments)
    table = by(found.arguments, "argument")
    assert table["p['w']"]["state"] == DONATIONS[Donation.USED]
    assert table["p['w']"]["memory reused by"] == "result[0]['w']"
    assert table["p['w']"]["size"] == 256 * 256 * 4 and table["p['w']"]["shape"] == "f32[256,256]"
    assert table["x"]["state"] == DONATIONS[Donation.UNUSED]
    assert table["unused"]["state"] == table["p['b'][0]"]["state"] == DONATIONS[Donation.DONATED_PRUNED]
    assert table["unused"]["size"] is None
    assert found.arguments.reasons[len(table) - 1, "size"] == memory_wording.PRUNED
    assert table["rest[0]"]["state"] == DONATIONS[Donation.NOT_DONATED]
    results = by(found.results, "result")
    assert results["result[0]['w']"]["reuses memory of"] == "p['w']"
    assert results["result[1]"]["reuses memory of"] == ""
    assert results["result[0]['loss']"]["size"] == 4
    assert by(found.peak_set, "buffer")["p['w']"]["why"] == f"{memory_wording.GIVEN}, donated"


def test_an_argument_that_the_function_keeps_but_does_not_read() -> None:
    found = of(jax.jit(lambda x, y: x * 2, keep_unused=True), X, jnp.ones(3))
    assert by(found.arguments, "argument")["y"]["used"] is False
    assert by(found.arguments, "argument")["x"]["used"] is True


def test_more_arguments_than_a_tpu_takes_one_by_one() -> None:
    needs("v5e:2x2")
    many = tuple(jnp.ones(3) for _ in range(2100))
    found = of(lambda *a: sum(a), *many, target="v5e:2x2")
    assert len(found.arguments) == 2100 and set(found.arguments["size"]) == {512.0}


def test_effects_put_tokens_before_arguments_and_results() -> None:
    def f(x: jax.Array) -> jax.Array:
        jax.debug.print("{}", x[0, 0], ordered=True)
        return x * 2

    found = of(f, X)
    assert found.arguments["argument"] == ["x"] and found.arguments["size"][0] == X.nbytes
    assert [*found.results["result"]] == ["token", "result"]


def test_sizes_are_those_of_one_device() -> None:
    mesh = jax.make_mesh((4,), ("d",))
    sharded = jax.jit(lambda a, b: a @ b, in_shardings=(NamedSharding(mesh, PartitionSpec("d")), None))
    table = by(of(sharded, X, X, target="cpu:4").arguments, "argument")
    assert (table["a"]["size"], table["a"]["shape"]) == (X.nbytes // 4, "f32[64,256]")
    assert table["b"]["size"] == X.nbytes


def test_what_to_change() -> None:
    found = of(lambda x, y: (x + LARGE.T @ LARGE @ y, x.sum()), jnp.ones((512, 512)), jnp.ones((512, 512)))
    advice = by(found.advice, "what")
    [suggested] = [item for item in found.suggestions if item.kind is Suggestion.NOT_DONATED]
    assert (suggested.names, suggested.bytes) == (("x",), 512 * 512 * 4)
    row = advice[memory_wording.SUGGESTIONS[Suggestion.NOT_DONATED]]
    assert " x" in row["how"] and row["bytes"] == 512 * 512 * 4
    text = str(found)
    assert f"1.05 MB. {row['how']}" in text and text.startswith(found.fit.text)


def test_captured_constants_by_their_python_name() -> None:
    found = of(lambda x: LARGE * x, jnp.ones((1024, 512)))
    row = by(found.constants, "constant")["LARGE"]
    assert (row["size"], row["shape"], row["in the program"]) == (LARGE.nbytes, "f32[1024,512]", True)
    [captured] = [item for item in found.suggestions if item.kind is Suggestion.CONSTANTS]
    assert captured.names == ("LARGE",)
    assert "LARGE" in by(found.advice, "what")[memory_wording.SUGGESTIONS[Suggestion.CONSTANTS]]["how"]


def test_a_captured_constant_that_xla_transposes_is_in_the_program_all_the_same() -> None:
    class Model:
        def __init__(self) -> None:
            self.w = {"k": LARGE}

        def __call__(self, x: jax.Array) -> jax.Array:
            return jnp.tanh(x @ self.w["k"])

    found = of(Model(), jnp.ones((8, 1024)))
    assert by(found.constants, "constant")["Model.w['k']"]["in the program"] is True
    assert by(found.advice, "what")[memory_wording.SUGGESTIONS[Suggestion.CONSTANTS]]["bytes"] == LARGE.nbytes


def test_a_constant_that_xla_folded_takes_no_memory() -> None:
    found = of(lambda x: LARGE.sum() + x, jnp.float32(1))
    assert found.constants["in the program"] == [False]
    assert "Captured constants" not in found.advice["what"]


def test_padding_is_waste() -> None:
    needs("v5e:2x2")
    found = of(lambda x: jnp.cos(x), jnp.ones((4096, 3)), target="v5e:2x2")
    padding = by(found.advice, "what")["Padding"]
    assert padding["bytes"] > 0 and "f32[4096,3]" in padding["how"]


def test_a_compile_that_ran_out_of_memory_shows_what_took_it() -> None:
    needs("v5e:2x2")
    shape = jax.ShapeDtypeStruct((1 << 17, 1 << 14), jnp.float32)

    def large(x: jax.Array, w: jax.Array) -> Any:
        return (jnp.tanh(x @ w) * (jnp.sin(x) @ w)).sum(), jnp.cumsum(jnp.tanh(x @ w), 0)

    with pytest.raises(jax.errors.JaxRuntimeError, match="RESOURCE_EXHAUSTED") as caught:
        inspect(large, shape, jax.ShapeDtypeStruct((1 << 14, 1 << 14), jnp.float32), target="v5e:2x2")
    found = caught.value.inspection.memory  # type: ignore[attr-defined]
    assert found.fit.fits is False and found.error and "RESOURCE_EXHAUSTED" in found.error
    assert found.fit.verdict is FitVerdict.REFUSED
    assert all(figure in found.fit.text for figure in ("26.8 GB", "159%", "16.9 GB"))
    needed, there = fit.exceeded(found.error) or (0, 0)
    assert abs(found.fit.needed - needed) < 0.01 * needed and there == found.fit.room
    assert by(found.arguments, "argument")["x"]["size"] == 4 << 31
    here = str(large.__code__.co_firstlineno + 1)
    assert here in {row["line"].rpartition(":")[2] for row in found.peak_set.rows() if row["kind"] == "temporary"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("required for HLO temporaries (25.00G) exceeds available HBM (15.75G). HLO module", (25 << 30, 63 << 28)),
        ("temporaries (300.50M) exceeds available HBM (512.0K)", (601 << 19, 512 << 10)),
        ("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 8589934592 bytes.", None),
        ("", None),
    ],
)
def test_libtpus_words_for_out_of_memory(text: str, expected: tuple[int, int] | None) -> None:
    assert fit.exceeded(text) == expected


def fits(platform: str, reserved: int, room: int | None, **more: Any) -> fit.Fit:
    space = Space(0, "HBM", reserved, reserved, 0, 0, reserved)
    device = fit.DeviceMemory("one X", room, "nobody says how much it has")
    nothing: Any = None
    return Memory(nothing, nothing, platform, device, (space,), more.pop("stats", {}), None, **more).fit


def test_does_it_fit() -> None:
    gb = 10**9
    found = fits("cuda", gb, 80 * gb)
    assert (found.verdict, found.needed, found.room) == (FitVerdict.FITS, gb, 80 * gb)
    assert all(figure in found.text for figure in ("1 GB", "80 GB", "one X", "(1%)"))
    assert "XLA_PYTHON_CLIENT_MEM_FRACTION" in fits("cuda", 70 * gb, 80 * gb).text
    found = fits("cuda", 90 * gb, 80 * gb)
    assert found.verdict is FitVerdict.DOES_NOT_FIT
    assert all(figure in found.text for figure in ("90 GB", "80 GB", "one X", "113%"))
    assert fits("cuda", gb, None).fits is None and "nobody says" in fits("cuda", gb, None).text
    assert fits("tpu", gb, None).fits is True
    assert fits("tpu", gb, 16 * gb, stats={"generated_code_size_in_bytes": gb}).needed == 2 * gb


def test_programs_with_next_to_nothing_in_them() -> None:
    for function, arguments in (
        (lambda: (), ()),
        (lambda x: x, (X,)),
        (lambda: jnp.arange(5.0), ()),
        (lambda x: x * 2, (jnp.ones((0, 3)),)),
        (lambda x: x, (jnp.float32(1),)),
        (lambda k: jax.random.normal(k, (8,)), (jax.random.key(0),)),
        (lambda x: None, (X,)),
        (lambda x: x.astype(jnp.int4), (jnp.ones(16, jnp.int8),)),
        (lambda x: ~x, (jnp.ones(3, bool),)),
        (lambda x: jnp.fft.fft(x), (jnp.ones(64),)),
        (lambda x: x.sum((0, 2)), (jnp.ones((2, 3, 4, 5, 6, 2)),)),
        (lambda x: jax.lax.while_loop(lambda c: c.sum() > 1, lambda c: c * 0.5, x), (X,)),
    ):
        found = of(function, *arguments)
        assert found.fit.fits and len(found.arguments) == len(arguments)
        assert sum(found.peak_set["size"]) == found.space().peak
        json.loads(found.to_json())


def test_a_thousand_devices() -> None:
    needs("v5e:2x2")
    rows = jax.ShapeDtypeStruct((1024, 256), jnp.float32)
    inspection = inspect(
        lambda x, w: jnp.tanh(x @ w),
        *(rows, jax.ShapeDtypeStruct((256, 256), jnp.float32)),
        stage="lower",
        target="v5p:8x8x16",
        mesh="data=1024",
        in_specs=(PartitionSpec("data"), PartitionSpec()),
    )
    found = inspection.memory
    table = by(found.arguments, "argument")
    assert (table["x"]["shape"], table["x"]["size"]) == ("f32[1,256]", 1024)
    assert table["w"]["size"] == 256 * 256 * 4 and found.fit.fits


def test_shapes_that_xla_does_not_know() -> None:
    from jax import export

    (b,) = export.symbolic_shape("b")
    inspection = inspect(lambda x: x * 2, jax.ShapeDtypeStruct((b, 4), jnp.float32), stage="lower")
    with pytest.raises(jax.errors.JaxRuntimeError, match="can't be translated to XLA HLO"):
        _ = inspection.memory


def test_a_memory_that_there_is_not() -> None:
    with pytest.raises(ValueError, match="this program has no memory 'HBM'; it has memory"):
        of(lambda x: x + 1, X).timeline("HBM")


def test_nothing_lowered_and_no_assignment() -> None:
    traced = inspect(lambda x: x, X, stage="trace")
    with pytest.raises(Unavailable, match="was not lowered here, so its memory is unknown"):
        _ = traced.memory
    lowered = inspect(lambda x: x, X, stage="lower")
    with pytest.raises(Unavailable, match="XLA gives no buffer assignment of <lambda>"):
        memory.read(lowered.program, Assigned("cpu", b"", {}))
    with pytest.raises(ValueError, match="not a buffer assignment"):
        buffer_assignment.read(b"\x1a\xff\xff\xff\xff\x0f")


def test_timeline_and_figure() -> None:
    inspection = inspect(lambda x: jnp.sin(x) @ x @ x, X, stage="lower")
    timeline = inspection.memory.timeline()
    assert max(timeline["live"]) == inspection.memory.space().peak
    assert list(timeline["position"]) == sorted(timeline["position"])
    go = pytest.importorskip("plotly.graph_objects")
    figure = inspection.memory_figure()
    assert isinstance(figure, go.Figure)
    assert max(figure.data[0].y) == inspection.memory.space().peak
    assert len(figure.data[0].x) == len(timeline)


def test_a_long_timeline_is_thinned_and_keeps_its_extremes() -> None:
    from jaxstage_ext.views.charts import memory_chart

    values = np.random.default_rng(0).integers(0, 1000, 100_000).tolist()
    values[54_321], values[77_777] = 5000, -5000
    kept = memory_chart._thinned(values)
    assert len(kept) < 25_000 and {54_321, 77_777, 0, 99_999} <= set(kept)


def test_pandas_and_json() -> None:
    found = of(lambda x: x @ x, X)
    assert set(json.loads(found.to_json())) == {"peak", "arguments", "results", "constants", "advice", "checks"}
    pandas = pytest.importorskip("pandas")
    assert isinstance(found.to_pandas(), pandas.DataFrame)
