"""Records what the kernel answers the panel's front end, for the tests of both sides.

`python tests/replies/record.py` writes `labextension/tests/fixtures/replies.json`: the panel's state and one reply of
each request method, of small real programs; and `figures.json` beside it: numbers, and how Python writes them.
tests/replies/test_replies.py checks that the kernel still answers in that form; the front end's tests read the same
files, so neither side can drift from the other.
"""

from __future__ import annotations

import base64
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ["JAXSTAGE_MEASURE_CPU"] = "0"  # replies are the same on every machine
sys.path.insert(0, str(Path(__file__).parents[2]))
os.environ.setdefault("JAX_NUM_CPU_DEVICES", "4")

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

import jaxstage_ext
from jaxstage_ext.api.compiles import compile_cache, compiles
from jaxstage_ext.compilation.events.listening import listening_block
from jaxstage_ext.panel.requests import dispatch
from jaxstage_ext.panel.requests.findings_requests import key_of
from jaxstage_ext.profiling.op_places import without_places
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.program.head.summary import summary
from jaxstage_ext.program.kinds.compile_history_program import CompileHistoryProgram
from jaxstage_ext.program.kinds.session_view import CompileCacheProgram
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions import answers
from jaxstage_ext.report.recording import EventKind, EventLane, LaneKind, Loss, Lost
from jaxstage_ext.report.text import units
from tests.helpers import made_job_compiles, made_searches
from tests.helpers.recordings import Event, recording

RECORDED = Path(__file__).parents[2] / "labextension/tests/fixtures/replies.json"
FIGURES = RECORDED.with_name("figures.json")
AMOUNTS = (0, 1, 34, 999.4, 999.5, 1000, 1005, 12345, 999_499, 999_500, 1.25e6, 2.5e9, 7.125e12, 3e15, 4.2e18, 0.125)
TIMES = (0, 3e-12, 4.5e-9, 9.995e-7, 1e-6, 0.0004, 0.0812, 0.9994, 0.9995, 1.25, 59.96, 99.94, 99.95, 100.5, 123, 3600)
CHANGES = (1, -3, 1200, -34_300, 2_000_000_000)
WITHOUT_REPLY = (
    *("script", "cancel", "elapsed", "log", "library", "compile wait", "stop compile"),
    *("compile_open", "compiles_refresh", "compile_cache_refresh", "compile_cache_entry"),
    "job_compiles_refresh",
    "compile_place",
    *("sharding_search_run", "sharding_search_compile", "sharding_search_open"),
)
"""Methods that answer with a built file, with the state of something that is running, about libraries' frames, with one
number, about entries of a folder of JAX's cache, with paths of this machine, or once a compile or a search has ended.

The programs have no frame in a library; `tests/panel/test_library_request.py` asks for one. No cache
folder is in use, and no entry can be asked for; `tests/compilation/persistent/test_miss_causes.py` asks for one.
"""
LONGEST = 12
"""Entries that are kept of a list in a reply without buffers, such as XLA's flags."""


def loss(w: Any, x: Any) -> Any:
    hidden = jnp.tanh(x @ w)
    with jax.named_scope("head"):
        probabilities = jax.nn.softmax(hidden.astype(jnp.bfloat16))
    return jnp.sum(probabilities.astype(jnp.float32) ** 2)


def descended(params: Any, moments: Any, x: Any) -> Any:
    slopes = jax.grad(lambda params: jnp.sum(jnp.tanh(x @ params["w"])))(params)
    moments = jax.tree.map(lambda moment, slope: 0.9 * moment + slope, moments, slopes)
    return jax.tree.map(lambda param, moment: param - moment, params, moments), moments


def resharded(x: Any, y: Any) -> Any:
    both = jnp.concatenate([x, y])
    return jax.lax.with_sharding_constraint(both @ both.T, P(("c", "a"), "b"))


def programs() -> dict[str, Any]:
    """The programs by name, each an Inspection."""
    square = jax.ShapeDtypeStruct((8, 8), jnp.float32)
    four = NamedSharding(jax.make_mesh((4,), ("data",)), P("data"))
    uneven = jax.jit(jnp.tanh, in_shardings=four)
    mesh = dict(target="cpu:8", mesh="a=2,b=2,c=2")
    return {
        "gradient": jaxstage_ext.inspect(jax.grad(loss), jnp.ones((4, 8)), jnp.ones((2, 4))),
        "resharded": jaxstage_ext.inspect(resharded, square, square, **mesh, in_specs=(P("a", "b"), P("b", "a"))),
        "targets": jaxstage_ext.inspect(loss, jnp.ones((4, 8)), jnp.ones((2, 4)), target=["local", "cpu:2"]),
        "donates nothing": jaxstage_ext.inspect(descended, *2 * [{"w": jnp.ones((512, 512))}], jnp.ones((8, 512))),
        "refused": failed(uneven, jnp.ones((3, 8))),
        "profiled": profiled(),
        "compiles": view(CompileHistoryProgram(compiled_again())),
        "cache": view(CompileCacheProgram(compile_cache())),
        "job": view(made_job_compiles.MadeJobCompiles().program),
        "searched": searched(),
    }


