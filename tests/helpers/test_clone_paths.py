"""A compiler's answer to one clone is that to another clone but for the names of files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import clone_paths
import compiled_once
import jax
import numpy as np
import pytest
from jaxlib import xla_client

from jaxstage_ext.core.jax_private import lowered_modules, xla_executables

SOURCE = """
def step(x):
    y = jax.numpy.tanh(x @ x)
    return y.sum(0)
"""
FOLDERS = ("/a", "/a/much/longer/folder", f"/{'a' * 130}", f"/{'long/' * 4000}end")


def lowered(folder: str) -> Any:
    space: dict[str, Any] = {"jax": jax}
    exec(compile(SOURCE, f"{folder}/tests/programs.py", "exec"), space)
    return jax.jit(space["step"]).lower(jax.ShapeDtypeStruct((8, 8), np.float32))


def module_of(folder: str) -> Any:
    [module] = xla_executables.hlo_modules(lowered(folder).compile())
    return module


@pytest.mark.parametrize("new", FOLDERS)
@pytest.mark.parametrize("old", FOLDERS[:3])
def test_a_message_is_that_of_the_other_clone(old: str, new: str) -> None:
    """Read by jaxlib, which refuses a message whose lengths are wrong."""
    data, wanted = (module_of(folder).as_serialized_hlo_module_proto() for folder in (old, new))
    moved = clone_paths.moved({"proto": data, "rest": ("a", None, [f"{old}/x"])}, old, new)
    assert moved["rest"] == ("a", None, [f"{new}/x"])
    assert f"{old}/tests/programs.py".encode() in data
    read = type(module_of(old)).from_serialized_hlo_module_proto
    assert f"{new}/tests/programs.py" in read(wanted).to_string()
    assert read(moved["proto"]).to_string() == read(wanted).to_string()


def test_what_names_no_file_stays() -> None:
    data = module_of("/b").as_serialized_hlo_module_proto()
    assert clone_paths.moved(data, "/a", "/cc") is data


def test_one_program_has_one_name_in_all_clones(monkeypatch: pytest.MonkeyPatch) -> None:
    def name(folder: str, **more: Any) -> str:
        monkeypatch.setattr(compiled_once, "ROOT", Path(folder))
        options = xla_client.CompileOptions()
        options.executable_build_options.debug_options.xla_gpu_cuda_data_dir = f"{folder}/cuda"
        request = {
            "module": lowered_modules.module_bytecode(lowered(folder)),
            "options": options.SerializeAsString(),
            **more,
        }
        return compiled_once.key("tpu", request, (), None, {})

    assert len({name(folder) for folder in FOLDERS[:3]}) == 1, "options name the folder of CUDA too"
    assert name("/a") != name("/a", options=b"o")
