"""The targets of a call as they are saved: their documents, and the replies of the tabs that were looked at."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from jaxstage_ext.panel.panel_state import with_finding
from jaxstage_ext.panel.params import Programs
from jaxstage_ext.report.saved import saved_form

if TYPE_CHECKING:
    from jaxstage_ext.program.head.summary_form import Summary
    from jaxstage_ext.program.program import Program


@dataclass(frozen=True)
class SavedReplies:
    """Of one target: the tabs that its replies serve, and the replies as `saved_form` has them."""

    tabs: frozenset[str] = frozenset()
    replies: Mapping[str, Any] = field(default_factory=dict)


RepliesOf = Callable[["Program"], SavedReplies]


@dataclass(frozen=True)
class SavedCall:
    """What is saved of a call. `parts` and `replies` are by target, `own` the target that opens."""

    own: str
    parts: Mapping[str, saved_form.Part]
    compare: Mapping[str, Any]
    replies: Mapping[str, SavedReplies]
    heads: Mapping[str, Mapping[str, str]]
    """What the panel says in place of the summaries' own, by target: the best finding, and the tab that opens."""

    def report(self) -> dict[str, Any]:
        """The saved report, of plain JSON types."""
        from jaxstage_ext.program.tabs import TABS  # it imports JAX

        of_documents = {tab.name for tab in TABS if tab.of_documents}
        report = saved_form.report(self.parts, self.own, self.compare)
        for name, (head, _, _) in self.parts.items():
            held, part = self.replies[name], report if name == self.own else report["others"][name]
            if held.replies:
                views = [view for view in head.get("views", []) if view in of_documents or view in held.tabs]
                part |= {"replies": dict(held.replies), "summary": part["summary"] | {"views": views}}
            part["head"] = self.heads[name]
        return report


def saved_calls(programs: Programs, source: bool | None, replies_of: RepliesOf) -> Iterator[SavedCall]:
    """Each call, with the targets of it that are shown; with or without source, None for the default."""
    from jaxstage_ext.program.kinds import saved  # it imports JAX

    for _, group in itertools.groupby(programs, lambda program: id(program.targets)):
        targets = list(group)
        named = {program.label: program for program in targets}
        replies = {name: replies_of(program) for name, program in named.items()}
        parts = saved.parts(named, source)
        heads = {name: with_finding(cast("Summary", head), named[name]) for name, (head, _, _) in parts.items()}
        said = {
            name: {"finding": head.get("finding", ""), "open": head.get("open", "")} for name, head in heads.items()
        }
        yield SavedCall(targets[0].label, parts, saved.compared(targets[0]), replies, said)
