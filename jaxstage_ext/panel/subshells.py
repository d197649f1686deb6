"""Requests that are answered on the thread that the page names, while another runs a cell."""

from __future__ import annotations

from typing import Any


def leave_routing_to_the_page(comm: Any) -> None:
    """Let the comm's requests be answered while a cell runs.

    JupyterLab addresses them to a subshell for that; ipykernel since 7.4 asks the comm instead, which names the thread
    that last sent anything: the busy one.
    """
    comm._reply_subshell_for = _address_on_the_message


def _address_on_the_message(data: Any, subshell_id: str | None) -> str | None:
    return subshell_id
