"""The few words and numbers that head every form of an Inspection."""

from __future__ import annotations

import inspect as _inspect
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from jaxstage_ext.analysis.sharding import mesh_drawing
from jaxstage_ext.core import jax_private, stage_list, stages
from jaxstage_ext.core.call import Call
from jaxstage_ext.core.layout import specs
from jaxstage_ext.core.options import autotune, flag_values
from jaxstage_ext.core.targets import gpu_descriptions, packages
from jaxstage_ext.core.targets.cross_compile import Executable
from jaxstage_ext.core.targets.devices import CATALOGUE, memory_of
from jaxstage_ext.core.targets.target import Target
from jaxstage_ext.program import stage_wording, tabs
from jaxstage_ext.program.xla_analyses import Analyses, Figure
from jaxstage_ext.report.document_kinds import KINDS
from jaxstage_ext.report.units import plural, scaled

if TYPE_CHECKING:
    from jaxstage_ext.inspection import Inspection

_MOST_DRAWN = 4
"""Values of a refused call that are drawn."""
_SHORT = {"float": "f", "int": "i", "uint": "u", "complex": "c", "bfloat": "bf", "bool": "bool"}


def short_dtype(dtype: Any) -> str:
    """JAX's short name of a dtype: "f32", "bf16", "bool", "key<fry>"."""
    name = str(getattr(dtype, "name", dtype))
    kind = name.rstrip("0123456789")
    return _SHORT[kind] + name[len(kind) :] if kind in _SHORT and kind != "bool" else name


def short_value(value: Any) -> str:
    """One argument in a few characters: "f32[8,128]", "26 arrays, 1.1 MB", "3"."""
    leaves = jax.tree.leaves(value)
    if len(leaves) == 1 and leaves[0] is value:
        return _leaf(value)
    if not leaves:
        return _clip(repr(value))
    sizes = [_nbytes(leaf) for leaf in leaves]
    total = f", {scaled(sum(s for s in sizes if s), 'B')}" if all(s is not None for s in sizes) else ""
    return f"{type(value).__name__} of {plural(len(leaves), 'leaf', 'leaves')}{total}"


def _leaf(value: Any) -> str:
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return f"{short_dtype(value.dtype)}[{','.join(map(str, value.shape))}]"
    if isinstance(value, bool | int | float | complex):
        return repr(value)
    return _clip(repr(value))


def _clip(text: str, most: int = 40) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1] + "…"


def _nbytes(leaf: Any) -> int | None:
    try:
        return int(np.prod(leaf.shape)) * int(leaf.dtype.itemsize)
    except (AttributeError, TypeError):
        return None


def signature(call: Call, out: Any) -> str:
    """`loss(w: f32[128,512], x: f32[8,128]) -> f32[]`; `out` is a pytree or None while unknown."""
    parts = [f"{name}: {short_value(value)}" for name, value in _named(call).items()]
    arrow = f" -> {short_value(out)}" if out is not None else ""
    return f"{stages.call_name(call)}({', '.join(parts)}){arrow}"


def _named(call: Call) -> dict[str, Any]:
    try:
        bound = _inspect.signature(call.fn).bind(*call.args, **call.kwargs)
    except (TypeError, ValueError):
        named: dict[str, Any] = {str(i): arg for i, arg in enumerate(call.args)}
        return {**named, **call.kwargs}
    result: dict[str, Any] = {}
    for name, value in bound.arguments.items():
        kind = bound.signature.parameters[name].kind
        if kind is _inspect.Parameter.VAR_POSITIONAL:
            result.update({f"{name}[{i}]": v for i, v in enumerate(value)})
        elif kind is _inspect.Parameter.VAR_KEYWORD:
            result.update(value)
        else:
            result[name] = value
    return result


def target(inspection: Inspection) -> str:
    """What it was staged for: the target, or the platform that the kernel has, and JAX's version."""
    wanted = inspection.target
    if not wanted.is_local:
        many = _chosen(inspection) if wanted.platform == "cuda" else f"{wanted.platform}, {wanted.size}"
        return f"{wanted} · {many} · jax {jax.__version__}"
    return f"{platform(inspection)} · jax {jax.__version__}"


def _chosen(inspection: Inspection) -> str:
    """How the kernels of an absent GPU were chosen."""
    compiled = inspection.compiled
    tuned = compiled.tuned if isinstance(compiled, Executable) else None
    return tuned.title if tuned else "heuristic, not autotuned"


def platform(inspection: Inspection) -> str:
    """Where it is compiled for: "cpu", "gpu" or "tpu", as XLA names flags."""
    if not inspection.target.is_local:
        return "gpu" if inspection.target.platform == "cuda" else inspection.target.platform
    try:
        return jax.default_backend()
    except RuntimeError:
        return "no device"


