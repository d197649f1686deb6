"""The folder for a bug report: it compiles again with jaxlib alone, and holds nothing of the user's."""

from __future__ import annotations

import base64
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from absent import needs

import jaxstage_ext

SECRET = np.linspace(3.25, 77.75, 1600, dtype=np.float32).reshape(40, 40)
TABLE = np.arange(40)[::-1].copy()
PLATFORMS = {"local": None, "cpu:4": None, "v5e:2x2": "tpu", "h100": "cuda"}


@jax.jit
def secret_activation(x: Any) -> Any:
    return jnp.tanh(x)


def secret_step(secret_params: Any, x: Any) -> Any:
    hidden = secret_activation(x @ secret_params["secret_weights"] @ SECRET)
    return {"secret_loss": hidden.sum(), "hidden": hidden[:, TABLE]}


ARGUMENTS = ({"secret_weights": jnp.ones((40, 40))}, jnp.ones((64, 40)))


@pytest.mark.parametrize("target", PLATFORMS)
def test_the_script_gives_the_same_hlo_without_jax(target: str, tmp_path: Path) -> None:
    if platform := PLATFORMS[target]:
        needs(platform)
    inspection = jaxstage_ext.inspect(jax.jit(secret_step), *ARGUMENTS, target=target)
    made = inspection.reproducer(tmp_path / "report")
    [note] = made.notes
    assert note.startswith("2 constants hold random values in place of yours; scalars, small constants")
    watched = "import sys, runpy; runpy.run_path(sys.argv[1], run_name='__main__')"
    ran = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.modules['jax'] = None; {watched}", str(made.folder / "repro.py")],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert ran.returncode == 0, ran.stderr
    assert "the same HLO as in hlo.txt" in ran.stderr
    own = inspection.documents["hlo"].text
    texts = ((made.folder / "hlo.txt").read_text(), own)
    opcodes = [sorted(re.findall(r" = .+? ([a-z][a-z-]*)\(", text)) for text in texts]
    assert opcodes[0] == opcodes[1]


def test_nothing_of_the_user_is_in_it(tmp_path: Path) -> None:
    made = jaxstage_ext.inspect(jax.jit(secret_step), *ARGUMENTS).reproducer(tmp_path / "report")
    held = b"".join((made.folder / name).read_bytes() for name in made.files)
    values = SECRET[0].tobytes()[:16].hex().upper().encode()
    places = (str(Path.cwd()).encode(), sys.prefix.encode())
    for secret in (b"secret", b"test_reproducer", *places, b"3.25", values):
        assert secret not in held


def test_axes_of_the_mesh_are_named_anew(tmp_path: Path) -> None:
    mesh = jax.sharding.AbstractMesh((4,), ("secret_axis",), axis_types=(jax.sharding.AxisType.Auto,))
    placed = jax.ShapeDtypeStruct((8, 8), jnp.float32, sharding=jax.NamedSharding(mesh, jax.P("secret_axis")))
    made = jaxstage_ext.inspect(lambda x: x.sum(), placed, target="cpu:4").reproducer(tmp_path / "report")
    held = "".join((made.folder / name).read_text("latin-1") for name in made.files)
    assert "secret" not in held
    assert "axis0" in held
    ran = subprocess.run([sys.executable, str(made.folder / "repro.py")], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(("target", "platform"), [("v5e:2x2", "tpu"), ("h100", "cuda")])
def test_kernels_of_pallas_hold_no_paths(target: str, platform: str, tmp_path: Path) -> None:
    from jax.experimental import pallas

    needs(platform)

    def kernel(a: Any, b: Any, out: Any) -> None:
        out[...] = jnp.exp(a[...]) + b[...]

    def call(x: Any) -> Any:
        return pallas.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x, x)

    made = jaxstage_ext.inspect(call, jnp.ones((128, 128)), target=target).reproducer(tmp_path / "report")
    assert any("1 Pallas kernel still holds names of your functions." in note for note in made.notes)
    for name in set(made.files) - {"repro.py"}:
        written = re.sub(
            rb"\\([0-9A-F]{2})", lambda two: bytes.fromhex(two[1].decode()), (made.folder / name).read_bytes()
        )
        inside = [base64.b64decode(part + b"==") for part in re.findall(rb"[A-Za-z0-9+/]{60,}", written)]
        assert not any(b"test_reproducer" in part for part in [written, *inside]), name
    ran = subprocess.run([sys.executable, str(made.folder / "repro.py")], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


def test_another_hlo_is_told(tmp_path: Path) -> None:
    made = jaxstage_ext.inspect(jax.jit(secret_step), *ARGUMENTS).reproducer(tmp_path / "report")
    (made.folder / "hlo.txt").write_text("HloModule other")
    ran = subprocess.run([sys.executable, str(made.folder / "repro.py")], capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert "OTHER HLO" in ran.stderr


def test_options_are_kept_and_dumps_are_not(tmp_path: Path) -> None:
    options = {"xla_cpu_enable_fast_math": True, "xla_dump_to": str(tmp_path / "dumps")}
    inspection = jaxstage_ext.inspect(jax.jit(secret_step), *ARGUMENTS, compiler_options=options)
    made = inspection.reproducer(tmp_path / "report")
    held = (made.folder / "compile_options.pb").read_bytes()
    assert b"xla_cpu_enable_fast_math" in held
    assert b"dumps" not in held


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="holds something already"):
        jaxstage_ext.inspect(secret_step, *ARGUMENTS).reproducer(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_compiled_object_has_nothing_to_write(tmp_path: Path) -> None:
    compiled = jax.jit(secret_step).lower(*ARGUMENTS).compile()
    with pytest.raises(ValueError, match="no StableHLO"):
        jaxstage_ext.inspect(compiled).reproducer(tmp_path / "report")
