"""Schedules that XLA predicts for eight H100s, and the modules that they are of.

`python tests/golden/schedules/record.py` writes those of the installed JAX: for each program `NAME.schedule.pb.gz`, a
ScheduleProto as the worker cuts it, and `NAME.hlo.pb.gz`, the module that is shown. `kept` reads one.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
VERSIONS = ("jax-0.10.2", "jax-0.12.0.1")
NAMES = ("data_parallel", "sharded_parameters", "scanned_layers", "scan_among_others")


def kept(version: str, name: str) -> tuple[bytes, bytes]:
    """(schedule, module) of a program."""
    folder = HERE / version
    return tuple(gzip.decompress((folder / f"{name}.{what}.pb.gz").read_bytes()) for what in ("schedule", "hlo"))  # type: ignore[return-value]


def data_parallel() -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
    """The gradient step of a small network: all-reduces that are hidden in part."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec

    def step(params: Any, x: Any) -> Any:
        def loss(params: Any) -> Any:
            h = x
            for w in params:
                h = jnp.tanh(h @ w)
            return jnp.mean(h.astype(jnp.float32) ** 2)

        return jax.tree.map(lambda a, b: a - (0.1 * b).astype(a.dtype), params, jax.grad(loss)(params))

    shape = jax.ShapeDtypeStruct
    params = [shape((4096, 4096), jnp.bfloat16) for _ in range(3)]
    return step, (params, shape((8192, 4096), jnp.bfloat16)), {"x": PartitionSpec("data")}


def sharded_parameters() -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
    """The same with parameters in shards: all-gathers, some of them at once, and reduce-scatters."""
    from jax.sharding import PartitionSpec

    step, given, specs = data_parallel()
    return step, given, {**specs, "params": PartitionSpec("data")}


def scanned_layers() -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
    """Layers in a loop: XLA schedules the bodies alone, with copies that it only gives a weight."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec

    def step(w: Any, x: Any) -> Any:
        def loss(w: Any) -> Any:
            return jnp.mean(jax.lax.scan(lambda h, w: (jnp.tanh(h @ w), None), x, w)[0].astype(jnp.float32) ** 2)

        return w - (0.1 * jax.grad(loss)(w)).astype(w.dtype)

    shape = jax.ShapeDtypeStruct
    given = (shape((6, 2048, 2048), jnp.bfloat16), shape((8192, 2048), jnp.bfloat16))
    return step, given, {"x": PartitionSpec("data")}


def scan_among_others() -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
    """Layers in a loop between others: XLA schedules the entry too, where a loop has next to no time."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec

    def step(w: Any, e: Any, x: Any) -> Any:
        def loss(w: Any, e: Any) -> Any:
            h = jax.lax.scan(lambda h, w: (jnp.tanh(h @ w), None), jnp.tanh(x @ e) @ e.T, w)[0]
            return jnp.mean(jnp.tanh(h @ e).astype(jnp.float32) ** 2)

        return jax.tree.map(lambda a, b: a - (0.1 * b).astype(a.dtype), (w, e), jax.grad(loss, (0, 1))(w, e))

    shape = jax.ShapeDtypeStruct
    given = (shape((6, 1024, 1024), jnp.bfloat16), shape((1024, 4096), jnp.bfloat16), shape((4096, 1024), jnp.bfloat16))
    return step, given, {"x": PartitionSpec("data")}


def main() -> None:
    import jax

    from jaxstage_ext import inspect
    from jaxstage_ext.core.recompile import recompiled_schedule

    jax.config.update("jax_hlo_source_file_canonicalization_regex", re.escape(f"{HERE.parents[2]}/"))
    folder = HERE / f"jax-{jax.__version__}"
    folder.mkdir(exist_ok=True)
    for made in (data_parallel, sharded_parameters, scanned_layers, scan_among_others):
        function, given, specs = made()
        program = inspect(function, *given, target="h100:8", mesh="data=8", in_specs=specs).program
        schedule = recompiled_schedule.dumped(program.staged, False).proto
        assert schedule is not None
        for what, data in (("schedule", schedule), ("hlo", program.proto())):
            (folder / f"{made.__name__}.{what}.pb.gz").write_bytes(gzip.compress(data, 9, mtime=0))


if __name__ == "__main__":
    main()
