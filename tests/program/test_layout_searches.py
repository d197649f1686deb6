"""Layouts of real programs: textbook answers, the user's own specs, code that gives a layout's compile."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import PartitionSpec as P
from layout_costs import LayoutCosts
from searched_models import Step, conv, mlp, moe, shape

import jaxstage_ext
from jaxstage_ext.api.find_shardings import ShardingSearch
from jaxstage_ext.core.layout.meshes import MeshError
from jaxstage_ext.core.layout.partitioner import Partitioner
from jaxstage_ext.program.searching import kept_estimates, layout_scoring
from jaxstage_ext.program.searching.layout_call import axis_spec
from jaxstage_ext.program.searching.program_search import FixedChoices, SearchBudget, kept_search, search_program
from jaxstage_ext.program.searching.scoring_device import scoring_device
from jaxstage_ext.report.unavailable import Unavailable
from jaxstage_ext.search.kinds import LayoutKind
from jaxstage_ext.search.layout_result import CompiledState, DecisionKind, ScoredLayout
from jaxstage_ext.search.layout_specs import LayoutSpecs
from jaxstage_ext.search.path_rules import spec_of

TARGET, HERE = "cpu:8", "cpu:4"


def searched(model: tuple[Step, tuple[Any, ...]], target: str = TARGET, **how: Any) -> ShardingSearch:
    fn, args = model
    return jaxstage_ext.find_shardings(fn, *args, target=target, **{"confirm": 0, "most_axes": 2, **how})


@pytest.fixture(scope="module")
def small() -> ShardingSearch:
    return searched(mlp(256, 1024, 65536))


TEXTBOOK = {
    "small: data": (mlp(256, 1024, 65536), {LayoutKind.DATA, LayoutKind.FSDP}),
    "big: tensor": (mlp(4096, 16384, 64), {LayoutKind.TENSOR, LayoutKind.TWO_D}),
    "experts": (moe(32, 1024, 4096, 1024), {LayoutKind.EXPERT}),
    "convolutions: data": (conv(64, 256), {LayoutKind.DATA, LayoutKind.FSDP}),
}


@pytest.mark.parametrize("name", TEXTBOOK)
def test_textbook_answers(name: str) -> None:
    model, kinds = TEXTBOOK[name]
    found = searched(model)
    assert found.best.kind in kinds
    assert found.lost == 0
    [main, *_] = found.decisions()
    assert main.kind is DecisionKind.SPLIT and main.axis == found.best.candidate.axes[0].name  # type: ignore[union-attr]


@pytest.mark.seldom("each takes a search of its own; the kinds themselves are in the others")
def test_more_textbook_answers() -> None:
    assert searched(conv(1024, 2)).best.kind in (LayoutKind.DATA_SPATIAL, LayoutKind.MIXED)
    tight = mlp(16384, 65536, 65536)
    on_chip = searched(tight, "v5e:2x4").best
    assert on_chip.estimate.argument_bytes < 16 << 30


def test_estimates_are_those_of_the_other_reckoning(small: ShardingSearch) -> None:
    """Collectives and products by `LayoutCosts`, which goes through operations one by one; unknown on a CPU."""
    program = jaxstage_ext.inspect(*(fn := mlp(256, 1024, 65536))[:1], *fn[1], stage="lower", target="h100:8").program
    search = search_program(program, FixedChoices(most_axes=1), SearchBudget(60))
    device, module = scoring_device(program), search.searchable.module
    costs = LayoutCosts(module, "cuda", device.ceilings)
    for layout in search.found.layouts:
        specs = LayoutSpecs(tuple(layout.mesh.items()), layout.specs, layout.results)
        [made] = search.searchable.partitioner.partition([layout_scoring.module_layout(specs)])
        assert not isinstance(made, Unavailable)
        work = costs.work(made, device.links_of(tuple(layout.mesh.values())))
        assert work.communication is not None and work.matmul is not None and work.compute is not None
        assert layout.estimate.collectives == pytest.approx(work.communication)
        border = (made.argument_bytes + made.result_bytes) / (device.ceilings.bandwidth or 1)  # type: ignore[union-attr]
        inside = work.compute - work.matmul - border
        assert layout.estimate.work == pytest.approx(work.matmul + border + 0.4 * max(0.0, inside))
    on_cpu = small.best.estimate
    assert (on_cpu.middle, on_cpu.compute, on_cpu.collectives) == (None, None, None)
    assert on_cpu.cost > 0 and len(on_cpu.unknown) == 2


def test_an_elementwise_program_takes_time() -> None:
    shape: Any = jax.ShapeDtypeStruct((1 << 20, 8), jnp.float32)
    best = searched((lambda x: jnp.tanh(x) * 2, (shape,)), "h100:8").best
    assert best.estimate.collectives == 0.0
    bandwidth = 3.35e12
    assert best.estimate.least == pytest.approx(2 * (1 << 20) * 8 * 4 / 8 / bandwidth, rel=0.05)


def test_data_that_a_result_is_as_large_as_are_no_parameters() -> None:
    params: Any = {"up": shape(64, 256), "down": shape(256, 64)}
    search = searched((lambda params, x: jnp.tanh(x @ params["up"]) @ params["down"], (params, shape(4096, 64))))
    assert search.best.kind is LayoutKind.DATA
    assert len(search.found.notes) == 1 and "params" in search.found.notes[0]


@pytest.mark.seldom("compiles five layouts each of four programs for two targets")
@pytest.mark.parametrize("target", ["v5e:2x4", "h100:8"])
def test_the_best_compiled_layout_is_among_the_first_kinds(target: str) -> None:
    """At the default effort. Of the first kinds three are compiled, so that the best is among them."""
    for model in (mlp(256, 1024, 65536), mlp(4096, 16384, 256), moe(32, 1024, 4096, 1024), conv(32, 256)):
        search = searched(model, target, confirm=5, effort="default")
        compiled = [one for one in search.found.layouts if one.compiled is not None]
        assert search.best in compiled[:3]


def step(params: Any, x: jax.Array, y: jax.Array) -> Any:
    def loss(params: Any) -> jax.Array:
        return jnp.mean((jax.nn.relu(x @ params["layers"][0]["w"]) @ params["layers"][1]["w"] - y) ** 2)

    value, gradient = jax.value_and_grad(loss)(params)
    return jax.tree.map(lambda p, g: p - 1e-3 * g, params, gradient), value


def arguments() -> dict[str, Any]:
    layers = [{"w": jnp.ones((64, 256))}, {"w": jnp.ones((256, 64))}]
    return {"params": {"layers": layers}, "x": jnp.ones((512, 64)), "y": jnp.ones((512, 64))}


@pytest.fixture(scope="module")
def mixed() -> tuple[ShardingSearch, ScoredLayout, Any]:
    """A search, its layout with tensor parallelism and stored parameters, and that compiled."""
    search = searched((step, tuple(arguments().values())), HERE)
    layout = next(one for one in search.found.layouts if one.kind is LayoutKind.FSDP_TENSOR and len(one.mesh) == 2)
    opened = search.open(layout.number)
    assert opened.error is None
    return search, layout, opened.program.executable


def collectives(text: str) -> list[str]:
    names = "all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute"
    return sorted(re.findall(rf" ({names})(?:-start)?\(", text))


def test_pasted_specs_and_options_give_the_layouts_compile(mixed: tuple[ShardingSearch, ScoredLayout, Any]) -> None:
    search, layout, compiled = mixed
    space: dict[str, Any] = {}
    exec(search.code("in_specs", layout.number), space)
    how = {name: space[name] for name in ("mesh", "in_specs", "out_specs")}
    pasted = jaxstage_ext.inspect(step, *arguments().values(), target=HERE, **how)
    assert pasted.program.executable.as_text() == compiled.as_text()
    line = search.code("magic options", layout.number)
    mesh, given, made = re.fullmatch(r'--mesh "(.*)" --in-spec "(.*)" --out-spec "(.*)"', line).groups()  # type: ignore[union-attr]
    assert dict(part.split("=") for part in mesh.split(",")) == {n: str(s) for n, s in layout.mesh.items()}
    assert eval(f"dict({given})", {"P": P}) == space["in_specs"] and eval(made, {"P": P}) == space["out_specs"]


@pytest.mark.parametrize("form", ["device_put", "explicit sharding"])
def test_pasted_code_gives_the_layouts_compile(form: str, mixed: tuple[ShardingSearch, ScoredLayout, Any]) -> None:
    search, layout, compiled = mixed
    space: dict[str, Any] = {**arguments(), "step": step}
    code = search.code(form, layout.number).replace("jax.set_mesh(mesh)", "entered = jax.set_mesh(mesh)")
    exec(code, space)
    try:
        own = space["step"].lower(space["params"], space["x"], space["y"]).compile()
    finally:
        if "entered" in space:
            space["entered"].__exit__(None, None, None)
    assert collectives(own.as_text()) == collectives(compiled.as_text()) != []
    given = [axis_spec(one.spec, 2) for one in jax.tree.leaves(own.input_shardings[0])]
    assert given == list(layout.specs)


def test_pasted_code_with_static_and_donated_arguments_gives_the_layouts_compile() -> None:
    def scaled(params: Any, x: jax.Array, y: jax.Array, rate: float, kind: str) -> Any:
        made, loss = step(params, x, y)
        return jax.tree.map(lambda p: p * rate if kind == "decayed" else p, made), loss

    given = arguments()
    jitted = jax.jit(scaled, static_argnums=(3, 4), donate_argnums=0)
    search = searched((jitted, (*given.values(), 0.9, "decayed")), HERE, most_axes=1)
    layout = next(one for one in search.found.layouts if one.kind is LayoutKind.FSDP)
    compiled = search.open(layout.number).program.executable.as_text()
    for form in ("device_put", "explicit sharding"):
        space: dict[str, Any] = {**given, "scaled": jitted}
        code = search.code(form, layout.number).replace("jax.set_mesh(mesh)", "entered = jax.set_mesh(mesh)")
        exec(code, space)
        try:
            own = space["scaled"].lower(*(space[name] for name in given), 0.9, "decayed").compile().as_text()
        finally:
            if "entered" in space:
                space["entered"].__exit__(None, None, None)
        assert collectives(own) == collectives(compiled) != []
        assert own.count("may-alias") == compiled.count("may-alias") == 2, "both weights are donated"


def test_rules_give_the_layouts_specs(mixed: tuple[ShardingSearch, ScoredLayout, Any]) -> None:
    search, layout, _ = mixed
    space: dict[str, Any] = {}
    exec(search.code("rules by path", layout.number), space)
    problem = search._search.problem
    rules = [(pattern, axis_spec(spec, 2)) for pattern, spec in space["rules"]]
    assert [spec_of(argument.path, rules) for argument in problem.arguments] == list(layout.specs)
    tensor = [one for one in search.found.layouts if one.kind is LayoutKind.DATA_TENSOR and one.candidate]
    plain = next(one for one in tensor if not one.candidate.storing)  # type: ignore[union-attr]
    exec(search.code("logical axis rules", plain.number), space)
    names = {name: axes if isinstance(axes, tuple) else (axes,) for name, axes in space["logical_axis_rules"]}
    by_rules = [tuple(names.get(name, ()) for name in argument.dimensions) for argument in problem.arguments]
    assert by_rules == list(plain.specs)


def test_a_planted_spec_of_the_users_own_is_blamed(mixed: tuple[ShardingSearch, ScoredLayout, Any]) -> None:
    own = {"params": {"layers": [{"w": P(None, "model")}, {"w": P(None, "model")}]}, "x": P("data"), "y": P("data")}
    search = searched((step, tuple(arguments().values())), HERE, mesh="data=2,model=2", in_specs=own)
    assert search.own is not None and search.own.number > 0
    assert search.own.mesh == {"data": 2, "model": 2}
    assert search.own.estimate.cost > search.best.estimate.cost
    [blame, *_] = search._search.blame()
    [group] = blame.groups
    assert group.names == ("params['layers'][1]['w']",)
    assert group.spec == ((), ("model",)) and group.better == (("model",), ())
    assert group.names[0] in search.sentences(search.own.number)[0]


def test_a_search_goes_on_where_it_ended(small: ShardingSearch) -> None:
    program = small.program
    first = search_program(program, FixedChoices(most_axes=2), SearchBudget(60))
    assert kept_search(program) is first
    key = kept_estimates.key_of(program, first.searchable, scoring_device(program))
    known = kept_estimates.load(key, first.searchable.module)
    assert {LayoutSpecs(tuple(one.mesh.items()), one.specs, one.results) for one in first.found.layouts} == set(known)
    with ThreadPoolExecutor(1) as executor, pytest.MonkeyPatch.context() as patch:
        patch.setattr(first.searchable.partitioner, "partition", None)
        again = search_program(program, FixedChoices(most_axes=2), SearchBudget(60, executor, seed=3))
    assert replace(again.found, seconds=0.0) == replace(first.found, seconds=0.0)


CELL = """
def loss(w, x):
    return jnp.mean(jax.nn.relu(x @ w["up"]) @ w["down"])
