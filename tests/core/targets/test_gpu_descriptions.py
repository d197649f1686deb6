"""GPUs as we describe them to compilers that describe none: held against what the newest compiler says of them."""

from __future__ import annotations

import re

import pytest

from jaxstage_ext.core.targets import gpu_descriptions, packages
from jaxstage_ext.core.targets.target import GPUS
from jaxstage_ext.worker.inside.clients import gpu_specs

PLUGIN = packages.find("cuda")


def fields(text: str) -> dict[str, str]:
    """The scalar fields of a description, those of the arithmetic units left out; a float32 as Python prints it."""
    text = re.sub(r"  (?:scalar|matrix)_unit_description \{.*?\n  \}\n", "", text, flags=re.DOTALL)
    return dict(re.findall(r"(\w+): (\S.*)", text))


@pytest.mark.needs("cuda")
@pytest.mark.parametrize("kind", GPUS)
def test_what_we_say_of_a_gpu_is_what_the_plugin_says(kind: str) -> None:
    described = gpu_specs(PLUGIN.library)
    if not described:
        pytest.skip(f"the CUDA plugin {PLUGIN.version} describes no GPUs")
    theirs, ours = fields(described[GPUS[kind]]), fields(gpu_descriptions.description(kind))
    unset = {"minor": "0", "active_links": "0", "feature_extension": "ACCELERATED_FEATURES"}
    assert {name: theirs.get(name, unset.get(name)) for name in ours} == ours


@pytest.mark.parametrize(("version", "ours"), [("0.10.2", True), ("0.11.2", True), ("0.12.0.1", False), ("1.0", False)])
def test_only_older_plugins_are_given_our_description(version: str, ours: bool) -> None:
    told = gpu_descriptions.name_or_description("h100", version)
    assert told.startswith("gpu_device_info {") == ours
    assert "NVIDIA H100 80GB HBM3" in told
