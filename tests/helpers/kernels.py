"""Kernels of tests: over sockets in a folder, because two processes that look for a free port can find the same one."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import pytest

manager = pytest.importorskip("jupyter_client.manager")
pytest.importorskip("ipykernel", reason="the kernel is not installed here")


def start_kernel(environment: Mapping[str, str]) -> tuple[Any, Any]:
    """The manager of a kernel of this Python that answers, and a client of it."""
    made = manager.KernelManager(transport="ipc")
    made.kernel_spec.argv[0] = sys.executable
    made.start_kernel(env=dict(environment))
    client = made.blocking_client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
    except RuntimeError:
        client.stop_channels()
        made.shutdown_kernel(now=True)
        raise
    return made, client
