"""Totals of an HLO module: collectives counted by hand, sizes and counts held against XLA's own API."""

from __future__ import annotations

import re
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from absent import needs
from jax.sharding import PartitionSpec as P

import jaxstage_ext
from jaxstage_ext.ir.hlo import totals as hlo_totals
from jaxstage_ext.ir.hlo.totals import Collective
from tests.golden.record import load_programs

X = jax.ShapeDtypeStruct((8, 64), jnp.float32)
ROWS = P("d")
RUNS_CALLED = ("kWhile", "kConditional", "kCall")
CALLED = re.compile(
    r"(?:body|condition|to_apply|branch_computations|true_computation|false_computation)=\{?([^}=]*)[},\n]"
)


def totals(function: Any, *args: Any, **given: Any) -> tuple[Collective, ...]:
    given = {"target": "cpu:4", "mesh": "d=4", "in_specs": P("d")} | given
    return hlo_totals.collectives(jaxstage_ext.inspect(function, *args, **given).program.module)


def mapped(function: Any, out: Any = ROWS) -> Any:
    """The function on each device's two rows."""
    return jax.shard_map(function, in_specs=P("d"), out_specs=out, check_vma=False)


@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        (mapped(lambda x: jax.lax.psum(x, "d"), P()), Collective("all-reduce", 1, 2 * 64 * 4)),
        (mapped(lambda x: jax.lax.all_gather(x, "d", tiled=True), P()), Collective("all-gather", 1, 8 * 64 * 4)),
        (mapped(lambda x: jax.lax.ppermute(x, "d", [(0, 1), (1, 0)])), Collective("collective-permute", 1, 2 * 64 * 4)),
        (mapped(lambda x: jax.lax.psum_scatter(x.T, "d", tiled=True).T), Collective("reduce-scatter", 1, 2 * 64 * 4)),
        (mapped(lambda x: jax.lax.all_to_all(x, "d", 1, 0, tiled=True)), Collective("all-to-all", 1, 2 * 64 * 4)),
    ],
    ids=lambda part: part.kind if isinstance(part, Collective) else "",
)
def test_each_kind_by_hand(function: Any, wanted: Collective) -> None:
    assert totals(function, X) == (wanted,)


def test_two_kinds_the_more_frequent_first() -> None:
    @mapped
    def both(x: Any) -> Any:
        y = jax.lax.ppermute(jnp.sin(x), "d", [(0, 1), (1, 0)])
        z = jax.lax.ppermute(jnp.cos(y), "d", [(2, 3), (3, 2)])
        return jax.lax.psum(z.astype(jnp.float16), "d")

    found = totals(both, X)
    assert found[0] == Collective("collective-permute", 2, 2 * 2 * 64 * 4)
    assert [one.kind for one in found] == ["collective-permute", "all-reduce"]


def test_a_loop_counts_its_body_once() -> None:
    @mapped
    def loop(x: Any) -> Any:
        return jax.lax.fori_loop(0, 7, lambda _, y: jax.lax.psum(jnp.sin(y), "d"), x)

    assert totals(loop, X) == (Collective("all-reduce", 1, 2 * 64 * 4),)


def test_a_program_on_one_device_exchanges_nothing() -> None:
    assert totals(jnp.sin, X, mesh=None, in_specs=()) == ()


@pytest.mark.parametrize("target", ["v5e:2x2", "h100:4"])
def test_other_compilers_exchange_as_much(target: str) -> None:
    needs(target)
    gather = mapped(lambda x: jax.lax.all_gather(jnp.sin(x), "d", tiled=True), P())
    [found] = totals(gather, jax.ShapeDtypeStruct((512, 256), jnp.float32), target=target)
    assert (found.kind, found.bytes) == ("all-gather", 512 * 256 * 4)


@pytest.mark.parametrize("name", ["transformer_gradient", "scan", "cond", "while_loop"])
def test_executed_instructions_are_those_of_xlas_own_computations(name: str) -> None:
    """Oracle: the module's computations through jaxlib, those that loops, branches and calls name in XLA's text."""
    function, arguments = load_programs().PROGRAMS[name]
    inspection = jaxstage_ext.inspect(function, *arguments)
    computations = {one.name: one.instructions() for one in inspection.program.xla_module.computations()}
    entry = re.search(r"ENTRY %?([\w.-]+)", inspection.program.xla_module.to_string())
    assert entry is not None
    reached, fresh = set(), {entry[1]}
    while fresh:
        reached |= fresh
        texts = [one.to_string() for name in fresh for one in computations[name] if one.opcode.name in RUNS_CALLED]
        named = {name for text in texts for part in CALLED.findall(text) for name in re.findall(r"[\w.-]+", part)}
        fresh = named - reached
    wanted = sum(len(computations[name]) for name in reached)
    assert int(hlo_totals.executed(inspection.program.module).sum()) == wanted


def test_estimates_of_a_tpu_are_added_up() -> None:
    needs("v5e:2x2")
    inspection = jaxstage_ext.inspect(lambda x: jnp.sin(x) @ x.T, jnp.ones((256, 256)), target="v5e:2x2")
    text = inspection.documents["hlo"].text
    wanted = sum(int(part.split('"')[0]) for part in text.split('"estimated_cycles":"')[1:])
    assert hlo_totals.estimated_cycles(inspection.program.module) == wanted > 0
