"""What a panel has answered, kept so that a saved notebook shows the tabs that were looked at, as they were.

Documents, call stacks, scripts and searches are not kept: the saved report has the documents themselves.
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from jaxstage_ext.panel.params import Params
from jaxstage_ext.panel.requests import dispatch
from jaxstage_ext.panel.saving.saved_call import SavedReplies
from jaxstage_ext.panel.saving.saved_reply import reply_key, saved_reply
from jaxstage_ext.report.saved import saved_source

if TYPE_CHECKING:
    from jaxstage_ext.program.program import Program

LARGEST, MOST_BYTES = 120_000, 240_000
"""Bytes of JSON of one reply, and of all replies of a program."""
MOST_REPLIES, LONGEST_KEY = 200, 300


@dataclass
class _Kept:
    replies: dict[str, Any] = field(default_factory=dict)
    size: dict[str, int] = field(default_factory=dict)
    tabs: set[str] = field(default_factory=set)


class KeptReplies:
    """The replies of one panel, by program; those of a program that is gone are gone too."""

    def __init__(self) -> None:
        self._of: WeakKeyDictionary[Program, _Kept] = WeakKeyDictionary()
        self._lock = threading.Lock()
        self._with_source = saved_source.is_kept()

    def keep(self, program: Program, method: str, params: Params, result: dict[str, Any], buffers: list[bytes]) -> bool:
        """Keep a reply, if it is of a kind that is kept and there is room; whether that changes what is saved."""
        tab = dispatch.tab_of(method)  # which loads the requests of all tabs
        if tab is None or "pending" in result or (tab.saved_methods is not None and method not in tab.saved_methods):
            return False
        if sum(map(len, buffers)) > LARGEST or len(key := reply_key(method, params)) > LONGEST_KEY:
            return False
        reply = saved_reply(result, buffers, saved_source.is_kept())
        shown = "" if method in tab.beside_code else program.tab or tab.name
        return self._put(program, shown, key, reply, len(json.dumps(reply)))

    def _put(self, program: Program, tab: str, key: str, reply: dict[str, Any], size: int) -> bool:
        with self._lock:
            self._drop_of_other_setting()
            kept = self._of.setdefault(program, _Kept())
            is_full = len(kept.replies) >= MOST_REPLIES and key not in kept.replies
            others = sum(kept.size.values()) - kept.size.get(key, 0)
            if is_full or size > LARGEST or others + size > MOST_BYTES or kept.replies.get(key) == reply:
                return False
            kept.replies[key], kept.size[key] = reply, size
            kept.tabs |= {tab} - {""}
            return True

    def of(self, program: Program) -> SavedReplies:
        """What was kept of a program."""
        with self._lock:
            self._drop_of_other_setting()
            kept = self._of.get(program, _Kept())
            return SavedReplies(frozenset(kept.tabs), dict(kept.replies))

    def drop(self) -> None:
        """Forget all replies, because the programs have changed."""
        with self._lock:
            self._of.clear()

    def _drop_of_other_setting(self) -> None:
        """Forget the replies that were made while source was to be saved, or was not."""
        if self._with_source != saved_source.is_kept():
            self._with_source = saved_source.is_kept()
            self._of.clear()
