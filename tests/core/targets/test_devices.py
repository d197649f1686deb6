"""The catalogue of devices: which entry a device of JAX's has."""

from __future__ import annotations

from types import SimpleNamespace

import jax
import jax.numpy as jnp
import pytest

from jaxstage_ext import inspect
from jaxstage_ext.core.targets import devices
from jaxstage_ext.core.targets.target import parse
from jaxstage_ext.report.unavailable import Unavailable


@pytest.mark.parametrize(
    ("kind", "entry"),
    [("NVIDIA H200", "h200"), ("NVIDIA H100 80GB HBM3", "h100"), ("TPU v5 lite", "v5e"), ("TPU v6 lite", "v6e")],
)
def test_a_device_that_is_here_is_found_by_its_kind(kind: str, entry: str) -> None:
    assert devices.by_kind(kind) is devices.CATALOGUE[entry]


@pytest.mark.parametrize("kind", ["NVIDIA H100 PCIe", "NVIDIA A100-SXM4-40GB", "cpu", "", "a toaster"])
def test_another_form_of_a_device_is_not_taken_for_it(kind: str) -> None:
    assert devices.by_kind(kind) is None


def test_every_kind_is_in_the_catalogue() -> None:
    assert set(devices.KINDS.values()) <= set(devices.CATALOGUE)


def test_a_device_that_is_half_a_chip_has_half_its_peaks() -> None:
    half, whole = devices.share(parse("v3:2x2")), devices.CATALOGUE["v3"]
    assert half is not None
    assert whole.bandwidth is not None
    assert half.flops["bf16"] == whole.flops["bf16"] / 2
    assert half.bandwidth == whole.bandwidth / 2
    assert half.title == "half a TPU v3"
    assert devices.share(parse("v5e:2x2")) is devices.CATALOGUE["v5e"]
    assert devices.share(parse("cpu:8")) is None


def test_the_kernels_own_device_has_its_roof(monkeypatch: pytest.MonkeyPatch) -> None:
    inspection = inspect(lambda x: x @ x, jnp.ones((64, 64)))
    here = [SimpleNamespace(device_kind="NVIDIA H200", platform="gpu", coords=[0, 0, 0]) for _ in range(2)]  # a list
    monkeypatch.setattr(jax, "local_devices", lambda: here)
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    found = inspection.cost.roofline
    assert found.title == "NVIDIA H200 SXM"
    assert found.unit == ["tf32 matrix"]
    assert found.verdict.startswith("Bound by memory: memory-bound instructions take 100% of the ")
    assert found.verdict.endswith("lower bound on NVIDIA H200 SXM.")


def test_what_needs_a_worker_names_the_kernel_s_own_gpu_as_a_target(monkeypatch: pytest.MonkeyPatch) -> None:
    inspection = inspect(lambda x: x @ x, jnp.ones((64, 64)))
    here = [SimpleNamespace(device_kind="NVIDIA H200", platform="gpu", coords=[0, 0, 0])]
    monkeypatch.setattr(jax, "local_devices", lambda: here)
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    with pytest.raises(Unavailable, match=r"this kernel holds a gpu.* with the same device as a target: -t h200"):
        _ = inspection.passes


def test_of_two_devices_on_one_chip_each_has_half(monkeypatch: pytest.MonkeyPatch) -> None:
    inspection = inspect(lambda x: x @ x, jnp.ones((64, 64)))
    here = [SimpleNamespace(device_kind="TPU v3", platform="tpu", coords=[n // 2, 0, 0]) for n in range(4)]
    monkeypatch.setattr(jax, "local_devices", lambda: here)
    assert inspection.cost.roofline.title == "half a TPU v3"
