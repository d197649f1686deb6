"""An Inspection read back from JSON: documents and numbers, no JAX objects."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from jaxstage_ext.core import stages
from jaxstage_ext.core.call import Call
from jaxstage_ext.core.targets.target import LOCAL, Target, TargetError, parse
from jaxstage_ext.inspection import Inspection
from jaxstage_ext.program import comparison
from jaxstage_ext.report import saved_form
from jaxstage_ext.report.document import Document
from jaxstage_ext.report.errors import StageError
from jaxstage_ext.report.frames import Frames


def opened(text: str) -> Saved:
    """The Inspection of a `to_json`; `targets` has the others. Raises ValueError for anything else."""
    parts, name, table = saved_form.loads(text)
    try:
        made = {target: Saved(target, *part, table) for target, part in parts.items()}
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"the saved inspection is damaged: {error}; save it anew") from error
    for one in made.values():
        one.targets = made
    return made[name]


class Saved(Inspection):
    """One target of a saved call."""

    def __init__(
        self, name: str, head: dict[str, Any], frames: Frames, documents: Mapping[str, Document], table: dict[str, Any]
    ) -> None:
        call = Call(_not_callable, name=str(head.get("name", "")))
        names = [s["name"] for s in head["stages"]]
        super().__init__(*stages.plan_each(call, names[-1], (_target(name),)))
        self._head, self._frames, self._table_of_targets = head, frames, table
        self.documents = documents

    @property
    def frames(self) -> Frames:
        return self._frames

    @property
    def seconds(self) -> dict[str, float]:
        return {s["name"]: s["seconds"] for s in self._head["stages"] if s["seconds"] is not None}

    @property
    def error(self) -> StageError | None:
        return saved_form.error_of(self._head)

    def compare(self) -> comparison.Table:
        try:
            return comparison.Table.from_dict(self._table_of_targets)
        except (KeyError, TypeError):
            raise ValueError("the saved inspection holds no comparison that can be read; inspect it anew") from None

    def summary(self) -> dict[str, Any]:
        return self._head


def _target(name: str) -> Target:
    with contextlib.suppress(TargetError):
        return parse(name)
    return LOCAL


def _not_callable(*args: Any, **kwargs: Any) -> Any:
    raise ValueError("an inspection read from JSON has no function to run; inspect it anew")
