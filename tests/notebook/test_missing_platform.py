"""JAX_PLATFORMS names a platform that is not here: one line, and no frame of ours."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CELLS = """
from magic_shell import Shell
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config
shell = Shell(InteractiveShell.instance(config=Config(HistoryManager={"enabled": False})))
shell.ip.run_line_magic("load_ext", "jaxstage_ext")
shell.run("import jax")
for options in ("", "-t cpu:8"):
    print(shell.run(f"%%compile {options}\\n(lambda x: x)(jax.ShapeDtypeStruct((8,), 'float32'))").error)
from jaxstage_ext.core.call import Call
from jaxstage_ext.api.inspect import run
shown = run(Call(lambda x: x, (shell["jax"].ShapeDtypeStruct((8,), "float32"),))).summary()
print(shown["target"], shown["error"]["type"], shown["notes"])
"""


def test_a_platform_without_its_plugin_is_told_in_one_line() -> None:
    folders = [str(Path(__file__).parents[1] / "helpers"), str(Path(__file__).parents[2])]
    environment = os.environ | {"JAX_PLATFORMS": "rocm", "PYTHONPATH": os.pathsep.join(folders)}
    done = subprocess.run([sys.executable, "-c", CELLS], env=environment, capture_output=True, text=True, timeout=120)
    *errors, panel = done.stdout.splitlines()
    assert len(errors) == 2, done.stderr
    assert all(line.startswith("JAX finds no device: Unable to initialize backend 'rocm'") for line in errors)
    assert panel.startswith("no device") and panel.endswith("RuntimeError []")