step = jax.jit(lambda w, x: jax.tree.map(lambda p, g: p - g, w, jax.grad(loss)(w, x)))
"""


def searched_from_cell(number: int, at: str, partition: bool = True) -> tuple[ShardingSearch, set[str]]:
    """A search of the step of a cell whose first lines are `at`, and the lines of its collectives."""
    space: dict[str, Any] = {"jax": jax, "jnp": jnp}
    exec(compile(at + CELL, f"/tmp/ipykernel_1/{number}.py", "exec"), space)
    weights = {"up": shape(256, 1024), "down": shape(1024, 256)}
    with pytest.MonkeyPatch.context() as patch:
        if not partition:
            patch.setattr(Partitioner, "partition", None)
        search = searched((space["step"], (weights, shape(512, 256))), most_axes=1)
    return search, {part.line for one in search.found.layouts for part in one.estimate.parts}


def test_a_search_from_another_cell_has_the_estimates_and_its_own_lines() -> None:
    first, lines = searched_from_cell(11, "")
    again, moved = searched_from_cell(12, "\n" * 7, partition=False)
    assert [one.specs for one in again.found.layouts] == [one.specs for one in first.found.layouts]
    below = {int(line.removeprefix("11.py:")) + 7 for line in lines}
    assert lines and moved == {f"12.py:{line}" for line in below}


class CountedTasks(ThreadPoolExecutor):
    """Counts the tasks that it is given."""

    given = 0

    def submit(self, *task: Any, **more: Any) -> Any:
        self.given += 1
        return super().submit(*task, **more)


def test_a_task_is_a_fraction_of_a_second_so_that_a_budget_is_kept() -> None:
    """4,000 operations a task; a request of 16,000, which is about a second's work, would be one task."""
    with CountedTasks(2) as executor:
        search = searched(mlp(128, 512, 4096), executor=executor)
    operations = search.tried * len(search._search.searchable.module.ops)
    assert 5_000 < operations < 16_000 and executor.given >= operations / 4_000


