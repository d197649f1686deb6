"""Names of dimensions of made-up programs against names written by hand."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from helpers.made_dimensions import made

from jaxstage_ext.analysis.sharding.naming.dimension_names import UnknownDimension, name_dimensions, renamed

BLOCK = {
    "['ln']['scale']": "d",
    "['query']['kernel']": "dnk",
    "['key']['kernel']": "dnk",
    "['value']['kernel']": "dne",
    "['out']['kernel']": "ned",
    "['up']['kernel']": "dh",
    "['up']['bias']": "h",
    "['down']['kernel']": "hd",
    "['down']['bias']": "d",
}


def transformer(layers: int) -> dict[str, str]:
    """The parameters of a transformer; heads, sizes and hidden are a class of their own in each block."""
    axes = {"['embed']['embedding']": "v d"}
    for layer in range(layers):
        for name, text in BLOCK.items():
            axes[f"['block_{layer}']{name}"] = " ".join(a if a == "d" else f"{a}{layer}" for a in text)
    return axes | {"['head']['kernel']": "d v"}


def trained(axes: dict[str, str], data: dict[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """The arguments and the results of a step with Adam."""
    state = {f"{tree}{name}": text for tree in ("params", "opt[0].mu", "opt[0].nu") for name, text in axes.items()}
    return state | data, {f"result[{0 if key[0] == 'p' else 1}]{key}": text for key, text in state.items()}


def names_of(classes: object, sources: object) -> dict[str, str]:
    """By the name of an argument the names of its axes."""
    found = name_dimensions(classes, sources)  # type: ignore[arg-type]
    named = {place: one.name for one in found for place in one.arguments}
    return {
        leaf.name: " ".join(named.get((number, axis), "-") for axis in range(len(leaf.shape)))
        for number, leaf in enumerate(sources.arguments)  # type: ignore[attr-defined]
    }


@pytest.mark.parametrize("layers", [1, 2, 5])
def test_a_transformer_has_the_names_that_its_author_gives_whatever_its_depth(layers: int) -> None:
    arguments, results = trained(transformer(layers), {"tokens": "bt"})
    names = names_of(*made(arguments, results))
    assert names["params['embed']['embedding']"] == "vocab embed"
    for tree in ("params", "opt[0].mu", "opt[0].nu"):
        assert names[f"{tree}['block_{layers - 1}']['query']['kernel']"] == "embed heads query"
        assert names[f"{tree}['block_0']['value']['kernel']"] == "embed heads value"
        assert names[f"{tree}['block_0']['up']['kernel']"] == "embed up"
        assert names[f"{tree}['block_0']['down']['kernel']"] == "up embed"
    assert names["tokens"] == "batch tokens_axis1"
    assert len(set(" ".join(names.values()).split())) == 8


def test_the_widths_of_a_plain_mlp_stay_apart_where_they_are_equal() -> None:
    layers = {f"mlp.layers[{at}].weight": f"h{at + 1} h{at}" for at in range(4)}
    biases = {f"mlp.layers[{at}].bias": f"h{at + 1}" for at in range(4)}
    arguments = layers | biases
    back = {f"result{name[3:]}": text for name, text in arguments.items()}
    names = names_of(*made(arguments | {"x": "b h0"}, back))
    assert names["mlp.layers[0].weight"] == "layers_0 layers_0_in"
    assert names["mlp.layers[3].weight"] == "layers_3 layers_2"
    assert names["x"] == "batch layers_0_in"


def test_the_stacked_axis_of_a_scan_is_one_dimension_of_all_its_arrays() -> None:
    params = {"params['blocks']['up']['kernel']": "L1 d h", "params['blocks']['down']['kernel']": "L2 h d"}
    uses = [("dot_general", "b d h"), ("add", "L1"), ("add", "L2"), ("while", "")]
    back = {f"result{name[6:]}": text for name, text in params.items()}
    names = names_of(*made(params | {"x": "b d"}, back, ops=uses))
    assert names == {
        "params['blocks']['up']['kernel']": "layers down up",
        "params['blocks']['down']['kernel']": "layers up down",
        "x": "batch down",
    }


def test_two_towers_of_equal_width_are_not_a_stack() -> None:
    params = {"params['a']['kernel']": "h1 d1", "params['b']['kernel']": "h2 d2"}
    uses = [("dot_general", "b h1 d1"), ("dot_general", "b h2 d2")]
    back = {f"result{name[6:]}": text for name, text in params.items()}
    names = names_of(*made(params | {"x": "b h1", "y": "b h2"}, back, ops=uses))
    assert names["params['a']['kernel']"] == "a_in a" and names["params['b']['kernel']"] == "b_in b"


def test_experts_and_their_router() -> None:
    params = {"params['router']": "d e", "params['moe']['up']": "e d h", "params['moe']['down']": "e h k"}
    back = {f"result{name[6:]}": text for name, text in params.items()}
    names = names_of(*made(params | {"x": "bd"}, back))
    assert names["params['moe']['up']"] == "experts router_in up"
    assert names["params['moe']['down']"] == "experts up down"


def test_the_kernels_of_a_conv_net() -> None:
    params = {"params['conv1']['kernel']": "p1 q1 c c1", "params['conv2']['kernel']": "p2 q2 c1 c2"}
    sizes = {"p": 3, "q": 3, "c": 16, "c1": 32, "c2": 32, "y": 28, "x": 30}
    back = {f"result{name[6:]}": text for name, text in params.items()}
    uses = [("convolution", "b y x p1 q1 c c1"), ("convolution", "b p2 q2 c1 c2")]
    names = names_of(*made(params | {"images": "b y x c"}, back, sizes, uses))
    assert names["params['conv1']['kernel']"] == "conv_axis0 conv_axis1 conv1_in conv1"
    assert names["params['conv2']['kernel']"].endswith("conv1 conv2")
    assert names["images"] == "batch images_axis1 images_axis2 conv1_in"


def test_letters_of_the_authors_einsums_come_first_and_one_letter_is_one_dimension() -> None:
    classes, sources = made({"w1": "d h", "w2": "h k", "x": "bd"}, {"result[0]": "d h", "result[1]": "h k"})
    d, h, k, b = range(4)
    letters = {d: Counter(d=2), h: Counter(f=2), k: Counter(d=1), b: Counter(b=3)}
    names = names_of(classes, replace(sources, letters=letters))
    assert names["x"].startswith("b ")
    assert names["w1"].endswith(" f")
    assert len(set(" ".join(names.values()).split())) == 4, "d is wanted by two, so it is the name of neither"


def test_annotations_come_before_all() -> None:
    classes, sources = made({"w": "d h", "x": "b d"}, {"result": "d h"})
    named = replace(sources, given={(1, 0): "rows", (1, 1): "features"})
    assert names_of(classes, named) == {"w": "features w", "x": "rows features"}


def test_equal_names_are_told_apart_and_stable() -> None:
    params = {"params['a']['up']['kernel']": "d h", "params['b']['up']['kernel']": "d k"}
    back = {f"result{name[6:]}": text for name, text in params.items()}
    classes, sources = made(params | {"x": "b d"}, back)
    names = names_of(classes, sources)
    assert names["params['a']['up']['kernel']"].endswith(" a_up")
    assert names["params['b']['up']['kernel']"].endswith(" b_up")
    assert names_of(list(reversed(classes)), sources) == names


def test_what_cannot_be_split_is_left_out() -> None:
    classes, sources = made({"w": "d h", "x": "b d"}, {"result": "d h"}, {"h": 1})
    assert {one.name for one in name_dimensions(classes, sources)} == {"w_in", "batch"}


def test_renaming_by_name_and_by_number_and_what_is_refused() -> None:
    classes, sources = made({"w": "d h", "x": "b d"}, {"result": "d h"})
    found = name_dimensions(classes, sources)
    assert [one.number for one in found] == ["d1", "d2", "d3"]
    assert [one.name for one in renamed(found, {"d2": "hidden", "batch": "rows"})] == ["w_in", "hidden", "rows"]
    assert [one.name for one in renamed(found, {"w_in": "batch", "batch": "w_in"})] == ["batch", "w", "w_in"]
    for names, quoted in (
        ({"batsh": "rows"}, "batch"),
        ({"d9": "rows"}, "d9"),
        ({"d1": "batch"}, "batch"),
        ({"d1": "two words"}, "two words"),
        ({"d1": "d2"}, "d2"),
        ({"d1": 3}, "3"),
    ):
        with pytest.raises(UnknownDimension, match=quoted) as refused:
            renamed(found, names)  # type: ignore[arg-type]
        assert "\n" not in str(refused.value)