def searched() -> Any:
    """The Inspection of a call whose layouts were searched, by a search made by hand; the first is compiled."""
    inspection = jaxstage_ext.inspect(loss, jnp.ones((4, 8)), jnp.ones((2, 4)), stage="lower")
    made_searches.keep(inspection.program, made_searches.MadeSearch()).confirm(0)
    return inspection


def view(program: Program) -> Any:
    """A view of the kernel in the place of an Inspection."""
    alone = SimpleNamespace(program=program, summary=lambda: summary(program))
    return SimpleNamespace(program=program, targets={"": alone})


def compiled_again() -> Any:
    """The compiles of a function that was called with two shapes."""
    with listening_block():
        first = compiles().records
        for rows in (2, 3):
            jax.jit(loss)(jnp.ones((4, 8)), jnp.ones((rows, 4)))
        began = first[-1].number if first else 0
        return compiles().only(lambda record: record.number > began)


def profiled() -> Any:
    """The Inspection of a call with a timeline made by hand: two steps, a copy, an idle time and what the host did."""
    inspection = jaxstage_ext.inspect(loss, jnp.ones((4, 8)), jnp.ones((2, 4)))
    module = inspection.program.module.header.name
    events = [
        event
        for step in range(2)
        for event in (
            Event("Stream #1", "gemm", 200 * step, 60, EventKind.KERNEL, (module, "dot.1"), 0, step, 7 + step),
            Event("Stream #1", "softmax", 200 * step + 70, 30, EventKind.KERNEL, (module, "fusion.1"), 0, step),
            Event("Stream #2", "MemcpyH2D", 200 * step + 90, 40, EventKind.COPY, None, 0, step),
            Event("python", "next(batches)", 200 * step + 130, 60, EventKind.PYTHON, None, -1, -1),
            Event("python", "cuLaunchKernel", 200 * step, 5, EventKind.LAUNCH, None, -1, -1, 7 + step),
        )
    ]
    lanes = [EventLane("host", "python", LaneKind.PYTHON)]
    made = recording(events, lanes, [Lost(Loss.DROPPED, 7)], title="loss(w, x)")
    inspection.program.timeline = Timeline(made, without_places(made))
    return inspection


def failed(function: Any, *arguments: Any, **options: Any) -> Any:
    """The Inspection of a call that JAX refuses."""
    try:
        jaxstage_ext.inspect(function, *arguments, **options)
    except Exception as error:
        return error.inspection  # type: ignore[attr-defined]
    raise AssertionError(f"{function.__name__} was to be refused")