def facts(found: Analyses, compiled: Any) -> list[dict[str, Any]]:
    """JAX's own analyses of the executable; "unknown" with the reason where it gives none."""
    return [
        _figure("FLOPs", found.cost("flops"), "FLOP", "XLA's cost analysis; it counts a loop's body once"),
        _figure("bytes accessed", found.cost("bytes accessed"), "B"),
        *_memory_facts(found),
        *_capacity(compiled),
    ]


def _capacity(compiled: Any) -> list[dict[str, Any]]:
    """The memory that an absent device has, where its maker says."""
    memory = memory_of(compiled.target) if isinstance(compiled, Executable) else None
    if memory is None:
        return []
    kind = compiled.target.kind
    return [_fact(f"{kind} memory", scaled(memory, "B"), f"of one {_device(compiled.target)}, by its maker")]


def _device(target: Target) -> str:
    """What JAX calls a device there: a chip, or its half."""
    half = target.devices != target.chips
    return f"{CATALOGUE[target.kind].title}{' TensorCore, a half of its chip' if half else ''}"


def _fact(label: str, text: str, note: str | None = None) -> dict[str, Any]:
    return {"label": label, "text": text, "known": True, "reason": None, "note": note}


def _figure(label: str, figure: Figure, unit: str, note: str | None = None) -> dict[str, Any]:
    value, reason = figure
    if value is None:
        return {"label": label, "text": "unknown", "known": False, "reason": reason, "note": None}
    return _fact(label, scaled(value, unit), note)


def _memory_facts(found: Analyses) -> list[dict[str, Any]]:
    note = "XLA's peak_memory_in_bytes; CPU executables may leave temporaries out of it"
    peak = _figure("peak memory", found.peak, "B", note)
    if found.memory is None:
        return [peak]
    return [peak, _fact("temp", scaled(found.memory["temp_size_in_bytes"], "B"))]


def of(inspection: Inspection) -> dict[str, Any]:
    """The summary of an Inspection; see CONTRIBUTING for its form."""
    staged = inspection._staged
    running = any(s.state == stages.RUNNING for s in staged.stages)
    coverage = None if running else inspection.coverage
    several = len(inspection.targets) > 1
    return {
        "version": 1,
        "name": f"{inspection.name} · {inspection.target}" if several else inspection.name,
        "signature": signature(inspection.call, _out(inspection)),
        "target": target(inspection),
        "options": flag_values.shown(options_of(inspection)),
        "stages": [_stage(inspection, s, running) for s in staged.stages],
        "facts": inspection._facts if stages.unwrap(inspection.compiled) is not None else [],
        "coverage": coverage and {"direct": coverage.direct, "inferred": coverage.inferred, "total": coverage.total},
        "documents": [_document(inspection, kind, running) for kind in inspection.documents],
        "error": _error(inspection),
        "notes": [] if running else _notes(inspection),
        "meshes": [] if running else _refused(inspection),
        "views": tabs.of(inspection),
        "open": tabs.first(inspection),
        "worker": not inspection.target.is_local,
        "compare": _compare(inspection),
    }


def _compare(inspection: Inspection) -> dict[str, Any] | None:
    """The targets side by side, for the first of them; the others say which row is theirs. None for one target."""
    targets = list(inspection.targets.values())
    if len(targets) < 2:
        return None
    number = next((i for i, one in enumerate(targets) if one is inspection), 0)
    return {"row": number} | (inspection.compare().to_dict() if number == 0 else {})


def _refused(inspection: Inspection) -> list[mesh_drawing.Sheet]:
    """How the values that JAX refused were to lie, drawn."""
    if (found := tabs.refused(inspection)) is None:
        return []
    known = [value for value in found.values if value.map.fits]
    wrong = [value for value in known if value.map.is_uneven] or known
    return [mesh_drawing.sheet(value, found.places) for value in wrong[:_MOST_DRAWN]]


def options_of(inspection: Inspection) -> dict[str, Any]:
    """The compile options in force: those that the function was jitted with, and this call's above them."""
    return jax_private.own_options(stages.unwrap(inspection.lowered)) | dict(inspection.call.compiler_options)


def _notes(inspection: Inspection) -> list[str]:
    notes = [specs.note(inspection.call)] if inspection.call.layout is not None else []
    notes += (
        _about_target(inspection)
        + _recorded(inspection)
        + flag_values.notes(options_of(inspection), platform(inspection))
    )
    coverage = inspection.coverage
    if coverage and coverage.total and not coverage.direct + coverage.inferred:
        notes.append("Nothing links to source: JAX recorded no line of your own code (a function out of a library?).")
    return notes


