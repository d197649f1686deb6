"""The data of the flag browser."""

from __future__ import annotations

import json

import jax
import jax.numpy as jnp

from jaxstage_ext import inspect
from jaxstage_ext.core.options import option_table
from jaxstage_ext.core.options.xla_flags import Flag, Flags, installed

X = jnp.ones((4, 4))
KNOWN = Flags(
    {
        "xla_b": Flag("xla_b", "bool", default="False"),
        "xla_mode": Flag("xla_mode", "enum", {"FAST": 1, "SLOW": 2}, many=True, default=""),
        "xla_a": Flag("xla_a", "int32"),
    }
)


def rows(given, known=KNOWN):
    return {row["name"]: row for row in option_table.of(given, known)["flags"]}


def test_what_is_set_comes_first_the_rest_by_name():
    assert list(rows({})) == ["xla_a", "xla_b", "xla_mode"]
    assert list(rows({"xla_mode": "FAST"})) == ["xla_mode", "xla_a", "xla_b"]


def test_a_flag_has_its_type_its_values_and_what_holds():
    found = rows({"xla_b": True})
    assert found["xla_b"] == {
        "name": "xla_b", "type": "bool", "values": ["True", "False"], "default": "False", "set": "True"
    }  # fmt: skip
    assert (found["xla_mode"]["type"], found["xla_mode"]["values"]) == ("enum list", ["FAST", "SLOW"])
    assert (found["xla_mode"]["default"], found["xla_a"]["default"]) == ("", None)
    assert found["xla_a"]["set"] is None


def test_what_stands_in_no_list_is_shown_as_not_checked():
    row = rows({"xla_tpu_secret": 0.1 + 0.2, "fdo_profile": b"1234"})
    assert (row["xla_tpu_secret"]["type"], row["xla_tpu_secret"]["set"]) == (None, "0.3")
    assert row["fdo_profile"]["set"] == "4 bytes"


def test_where_there_is_no_list_it_says_why():
    table = option_table.of({"xla_b": 1}, Flags({}, "the library is sealed"))
    assert table["problem"] == "the library is sealed"
    assert [row["name"] for row in table["flags"]] == ["xla_b"]


def test_a_call_shows_its_own_options_and_those_of_its_jit_among_all_flags():
    jitted = jax.jit(jnp.tanh, compiler_options={"xla_cpu_enable_fast_math": True})
    made = inspect(jitted, X, compiler_options={"xla_backend_optimization_level": 1}).flag_table()
    first, second, third = made["flags"][:3]
    assert (first["name"], first["set"]) == ("xla_backend_optimization_level", "1")
    assert (second["name"], second["set"], second["default"]) == ("xla_cpu_enable_fast_math", "True", "False")
    assert third["set"] is None
    assert {row["name"] for row in made["flags"]} == set(installed().by_name)
    assert len(json.dumps(made)) < 100_000
