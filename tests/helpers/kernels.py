"""Kernels of tests: sockets in a folder of their own, since two processes that look for a free port can find one."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import forked_kernels
import pytest

manager = pytest.importorskip("jupyter_client.manager")
pytest.importorskip("ipykernel", reason="the kernel is not installed here")


class OwnFolderManager(manager.KernelManager):  # type: ignore[misc, name-defined]
    """A manager whose kernel, of this Python, has its sockets in a folder that no other process uses.

    The folder goes when the kernel does.
    """

    def __init__(self, **how: Any) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="kernel-"))
        super().__init__(transport="ipc", ip=str(self.folder / "socket"), **how)
        self.kernel_spec.argv[0] = sys.executable

    def shutdown_kernel(self, now: bool = False, restart: bool = False) -> None:
        super().shutdown_kernel(now=now, restart=restart)
        shutil.rmtree(self.folder, ignore_errors=True)


class ForkedManager(OwnFolderManager):
    """Likewise, of a kernel that is forked from a process which has made the imports."""

    def __init__(self, **how: Any) -> None:
        super().__init__(**how)
        self.kernel_spec.argv = [*forked_kernels.command(forked_kernels.mother()), "-f", "{connection_file}"]


def start_kernel(environment: Mapping[str, str], kind: type[OwnFolderManager] = OwnFolderManager) -> tuple[Any, Any]:
    """The manager of a kernel of this Python that answers, and a client of it."""
    made = kind()
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
