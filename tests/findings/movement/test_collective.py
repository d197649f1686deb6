"""Collectives that a change does without, against programs that look alike and are sharded well."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from absent import needs
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

from jaxstage_ext import Inspection, inspect
from jaxstage_ext.findings.finding import StakeMeasure, TrialOutcome
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.findings.found import FoundIn, said_briefly

pytestmark = pytest.mark.usefixtures("no_workers_left", "kept_answers")

TARGETS = ["cpu:4", "v5e:2x2", "h100:4"]
MESH = {"data": 4}


def shape(*sizes: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(sizes, jnp.float32)


def added(x: Any, y: Any) -> Any:
    return jnp.tanh(x) + y


def product(x: Any, w: Any) -> Any:
    return jnp.tanh(x @ w)


def constrained(x: Any, w: Any, v: Any) -> Any:
    h = jnp.tanh(x @ w)
    h = jax.lax.with_sharding_constraint(h, P(None, "data"))
    return h @ v


def step(w: Any, x: Any, y: Any) -> Any:
    return w - 0.1 * jax.grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)


def of(function: Any, *arguments: Any, target: str, specs: Any, out: Any = None) -> tuple[Inspection, list[FoundIn]]:
    needs(target)
    made = inspect(function, *arguments, target=target, mesh=MESH, in_specs=specs, out_specs=out)
    found = made.findings.all()
    assert not found.failures
    return made, [one for one in found if one.kind is FindingKind.COLLECTIVE]


def line(function: Any, offset: int) -> str:
    return f":{function.__code__.co_firstlineno + offset}"


def check(inspection: Inspection, finding: FoundIn) -> None:
    """The promised gain is that of the change as it was compiled, and the bytes sent became fewer."""
    assert finding.trial is not None and finding.trial.outcome is TrialOutcome.PAYS
    assert finding.trial.realised == finding.stake.most == finding.stake.least
    assert finding.trial.inspection.collectives.sent.most < inspection.collectives.sent.most
    timed = inspection.collectives.rows[0].seconds is not None
    assert finding.stake.measure is (StakeMeasure.TIME if timed else StakeMeasure.SENT)


@pytest.mark.parametrize("target", TARGETS)
def test_an_argument_that_lies_otherwise_than_it_is_used(target: str) -> None:
    matrices = shape(1024, 1024), shape(1024, 1024)
    made, [found] = of(added, *matrices, target=target, specs=(P(None, "data"), P("data")))
    check(made, found)
    assert found.names in (("x",), ("y",)) and line(added, 1) in found.line
    assert found.trial is not None and not len(found.trial.inspection.collectives)
    _, none = of(added, *matrices, target=target, specs=(P("data"), P("data")))
    assert none == []


@pytest.mark.parametrize("target", TARGETS)
def test_an_argument_sharded_along_what_is_summed_over(target: str) -> None:
    arguments = shape(4096, 1024), shape(1024, 1024)
    made, [found] = of(product, *arguments, target=target, specs=(P(None, "data"), P()))
    check(made, found)
    assert found.names == ("x",) and "P('data', None)" in (found.change.code if found.change else "")
    _, none = of(product, *arguments, target=target, specs=(P("data"), P()))
    assert none == []


@pytest.mark.parametrize("target", TARGETS)
def test_a_constraint_that_forces_two_gathers(target: str) -> None:
    arguments = shape(4096, 1024), shape(1024, 1024), shape(1024, 1024)
    made, [found] = of(constrained, *arguments, target=target, specs=(P("data"), P(), P()))
    check(made, found)
    assert line(constrained, 2) in found.line


def test_a_result_that_is_asked_for_otherwise_than_it_is_computed() -> None:
    matrices = shape(1024, 1024), shape(1024, 1024)
    made, [found] = of(added, *matrices, target="cpu:4", specs=(P("data"), P("data")), out=P(None, "data"))
    check(made, found)


@pytest.mark.parametrize("specs", [P(), P("data")], ids=["data parallel", "fully sharded"])
@pytest.mark.parametrize("target", ["cpu:4", "v5e:2x2"])
def test_what_a_well_sharded_step_exchanges_is_meant(target: str, specs: Any) -> None:
    """The work of a large batch is far more than the exchange of the weights and their gradients."""
    arguments = shape(1024, 1024), shape(32768, 1024), shape(32768, 1024)
    made, none = of(step, *arguments, target=target, specs=(specs, P("data"), P("data")), out=specs)
    assert len(made.collectives) and none == []


@pytest.mark.parametrize("target", ["v5e:2x2", "h100:4"])
def test_a_gradient_whose_exchange_takes_longer_than_its_work(target: str) -> None:
    arguments = shape(4096, 4096), shape(256, 4096), shape(256, 4096)
    """No change is known that makes the step shorter, so none is promised to: a larger batch makes it longer."""
    _, [found] = of(step, *arguments, target=target, specs=(P(), P("data"), P("data")), out=P())
    assert found.change is None and found.stake.most is None and "saves" not in str(found)
    assert found.caveat


def parallel_block(x: Any, a: Any, v: Any, b: Any, w: Any) -> Any:
    attention = jax.lax.with_sharding_constraint(a @ v, P())
    mlp = jax.lax.with_sharding_constraint(b @ w, P())
    return x + attention + mlp


def summed_first(x: Any, a: Any, v: Any, b: Any, w: Any) -> Any:
    return x + (a @ v + b @ w)


@pytest.mark.parametrize("target", ["v5e:2x2", "h100:4"])
def test_two_products_that_are_summed_over_the_devices_apart(target: str) -> None:
    """Of two all-reduces of one size one is left, as of the program that adds the products first."""
    arguments = [shape(2048, 2048)] * 5
    specs = P(), P(None, "data"), P("data"), P(None, "data"), P("data")
    made, [found, *_] = of(parallel_block, *arguments, target=target, specs=specs, out=P())
    assert line(parallel_block, 3) in found.line
    better, left = of(summed_first, *arguments, target=target, specs=specs, out=P())
    assert found.trial is not None and found.trial.outcome is TrialOutcome.PAYS
    sent = found.trial.inspection.collectives.sent.most
    assert sent == better.collectives.sent.most == made.collectives.sent.most / 2
    assert not any(one.can_be_tried for one in left)


def test_what_is_exposed_is_told_before_its_causes_are_asked_for() -> None:
    needs("h100:4")
    arguments = shape(4096, 4096), shape(256, 4096), shape(256, 4096)
    specs = P(), P("data"), P("data")
    made = inspect(step, *arguments, target="h100:4", mesh=MESH, in_specs=specs, out_specs=P())
    [found] = [one for one in made.findings if one.kind is FindingKind.COLLECTIVE]
    [last] = said_briefly(made.program)[-1]
    assert FindingKind.COLLECTIVE.value in last and ".all()" in last
    assert not made.collectives.rows[0].hidden and found.rows["hlo"]
    assert line(step, 1) in found.line


MESH_OF_8 = jax.sharding.AbstractMesh((4, 2), ("d", "m"), axis_types=(AxisType.Auto,) * 2)


def scaled(x: Any, scale: Any) -> Any:
    return jnp.sin(x) * scale


def loss(scale: Any, x: Any) -> Any:
    block = jax.shard_map(scaled, mesh=MESH_OF_8, in_specs=(P("d", "m"), P("m")), out_specs=P("d", "m"))
    return jnp.sum(block(x, scale) ** 2)


def of_differentiation(function: Any) -> list[FoundIn]:
    scale = jax.ShapeDtypeStruct((128,), jnp.float32, sharding=NamedSharding(MESH_OF_8, P("m")))
    x = jax.ShapeDtypeStruct((32, 128), jnp.float32, sharding=NamedSharding(MESH_OF_8, P("d", "m")))
    found = inspect(function, scale, x, target="cpu:8").findings.all()
    assert not found.failures
    return [one for one in found if one.kind is FindingKind.COLLECTIVE]


def test_a_collective_that_differentiation_made_of_a_shard_map_without_one() -> None:
    """The transpose of a value that enters replicated over d is a sum over d (jax-ml/jax#21855)."""
    [found] = of_differentiation(jax.grad(loss))
    assert line(scaled, 1) in found.line and found.stake.most is None and found.rows["hlo"]
    assert of_differentiation(loss) == []
