"""One table of devices: a GPU's memory, bandwidth and cache are those that its driver reports, and stand there once."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from absent import needs
from jax.sharding import PartitionSpec as P

import jaxstage_ext
from jaxstage_ext.core.targets.catalogue import CATALOGUE
from jaxstage_ext.core.targets.target import parse

GPUS = [name for name, device in CATALOGUE.items() if device.gpu]


@pytest.mark.parametrize("name", GPUS)
def test_a_gpus_figures_are_its_drivers(name: str) -> None:
    device = CATALOGUE[name]
    assert device.gpu is not None
    assert (device.memory, device.bandwidth, device.on_chip) == (
        device.gpu.memory,
        device.gpu.bandwidth,
        device.gpu.l2,
    )


def test_a_mesh_of_a_v4_host_is_arranged_by_jax() -> None:
    needs("tpu")
    target = parse("v4:2x2x1")
    shape = jax.ShapeDtypeStruct((64, 64), jnp.float32)
    staged = jaxstage_ext.inspect(lambda x: x.sum(0), shape, target=target, mesh="d=4", in_specs=P("d"))
    notes = staged.summary()["notes"]
    assert target.devices == 4
    assert not [note for note in notes if "cannot arrange" in note or "of the target's" in note]
