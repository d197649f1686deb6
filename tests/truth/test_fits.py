"""Does it fit: three answers, one verdict in the header's note, Compare, Memory and Answers; figures of devices."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from absent import needs

from jaxstage_ext.api.inspect import prepare
from jaxstage_ext.core.call import Call
from jaxstage_ext.core.targets import devices
from jaxstage_ext.core.targets.target import parse
from jaxstage_ext.program.questions import answers
from tests.truth.expectation import Expectation, UserProgram, answer, header, holds, rows

HAS_TOTAL = jax.__version_info__ >= (0, 12)
"""Before, XLA's statistics give no total on GPUs and TPUs, and the exact figure comes with Memory."""


def doubled(billions: float, donated: bool = False) -> UserProgram:
    """A program that takes an argument and a result of so many bytes, or one buffer for both."""
    shape = jax.ShapeDtypeStruct((int(billions * 1000), 250_000), jnp.float32)
    return UserProgram(jax.jit(lambda x: 2 * x, donate_argnums=(0,) if donated else ()), (shape,))


def needs_60_gb() -> UserProgram:
    return doubled(30)


def needs_68_gb() -> UserProgram:
    return doubled(34)


def needs_34_gb_by_donation() -> UserProgram:
    return doubled(34, donated=True)


def needs_80_gb() -> UserProgram:
    return doubled(40)


def needs_88_gb() -> UserProgram:
    return doubled(44)


def needs_120_gb() -> UserProgram:
    return doubled(60)


def needs_12_gb() -> UserProgram:
    return doubled(6)


def small() -> UserProgram:
    return UserProgram(lambda x: jnp.tanh(x) + 1, (jnp.ones((256, 256)),))


def compared(name: str) -> Callable[[Any], Any]:
    return lambda inspection: inspection.row().figures[name].value


def notes(inspection: Any) -> str:
    """What the header says below its figures."""
    return "\n".join(inspection.summary()["notes"])


def state(inspection: Any) -> str:
    """The mark of the answer to "Does it fit?"."""
    return str(answers.fit(inspection.program).state)


def in_memory(inspection: Any) -> str:
    return str(inspection.memory.fit.text)


def hand(gigabytes: float, share: float) -> str:
    return f"argument and result are {gigabytes} GB, {share:.1%} of what NVIDIA's driver reports"


MORE = "XLA_PYTHON_CLIENT_MEM_FRACTION"
SETTING = f"Fits only with {MORE}"
WITH = "only with a setting"


@rows(
    Expectation(needs_60_gb, "h100", "Answers", answer("fit"), "Fits: it needs 60 GB", hand(60, 0.706), (MORE,)),
    Expectation(needs_60_gb, "h100", "Compare", compared("fits"), "yes", hand(60, 0.706)),
    Expectation(needs_60_gb, "h100", "header note", lambda i: MORE in notes(i), False, hand(60, 0.706)),
    Expectation(needs_68_gb, "h100", "Answers", answer("fit"), f"{SETTING}=.81: it needs 68 GB", hand(68, 0.801)),
    Expectation(needs_68_gb, "h100", "Memory", in_memory, f"{SETTING}=.81: it needs 68 GB", hand(68, 0.801)),
    Expectation(needs_68_gb, "h100", "its mark", state, WITH, hand(68, 0.801)),
    Expectation(
        needs_34_gb_by_donation, "h100", "Answers", answer("fit"), "Fits: it needs 34 GB", "one buffer", (MORE,)
    ),
    Expectation(needs_80_gb, "h100", "Answers", answer("fit"), f"{SETTING}=.95: it needs 80 GB", hand(80, 0.942)),
    Expectation(needs_80_gb, "a100", "Answers", answer("fit"), f"{SETTING}=.95: it needs 80 GB", hand(80, 0.940)),
    Expectation(needs_80_gb, "h200", "Answers", answer("fit"), "Fits: it needs 80 GB of the 151 GB", hand(80, 0.528)),
    Expectation(
        needs_88_gb, "h100", "Answers", answer("fit"), "Does not fit: it needs 88 GB of the 84.9 GB", hand(88, 1.04)
    ),
    Expectation(needs_88_gb, "h100", "Compare", compared("fits"), "no", hand(88, 1.04)),
    Expectation(needs_88_gb, "h100", "header note", notes, "Does not fit: it needs ", hand(88, 1.04)),
    Expectation(needs_88_gb, "h100", "its mark", state, "no", hand(88, 1.04)),
    Expectation(needs_88_gb, "b200", "Compare", compared("fits"), "yes", hand(88, 0.46)),
    Expectation(needs_120_gb, "h200", "Answers", answer("fit"), f"{SETTING}=.80: it needs 120 GB", hand(120, 0.793)),
    Expectation(
        needs_120_gb, "b200", "Answers", answer("fit"), "Fits: it needs 120 GB of the 192 GB", hand(120, 0.627)
    ),
    Expectation(
        needs_12_gb, "v5e:2x2", "Answers", answer("fit"), "Fits: it needs 12", "16 GiB of HBM; TPUs have no setting"
    ),
    Expectation(needs_12_gb, "v5e:2x2", "Compare", compared("fits"), "yes", "libtpu compiled it"),
)
def test_three_answers(expectation: Expectation) -> None:
    holds(expectation)