def _about_target(inspection: Inspection) -> list[str]:
    """How far what is shown may be from what that device would run."""
    target = inspection.target
    if not isinstance(inspection.compiled, Executable):
        return []
    notes, version = [], packages.find(target.platform).version
    if target.platform == "tpu":
        notes.append(f"Compiled by libtpu {version} without a TPU; nothing was run.")
    if target.platform == "cuda":
        tuned = inspection.compiled.tuned
        chosen = _MEASURED if tuned and tuned.decided and tuned.decided == tuned.choices else _HEURISTIC
        notes.append(f"Compiled by the CUDA plugin {version} without a GPU: {chosen}; nothing was run.")
        notes += [tuned.note] if tuned else []
        if not gpu_descriptions.in_plugin(version):
            notes.append(f"The plugin describes no GPUs; {target.kind} is described to it by JAXStage.")
    used, there = inspection.compiled.devices, target.devices or 0
    if used < there and target.name != "local":
        several = "a mesh of" if used > 1 else "no mesh or sharding and takes"
        notes.append(f"The program has {several} {used:,} of the target's {there:,} devices.")
    return [*notes, *_does_not_fit(inspection.compiled), *inspection.compiled.notes]


def _recorded(inspection: Inspection) -> list[str]:
    """What became of the autotune results that were to be saved."""
    path = options_of(inspection).get(autotune.SAVE)
    if not path or inspection.compiled is None:
        return []
    here = inspection.target.is_local and platform(inspection) == "gpu"
    return [autotune.recorded(path) if here else autotune.unrecorded(path, inspection.target)]


def _does_not_fit(compiled: Executable) -> list[str]:
    memory = memory_of(compiled.target)
    peak = (compiled.memory[0] or {}).get("peak_memory_in_bytes", 0)
    if memory is None or peak <= memory:
        return []
    return [f"It does not fit: it needs {scaled(peak, 'B')}, one {_device(compiled.target)} has {scaled(memory, 'B')}."]


_MEASURED = "what XLA tunes was chosen by autotune results, the rest may still differ from a real one"
_HEURISTIC = "kernels and tiles are XLA's heuristic choice, not autotuned, and may differ from those of a real one"


def _out(inspection: Inspection) -> Any:
    traced = stages.unwrap(inspection.traced)
    return traced.out_info if traced is not None else None


def _stage(inspection: Inspection, stage: stages.Stage, running: bool) -> dict[str, Any]:
    count = _COUNTS[stage.name](inspection, running) if stage.state == stages.DONE and stage.value is not None else None
    note = stage_wording.note(stage)
    if stage.state == stages.DONE and stage.value is None:
        note = f"{inspection.name} gives no {stage.name} of its own"
    return {
        "name": stage.name,
        "state": stage.state,
        "seconds": stage.seconds,
        "elapsed": stage.elapsed,
        "count": count,
        "note": note,
    }


def _equations(inspection: Inspection, running: bool) -> str:
    return plural(jax_private.count_equations(stages.unwrap(inspection.traced).jaxpr), "eqn")


def _operations(inspection: Inspection, running: bool) -> str | None:
    if running or "stablehlo" not in inspection.documents:
        return None
    return plural(inspection.documents["stablehlo"].coverage.total, "op")


def _instructions(inspection: Inspection, running: bool) -> str | None:
    if running or "hlo" not in inspection.documents:
        return None
    module = inspection._module_columns
    return f"{plural(len(module.names), 'instr')}, {plural(module.fusions, 'fusion')}"


_COUNTS = {"trace": _equations, "lower": _operations, "compile": _instructions}


def _document(inspection: Inspection, kind: str, running: bool) -> dict[str, Any]:
    document = None if running else inspection.documents[kind]
    return {
        "kind": kind,
        "title": KINDS[kind].title,
        "lines": len(document) if document is not None else None,
        "bytes": len(document.text) if document is not None else None,
    }


def _error(inspection: Inspection) -> dict[str, Any] | None:
    error = inspection.error
    if error is None:
        return None
    span = error.span
    return {
        "stage": error.stage,
        "type": error.type,
        "message": error.message,
        "told": " ".join(refused.notes) if (refused := tabs.refused(inspection)) is not None else "",
        "file": span.file if span else None,
        "label": (span.cell or span.file) if span else None,
        "line": span.line if span else None,
        "interrupted": error.interrupted,
        "log": not inspection.target.is_local and stage_list.makes_executable(error.stage),
    }
