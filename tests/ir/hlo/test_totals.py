"""What a module executes, held against XLA's own API, and what its compiler expects of it."""

from __future__ import annotations

import re

import jax.numpy as jnp
import pytest
from absent import needs

import jaxstage_ext
from jaxstage_ext.ir.hlo import totals as hlo_totals
from tests.golden.record import load_programs

RUNS_CALLED = ("kWhile", "kConditional", "kCall")
CALLED = re.compile(
    r"(?:body|condition|to_apply|branch_computations|true_computation|false_computation)=\{?([^}=]*)[},\n]"
)


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
