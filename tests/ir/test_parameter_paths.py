"""Arguments in HLO by their pytree paths: XLA's names of them hide the brackets and quotes."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest

from jaxstage_ext import Inspection, inspect
from jaxstage_ext.ir.hlo.places.parameter_paths import parameter_paths
from jaxstage_ext.panel.requests import dispatch
from jaxstage_ext.views.static_html import panel_html
from jaxstage_ext.views.text import panel_text

PATH = "params['Block_0']['kernel']"


@pytest.fixture(scope="module")
def inspection() -> Inspection:
    def step(params, x):
        return jax.tree.map(lambda leaf: leaf * 2, params), x @ params["Block_0"]["kernel"]

    params = {"Block_0": {"kernel": jnp.ones((4, 4)), "bias": jnp.ones(4)}}
    return inspect(step, params, jnp.ones((2, 4)))


def test_each_parameter_has_the_path_that_jax_gives_it(inspection: Inspection) -> None:
    document = inspection.documents["hlo"]
    paths = parameter_paths(document)
    assert sorted(paths.values()) == ["params['Block_0']['bias']", PATH]
    assert all(f"%{name} = " in document.text for name in paths)
    assert parameter_paths(inspection.documents["jaxpr"]) == {}


def test_still_forms_give_the_path_beside_the_text_that_xla_printed(inspection: Inspection) -> None:
    name = next(name for name, path in parameter_paths(inspection.documents["hlo"]).items() if path == PATH)
    assert f"%{name} is {PATH}" in panel_text([inspection.program])
    assert f"%{name} is params[&#x27;Block_0&#x27;][&#x27;kernel&#x27;]" in panel_html([inspection.program])


def test_the_panel_is_told_the_path_of_a_name_in_the_text(inspection: Inspection) -> None:
    (result, _) = dispatch.methods()["operations"]([inspection.program], {"call": 0, "doc": "hlo"})
    assert f"argument {PATH}" in result["sentences"].values()
    assert all(name.startswith("%") for name, said in result["sentences"].items() if said.startswith("argument "))
