"""What a process reads of another's compile beside what it compiles itself, for the same program; then both run it."""

from __future__ import annotations

import dataclasses
import json
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np
from joined import FOLDER, PROCESS, finish, here, join, mesh

CELL = """
import jax, jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

def looped(x, w):
    def body(c, _):
        c = jnp.sin(c @ w) + c.mean(axis=0)
        return c, c.max()
    return jax.lax.scan(body, x, None, length=5)

def mapped(x, w):
    def one(x, w):
        return jax.lax.psum(x @ w, "x"), jax.lax.all_gather(x, "x")
    return jax.shard_map(one, mesh=mesh, in_specs=(P("x"), P()), out_specs=(P(), P("x")))(x, w)

def trained(x, w):
    loss = lambda w: jnp.mean((x @ w) ** 2)
    value, gradient = jax.value_and_grad(loss)(w)
    return w - 0.1 * gradient, value
"""
NAMES = ("looped", "mapped", "trained")

join()

import jaxstage_ext  # noqa: E402
from jaxstage_ext.core import shared_executables  # noqa: E402
from jaxstage_ext.processes.inside import engine_sharing  # noqa: E402


def functions() -> dict[str, Callable[..., Any]]:
    """Those of the cell, anew, in a file whose folder is that of this process's cells."""
    folder = FOLDER / f"ipykernel_{os.getpid()}"
    folder.mkdir(exist_ok=True)
    (folder / "1234.py").write_text(CELL)
    space: dict[str, Any] = {"mesh": mesh()}
    exec(compile(CELL, str(folder / "1234.py"), "exec"), space)
    return {name: jax.jit(space[name], donate_argnums=0 if name == "looped" else ()) for name in NAMES}


def arguments() -> tuple[Any, Any]:
    data = np.linspace(-1, 1, 8 * 16, dtype=np.float32).reshape(8, 16), np.eye(16, dtype=np.float32) / 2
    shardings = [jax.sharding.NamedSharding(mesh(), jax.sharding.PartitionSpec(*axis)) for axis in (("x",), ())]
    x, w = (
        jax.make_array_from_callback(a.shape, s, lambda at, a=a: a[at]) for a, s in zip(data, shardings, strict=True)
    )
    return x, w


def facts(inspection: Any) -> dict[str, Any]:
    """All that is shown of an executable."""
    hlo = inspection.program.documents["hlo"]
    stats = inspection.compiled.memory_analysis()
    spans = [hlo.source_of(line) for line in range(1, len(hlo) + 1)]
    return {
        "text": hlo.text,
        "lines": [(span.line, os.path.basename(span.file)) if span else None for span in spans],
        "of this process": all(str(os.getpid()) in span.file for span in spans if span and "ipykernel" in span.file),
        "columns": {
            name: column.tolist() for name in ("flags", "fold_end") if (column := getattr(hlo, name)) is not None
        },
        "cost": dict(sorted(inspection.compiled.cost_analysis().items())),
        "memory": {name: getattr(stats, name) for name in dir(stats) if name.endswith("_in_bytes")},
        "assignment": bytes(stats.serialized_buffer_assignment_proto).hex(),
        "shardings": repr((inspection.compiled.input_shardings, inspection.compiled.output_shardings)),
        "table": str(inspection.cost).replace(str(os.getpid()), ""),
    }


def inspected(name: str, x: Any, w: Any) -> Any:
    return jaxstage_ext.inspect(functions()[name], x, w)


def ready(what: str) -> None:
    (FOLDER / what).touch()


def wait_for(what: str) -> None:
    deadline = time.monotonic() + 60
    while not (FOLDER / what).exists():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


def told() -> Iterator[tuple[str, dict[str, Any]]]:
    """Process 0 compiles while process 1 does not; process 1 reads, and then compiles too."""
    x, w = arguments()
    for name in NAMES:
        if PROCESS:
            wait_for(f"{name} compiled")
        inspection = inspected(name, x, w)
        stage = inspection.program.staged.stage("compile")
        told: dict[str, Any] = {
            "sharing": stage.sharing.value,
            "hit": dataclasses.asdict(stage.hit) if stage.hit else None,
        }
        if told["hit"]:
            told["hit"]["cache"] = told["hit"]["cache"].value
        told |= {"seconds": stage.seconds, "facts": facts(inspection)}
        ready(f"{name} compiled")
        if PROCESS:
            shared_executables.share_in(None)
            own = inspected(name, x, w)
            told |= {"own": facts(own), "own sharing": own.program.staged.stage("compile").sharing.value}
            engine_sharing.begin(str(FOLDER), PROCESS, None)
        result = jax.tree.leaves(inspection.compiled(*arguments()))
        told["result"] = [
            here(value) for value in result if not jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key)
        ]
        yield name, told


engine_sharing.begin(str(FOLDER), PROCESS, None)
finish(json.loads(json.dumps(dict(told()))))
