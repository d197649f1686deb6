"""The line at load about accelerators that JAX would try in vain, and that what it advises does what it says."""

from __future__ import annotations

import glob
import os
import subprocess
import sys
from typing import Any

import pytest
from absent import needs
from magic_shell import fresh_shell

from jaxstage_ext.notebook import extension

FIRST = "import jax.numpy as jnp; jnp.ones(3)"
LATER = "from jaxstage_ext import inspect; import jax.numpy as jnp; inspect(jnp.sin, jnp.ones(3), target='v5e:2x2')"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the device files are Linux's")


@pytest.fixture
def without_device(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A machine that has no device, in a process in which JAX has none yet."""
    monkeypatch.delenv("JAX_PLATFORMS", raising=False)
    monkeypatch.setattr(glob, "glob", lambda pattern: [])
    monkeypatch.setattr(extension, "_is_decided", lambda: False)
    monkeypatch.setattr(extension, "_is_installed", lambda name: name == "libtpu")
    return monkeypatch


def test_it_is_one_line_that_is_said_once(without_device: Any) -> None:
    without_device.setattr(extension, "_said", set())
    with fresh_shell() as shell:
        assert "\n" not in extension.platform_note()
        assert "has libtpu, which JAX's first operation tries" in extension.platform_note()
        assert shell.run("%reload_ext jaxstage_ext").text == ""  # the first load has said it


@pytest.mark.parametrize("case", ["told", "no library", "a device", "decided"])
def test_it_is_not_said_where_it_does_not_apply(case: str, without_device: Any) -> None:
    assert extension.platform_note()
    if case == "told":
        without_device.setenv("JAX_PLATFORMS", "cpu")
    elif case == "no library":
        without_device.setattr(extension, "_is_installed", lambda name: False)
    elif case == "a device":
        without_device.setattr(glob, "glob", lambda pattern: ["/dev/nvidia0"] if "nvidia" in pattern else [])
    else:
        without_device.undo()
    assert extension.platform_note() == ""


def test_what_jax_says_is_gone_where_the_variable_is_set() -> None:
    needs("tpu")
    needs("cuda")

    def lines(code: str, **variables: str) -> int:
        environment = {name: value for name, value in os.environ.items() if name != "JAX_PLATFORMS"} | variables
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        return len(done.stderr.splitlines())

    if not any(map(glob.glob, extension._DEVICES)):
        assert lines(FIRST) > 10
    assert lines(FIRST, JAX_PLATFORMS="cpu") == lines(LATER, JAX_PLATFORMS="cpu") == 0