def setting_in_compare(inspection: Any) -> tuple[Any, bool]:
    figure = inspection.row().figures["fits"]
    return figure.value, f"{MORE}=.95" in (figure.remark or "")


@pytest.mark.skipif(not HAS_TOTAL, reason="XLA gives no total, so Compare waits for Memory")
@rows(
    Expectation(needs_80_gb, "h100", "Compare", setting_in_compare, (WITH, True), hand(80, 0.942)),
    Expectation(needs_80_gb, "h100", "header note", notes, f"{SETTING}=.95", hand(80, 0.942)),
    Expectation(needs_80_gb, "h100", "header", header("memory needed"), "80 GB", hand(80, 0.942)),
    Expectation(needs_88_gb, "h100", "header", header("memory needed"), "88 GB", hand(88, 1.04)),
)
def test_the_setting_is_said_before_memory_was_opened(expectation: Expectation) -> None:
    holds(expectation)


def peak_of_device(inspection: Any) -> float | None:
    """The bf16 peak that the roofline of the target's devices has."""
    device = devices.share(inspection.target)
    return device.flops["bf16"] if device else None


DRIVER = "the description of the GPU in the CUDA plugin of JAX 0.12, as its driver reports it"
MEMORY_HERE = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


@rows(
    Expectation(small, "h100", "header", header("h100 memory"), "84.9 GB", DRIVER),
    Expectation(small, "h100", "Compare", compared("capacity"), 84_942_979_072, DRIVER),
    Expectation(small, "h100", "bandwidth", lambda i: i.cost.roofline.bandwidth, 3_352_320_000_000, DRIVER),
    Expectation(small, "b200", "bandwidth", lambda i: i.cost.roofline.bandwidth, 7_672_320_000_000, DRIVER),
    Expectation(small, "b200", "Compare", compared("capacity"), 191_514_411_008, DRIVER),
    Expectation(small, "v4:2x2x1", "devices", lambda i: i.target.devices, 4, "jax.devices() of a v4-8: one per chip"),
    Expectation(small, "v4:2x2x1", "header", header("v4 memory"), "34.4 GB", "32 GiB per chip, which is one device"),
    Expectation(small, "v4:2x2x1", "peak", peak_of_device, 275e12, "Google: 275 TFLOP/s a chip"),
    Expectation(small, "v5p:2x2x1", "devices", lambda i: i.target.devices, 4, "one per chip"),
    Expectation(small, "local", "Compare", compared("capacity"), MEMORY_HERE, "the memory of this machine"),
    Expectation(small, "local", "Answers", answer("fit"), "of this machine", "a CPU program lives in it"),
    Expectation(small, "local", "Compare", compared("fits"), "yes", "half a megabyte"),
)
def test_figures_of_devices(expectation: Expectation) -> None:
    holds(expectation)


def test_what_libtpu_refuses_does_not_fit_in_any_view() -> None:
    needs("tpu")
    program = needs_68_gb()
    [refused] = prepare(Call(program.function, program.arguments), "compile", (parse("v5e:2x2"),))
    refused.advance()
    fits = refused.row().figures["fits"]
    assert fits.value == "no"
    assert "libtpu refused it" in (fits.remark or "")
    said = answers.fit(refused.program)
    assert (said.state, said.text.split(",")[0]) == ("no", "Does not fit: it needs 68 GB")
    assert refused.row().figures["memory"].value == refused.memory.fit.needed, "the same once it is known"
