"""A real kernel as a page of JupyterLab has it: cells with ids, and a comm of the extension."""

from __future__ import annotations

import ast
import contextlib
import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kernels import start_kernel

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "JAX_PLATFORMS": "cpu"}
Message = dict[str, Any]


class PageKernel:
    """A running kernel; `comm` is the id of the extension's comm, once it is open."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.comm = ""

    def run(self, code: str, cell: str | None = None, counts: bool = True) -> list[Message]:
        """The messages that a cell gives; one that does not count has no number."""
        content = {"code": code, "silent": False, "store_history": counts, "user_expressions": {}, "allow_stdin": True}
        message = self.client.session.msg("execute_request", content, metadata={"cellId": cell} if cell else {})
        self.client.shell_channel.send(message)
        return list(self._until_idle(message))

    def _until_idle(self, request: Message) -> Iterator[Message]:
        number = request["header"]["msg_id"]
        while True:
            message = self.client.get_iopub_msg(timeout=120)
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                if message["parent_header"].get("msg_id") == number:
                    return
            else:
                yield message

    def value(self, code: str) -> Any:
        """The value of a literal that the code gives."""
        results = [m for m in self.run(code) if m["msg_type"] == "execute_result"]
        return ast.literal_eval(results[-1]["content"]["data"]["text/plain"])

    def open(self) -> None:
        """Open the extension's comm."""
        self.comm = uuid.uuid4().hex
        self._send("comm_open", {"target_name": "jaxstage", "data": {}})

    def _send(self, kind: str, content: Message, subshell: str | None = None) -> Message:
        message = self.client.session.msg(kind, {"comm_id": self.comm, **content})
        if subshell is not None:
            message["header"]["subshell_id"] = subshell
        self.client.shell_channel.send(message)
        return message

    def tell(self, data: Any) -> list[Message]:
        """Send anything over the comm; the messages that this gives."""
        return list(self._until_idle(self._send("comm_msg", {"data": data})))

    def ask(self, method: str, subshell: str | None = None, **params: Any) -> Message:
        """The reply to a request."""
        data = {"kind": "request", "id": uuid.uuid4().hex, "method": method, "params": params}
        self._send("comm_msg", {"data": data}, subshell)
        while True:
            content = self.client.get_iopub_msg(timeout=60)["content"]
            if content.get("comm_id") == self.comm and content["data"].get("id") == data["id"]:
                return dict(content["data"])

    @contextlib.contextmanager
    def subshell(self) -> Iterator[str]:
        """The id of a subshell, whose requests are answered while a cell runs."""
        made = str(self._control("create_subshell_request", {})["subshell_id"])
        yield made
        self._control("delete_subshell_request", {"subshell_id": made})

    def _control(self, kind: str, content: Message) -> Message:
        self.client.control_channel.send(self.client.session.msg(kind, content))
        return dict(self.client.get_control_msg(timeout=60)["content"])

    def result(self, method: str, **params: Any) -> Any:
        return self.ask(method, **params)["result"]


@contextlib.contextmanager
def page_kernel() -> Iterator[PageKernel]:
    made, client = start_kernel(ENVIRONMENT)
    try:
        yield PageKernel(client)
    finally:
        client.stop_channels()
        made.shutdown_kernel(now=True)


def displays(messages: list[Message]) -> list[Message]:
    """The data of each display or update of one."""
    kinds = ("display_data", "update_display_data")
    return [message["content"]["data"] for message in messages if message["msg_type"] in kinds]


def errors(messages: list[Message]) -> list[str]:
    """What a user reads of failures."""
    lines = [m["content"]["evalue"] for m in messages if m["msg_type"] == "error"]
    return lines + [
        m["content"]["text"] for m in messages if m["msg_type"] == "stream" and "Error" in str(m["content"])
    ]
