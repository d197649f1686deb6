"""What alone differs between two programs of the persistent cache, by JAX's own text of them."""

from __future__ import annotations

import difflib
from typing import Any

import jax
import jax.numpy as jnp

from jaxstage_ext.compilation.persistent import miss_causes

X = jnp.ones((4, 4))
CALL = '    %%0 = stablehlo.custom_call @CustomSPMDPartitioning(%%arg0) {backend_config = "%s"} : (tensor<4xf32>)'


def diff(one: Any, other: Any) -> list[str]:
    texts = [jax.jit(function).lower(X).as_text().splitlines() for function in (one, other)]
    return [line for line in difflib.unified_diff(*texts, n=2) if not line.startswith(("---", "+++", "@@"))]


def test_a_literal_that_a_function_captures() -> None:
    [(was, now)] = miss_causes.changed_constants(diff(lambda x: x * -0.003, lambda x: x * -0.001))
    assert (float(was), float(now)) == (-0.003, -0.001) or (was, now) == ("-3.000000e-03", "-1.000000e-03")


def test_two_programs_that_differ_otherwise() -> None:
    assert not miss_causes.changed_constants(diff(lambda x: x * 2, lambda x: jnp.sin(x) * 3))
    assert not miss_causes.only_addresses_differ(diff(lambda x: x * 2, lambda x: x * 3))


def test_an_address_in_a_custom_call_is_told_from_another_configuration() -> None:
    lines = [CALL % number for number in ("140245012345678", "139876543210123")]
    assert miss_causes.only_addresses_differ([f"-{lines[0]}", f"+{lines[1]}"])
    assert not miss_causes.only_addresses_differ([f"-{CALL % 'a'}", f"+{CALL % 'b'}"])
    assert not miss_causes.only_addresses_differ([f"-{lines[0]}"])
