"""A real IPython shell for tests: run a cell, see what a user sees."""

from __future__ import annotations

import atexit
import contextlib
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

SETUP = """\
import jax, jax.numpy as jnp
from jaxtyping import Array, Float
w, x = jnp.ones((4, 3)), jnp.ones((2, 4))
def loss(w, x):
    return jnp.sum(jnp.tanh(x @ w))
"""


@dataclass(frozen=True)
class Seen:
    """What a cell left: the text on the screen, its value, its error."""

    text: str
    value: Any
    error: BaseException | None

    @property
    def ok(self) -> bool:
        return self.error is None

    @property
    def panels(self) -> list[str]:
        """The first line of each panel, up to the device."""
        return [line.strip("┌┐ ").split("  ")[0] for line in self.text.splitlines() if line.startswith("┌ ")]


class Shell:
    """IPython with the extension loaded and a small model defined in In [1]."""

    def __init__(self, ip: InteractiveShell) -> None:
        self.ip = ip

    def run(self, cell: str, history: bool = True) -> Seen:
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            result = self.ip.run_cell(cell, store_history=history)
        return Seen(out.getvalue(), result.result, result.error_before_exec or result.error_in_exec)

    def __getitem__(self, name: str) -> Any:
        return self.ip.user_ns[name]

    def __contains__(self, name: str) -> bool:
        return name in self.ip.user_ns


@contextlib.contextmanager
def fresh_shell() -> Iterator[Shell]:
    InteractiveShell.clear_instance()
    config = Config(HistoryManager={"enabled": False}, InteractiveShell={"colors": "nocolor"})
    shell = Shell(InteractiveShell.instance(config=config))
    assert shell.run(SETUP).ok
    shell.ip.run_line_magic("load_ext", "jaxstage_ext")
    try:
        with np.printoptions():  # `%precision` sets numpy's own
            yield shell
    finally:
        shell.ip.run_line_magic("unload_ext", "jaxstage_ext")
        atexit.unregister(shell.ip.atexit_operations)  # which keeps the shell, and collects garbage for each at the end
        InteractiveShell.clear_instance()
