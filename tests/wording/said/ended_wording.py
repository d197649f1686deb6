"""Processes that have ended."""

from __future__ import annotations

from jaxstage_ext.processes import ended_wording as wording

SAID = {
    "one": wording.have_ended((1,), "killed by SIGKILL"),
    "one of a job": wording.no_programs((1,), "killed by SIGKILL"),
    "two in one line": wording.joined([wording.no_programs((at,), f"exit status {at}") for at in (0, 1)]),
    "several, no more is known": wording.have_ended((0, 1, 3), wording.ENDED),
}
