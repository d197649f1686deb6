"""A marimo server of our own: a free port, own settings, one notebook."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from tests.browser.servers import SECONDS, free_port
from tests.helpers.forked_kernels import python_path

SETTINGS = """\
[tool.marimo.runtime]
auto_instantiate = true
[tool.marimo.display]
theme = "system"
"""
NOTEBOOK = """\
import marimo

app = marimo.App()

with app.setup:
    import marimo as mo
    import jax
    import jax.numpy as jnp
    import jaxstage_ext
    from jaxstage_ext.panel.showing import display


@app.cell
def rows():
    log = jaxstage_ext.compiles()
    n = mo.ui.slider(2, 8, value=4, label="rows")
    n
    return (n,)


@app.cell
def step():
    @jax.jit
    def update(w, x):
        y = jnp.tanh(x @ w)
        return w - 0.1 * y.sum()
    return (update,)


@app.cell
def _(n, update):
    ins = jaxstage_ext.inspect(update, jnp.ones((8, 8)), jnp.ones((n.value, 8)))
    ins
    return (ins,)


@app.cell
def _(ins):
    mo.md(f"held {ins.program.name} {len(display.live_panels())}")
    return


@app.cell
def _():
    jaxstage_ext.inspect(lambda x: x @ jnp.ones(3), jnp.ones((4, 8)))
    return


@app.cell
def _(ins):
    jaxstage_ext.compiles() if ins else None
    return


if __name__ == "__main__":
    app.run()
"""


def environment(home: Path) -> dict[str, str]:
    """Under which marimo reads and writes nothing of this user's."""
    places = {name: str(home) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME")}
    return {**os.environ, **places, **python_path(), "JAX_PLATFORMS": "cpu"}


def written(folder: Path) -> Path:
    """The notebook, beside its settings."""
    (folder / "pyproject.toml").write_text(SETTINGS)
    (notebook := folder / "app.py").write_text(NOTEBOOK)
    return notebook


@contextlib.contextmanager
def serving(notebook: Path) -> Iterator[str]:
    """The address of `marimo edit` of a notebook, for the time of the block."""
    port = free_port()
    command = ["edit", notebook.name, "--headless", "--no-token", "--skip-update-check", "--port", str(port)]
    argv = [sys.executable, "-m", "marimo", "-y", *command]
    with (notebook.parent / "marimo.log").open("w") as log:
        own = environment(notebook.parent)
        process = subprocess.Popen(argv, cwd=notebook.parent, env=own, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
    try:
        _wait(f"http://127.0.0.1:{port}", process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(SECONDS)


def _wait(url: str, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + SECONDS
    while True:
        try:
            urllib.request.urlopen(f"{url}/health", timeout=SECONDS).close()
            return
        except (urllib.error.URLError, ConnectionError):
            if process.poll() is not None or time.monotonic() > until:
                raise
        time.sleep(0.1)