def test_confirmed_layouts_have_figures_of_their_own() -> None:
    search = searched(mlp(32, 64, 512), confirm=2)
    compiled = [one for one in search.found.layouts if one.compiled is not None]
    assert len(compiled) == 2 and len({one.kind for one in compiled}) == 2
    for one in compiled:
        assert one.compiled is not None and one.compiled.state is CompiledState.COMPILED
        assert one.compiled.needed is not None and one.compiled.least is None
    table = search.layouts
    row = compiled[0].number
    assert table["compiled_memory"][row] == compiled[0].compiled.needed  # type: ignore[union-attr]
    other = next(one.number for one in search.found.layouts if one.compiled is None)
    assert table["fits"][other] is None and "confirm" in table.reasons[other, "fits"]


def test_what_cannot_be_searched_is_one_sentence() -> None:
    fn, args = mlp(32, 64, 512)
    odd: Any = jax.ShapeDtypeStruct((3, 5), jnp.float32)
    refused: list[tuple[Any, tuple[Any, ...], dict[str, Any], type[Exception], str]] = [
        (fn, args, {"budget": 0}, ValueError, "budget"),
        (fn, args, {"target": "cpu:1"}, Unavailable, "one device"),
        (fn, args, {"mesh": "data=4"}, MeshError, "cpu:8 has 8"),
        (fn, args, {"mesh": "data=16"}, MeshError, "16"),
        (fn, args, {"keep": {"nothing": P("data")}}, MeshError, "nothing"),
        (fn, args, {"mesh": "data=8", "keep": {"params": P(None, None, "data")}}, MeshError, "dimensions"),
        (lambda x: x * 2, (odd,), {}, Unavailable, "divisible"),
    ]
    for function, given, how, kind, word in refused:
        with pytest.raises(kind) as error:
            searched((function, given), **how)
        assert word in str(error.value) and "\n" not in str(error.value)
