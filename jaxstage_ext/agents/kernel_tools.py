"""What a kernel answers to a tool: a request of plain JSON types in, a short text out. It never raises."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

from jaxstage_ext.agents import agent_wording as wording
from jaxstage_ext.agents.tool_arguments import check_arguments
from jaxstage_ext.report.text.terminal import clean

MOST_BYTES = 8000
"""Of an answer, in UTF-8."""
Names = Mapping[str, Any]


def answer(request: str, namespace: Names) -> str:
    """The answer to `{"tool": name, ...arguments}`, from the inspections among the user's names.

    Names are looked up and never evaluated. What goes wrong is said in one line.
    """
    try:
        given = json.loads(request)
        tool = given.pop("tool")
        if tool not in TOOLS:
            return wording.no_tool(tool, [*TOOLS])
        check_arguments(tool, TOOLS[tool], given)
        return _bounded(TOOLS[tool](namespace, **given))
    except Exception as error:
        return clean(wording.failed(error))


def _bounded(text: str) -> str:
    text = "\n".join(map(clean, text.split("\n")))
    data = text.encode("utf-8", "replace")
    if len(data) <= MOST_BYTES:
        return text
    return data[: MOST_BYTES - len(wording.CUT.encode()) - 1].decode("utf-8", "ignore") + "\n" + wording.CUT


def _inspections(namespace: Names) -> dict[str, Any]:
    """The inspections by the user's names. Nothing is imported for it, and nothing of the values is asked."""
    module = sys.modules.get("jaxstage_ext.api.inspection")
    if module is None:
        return {}
    named = list(namespace.items())
    return {name: one for name, one in named if issubclass(type(one), module.Inspection) and not name.startswith("_")}


def _inspection(namespace: Names, name: str) -> Any:
    found = _inspections(namespace)
    if name not in found:
        raise ValueError(wording.no_inspection(name, [*found]))
    return found[name]


def _listed(namespace: Names) -> str:
    found = _inspections(namespace)
    heads = [f"{name}: {' '.join(one._repr_llm_().splitlines()[:2])}" for name, one in found.items()]
    return "\n".join(heads) or wording.NO_INSPECTION


def _brief(namespace: Names, name: str) -> str:
    text: str = _inspection(namespace, name)._repr_llm_()
    return text


def _findings(namespace: Names, name: str, limit: int = 5, everything: bool = False) -> str:
    found = _inspection(namespace, name).findings
    text: str = (found.all() if everything else found).to_json(limit=limit)
    return text


def _table(
    namespace: Names, name: str, table: str, limit: int = 10, by: str = "", where: Mapping[str, Any] | None = None
) -> str:
    inspection = _inspection(namespace, name)
    if table not in TABLES:
        raise ValueError(wording.no_table(table, [*TABLES]))
    text: str = TABLES[table](inspection).to_json(limit=limit, by=by, where=where)
    return text


def _near(namespace: Names, name: str, instruction: str, hops: int = 1) -> str:
    return str(_inspection(namespace, name).near(instruction, hops))


def _try(namespace: Names, name: str, finding: int = 0) -> str:
    found = _inspection(namespace, name).findings
    if not isinstance(finding, int) or not 0 <= finding < len(found):
        raise ValueError(wording.no_such_finding(finding, len(found)))
    trial = found[finding].try_()
    return f"{trial.text}\n{trial.table._repr_llm_()}"


def _compare(namespace: Names, name: str, before: str) -> str:
    after, earlier = _inspection(namespace, name), _inspection(namespace, before)
    return f"{after.compare(earlier)}\n\n{after.difference(earlier)}"


def _open(namespace: Names, path: str) -> str:
    from jaxstage_ext.api.load import load

    opened: Any = load(path)
    return str(opened._repr_llm_()) if hasattr(opened, "_repr_llm_") else str(opened)


TOOLS: Mapping[str, Callable[..., str]] = {
    "inspections": _listed,
    "inspection": _brief,
    "findings": _findings,
    "table": _table,
    "near": _near,
    "try": _try,
    "compare": _compare,
    "open": _open,
}
TABLES: Mapping[str, Callable[[Any], Any]] = {
    "cost": lambda ins: ins.cost,
    "cost by line": lambda ins: ins.cost.by("line"),
    "cost by scope": lambda ins: ins.cost.by("scope"),
    "equations": lambda ins: ins.cost.equations,
    "memory": lambda ins: ins.memory.peak_set,
    "collectives": lambda ins: ins.collectives,
    "dtypes": lambda ins: ins.dtypes,
    "shardings": lambda ins: ins.shardings,
    "layouts": lambda ins: ins.layouts,
    "effects": lambda ins: ins.effects,
    "answers": lambda ins: ins.answers,
    "options": lambda ins: ins.options,
}