def requests(inspections: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(program, method, parameters) of every request that is recorded; later ones rest on what earlier ones compute."""
    gradient = inspections["gradient"]
    hlo = gradient.documents["hlo"]
    fusion = next(line for line in hlo.lines if " fusion(" in line)
    name = fusion.split(" = ")[0].removeprefix("  ROOT ").strip().lstrip("%")
    row = hlo.lines.index(fusion)
    for method, parameters in {
        "document": {"doc": "hlo"},
        "page": {"doc": "hlo", "start": 0, "end": 3},
        "columns": {"doc": "hlo"},
        "frames": {},
        "search": {"doc": "hlo", "query": "fusion"},
        "symbol": {"doc": "hlo", "name": f"%{name}", "row": row},
        "operations": {"doc": "stablehlo"},
        "flags": {},
        "answer": {"question": next(iter(answers.QUESTIONS))},
        "cost": {},
        "cost_parts": {},
        "members": {"instruction": name},
        "cost_groups": {"group": "line"},
        "equations": {},
        "equation_groups": {"group": "line"},
        "ledger": {},
        "roofline": {},
        "heat": {"measure": "FLOPs"},
        "memory": {},
        "memory at": {"space": 0, "position": 0},
        "kept": {"policy": ""},
        "policy": {"policy": "nothing_saveable"},
        "donation": {},
        "dtypes": {},
        "layouts": {},
        "layout_copies": {},
        "effects": {},
        "dimensions": {"quick": False},
        "passes": {},
        "pass_diff": {"pass": 0},
        "pass_history": {"doc": "hlo", "row": row},
        "kernels": {},
        "figures": {"bundled": False},
    }.items():
        yield "gradient", method, parameters
    own = next(kernel.key for kernel in gradient.kernels.rows if kernel.name)
    yield "gradient", "kernel", {"doc": f"llvm:{own}"}
    yield "targets", "difference", {"before": 0, "after": 1}
    yield "donates nothing", "try", {"finding": key_of(inspections["donates nothing"].findings[0])}
    yield "donates nothing", "findings", {"all": False}
    for method, parameters in {
        "exchanges": {},
        "shardings": {"all": True},
        "sharding_map": {"all": True, "value": 0},
        "collectives": {"quick": False},
        "lane": {"lane": "sharding"},
        "warnings": {},
    }.items():
        yield "resharded", method, parameters
    for method, parameters in {
        "timeline": {},
        "timeline tile": {"level": 0, "tile": 0, "lanes": "0"},
        "timeline event": {"event": 0},
        "timeline events of": {"doc": "hlo", "row": 0},
        "timeline search": {"query": "gemm", "page": 0},
        "timeline detail": {"event": 0},
        "timeline head": {},
        "timeline table": {"table": "ops"},
        "timeline compare": {"by": "ops", "before": "", "after": ""},
        "timeline export": {"format": "csv", "table": "ops"},
    }.items():
        yield "profiled", method, parameters
    first, again = (
        record.number for record in inspections["compiles"].program.history.records if record.name == "loss"
    )
    for method, parameters in {
        "compiles": {},
        "compiles_causes": {},
        "compile_record": {"number": again},
        "compile_compare": {"number": again, "other": first},
    }.items():
        yield "compiles", method, parameters
    yield "searched", "sharding_search", {"most": 2000}
    yield "searched", "sharding_search_layout", {"layout": 0}
    yield "cache", "compile_cache", {}
    yield "cache", "compile_cache_misses", {}
    yield "job", "job_compiles", {}
    yield "job", "job_compiles_programs", {}
    yield "job", "job_compiles_record", {"process": 0, "number": 1}


def answered(program: Program, method: str, parameters: Mapping[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
    """The reply to a request, however long it takes."""
    for _ in range(3000):
        result, buffers = dispatch.answer([program], method, {"call": 0, **parameters})
        if "pending" not in result:
            return result, buffers
        time.sleep(0.02)
    raise AssertionError(f"{method} has not answered within a minute")


def shortened(value: Any) -> Any:
    """The same JSON with the first entries of long lists."""
    if isinstance(value, dict):
        return {key: shortened(inner) for key, inner in value.items()}
    return [shortened(inner) for inner in value[:LONGEST]] if isinstance(value, list) else value


def record() -> dict[str, Any]:
    """What the file holds: the state of each program's panel, and the replies in the order of the requests."""
    inspections = programs()
    states = {
        name: {"version": 1, "calls": [one.summary() for one in inspection.targets.values()], "busy": False}
        for name, inspection in inspections.items()
    }
    replies = []
    for program, method, parameters in requests(inspections):
        result, buffers = answered(inspections[program].program, method, parameters)
        result = result if buffers else shortened(result)
        packed = [base64.b64encode(data).decode("ascii") for data in buffers]
        replies.append(
            {"program": program, "method": method, "params": parameters, "result": result, "buffers": packed}
        )
    return {"states": states, "replies": replies}


def figures() -> dict[str, list[tuple[Any, ...]]]:
    """Numbers with their units, and how Python writes them; the front end writes them the same."""
    return {
        "scaled": [(value, unit, units.scaled(value, unit)) for unit in ("B", "FLOP") for value in AMOUNTS]
        + [(value, "s", units.scaled(value, "s")) for value in TIMES],
        "duration": [(value, units.duration(value)) for value in TIMES],
        "signed": [(value, unit, units.signed(value, unit)) for unit in ("", "B") for value in CHANGES],
    }


def without_this_machine(text: str) -> str:
    return text.replace(str(Path(__file__).parents[2]), "/home/me/project").replace(sys.prefix, "/home/me/env")


def main() -> None:
    text = json.dumps(record(), indent=None, separators=(",", ":"), allow_nan=False)
    RECORDED.write_text(without_this_machine(text).replace('},{"program"', '},\n{"program"') + "\n")
    FIGURES.write_text(json.dumps(figures(), separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
