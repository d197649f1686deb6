"""A question to a kernel of this Jupyter server: evaluated beside the user's cells, with no trace in their history."""

from __future__ import annotations

import ast
import asyncio
import json
import uuid
from typing import Any

from jaxstage_ext.agents import agent_wording as wording

SECONDS, TRIAL_SECONDS = 30.0, 600.0
_EXPRESSION = "__import__('jaxstage_ext.agents.kernel_tools', fromlist=['answer']).answer({request!r}, globals())"


async def ask(kernel: str, seconds: float, **request: Any) -> str:
    """What a kernel answers, or why it does not, in one line; `kernel` "" is the only one that runs."""
    manager = kernel_manager()
    if manager is None:
        return wording.NO_SERVER
    running = list(manager.list_kernel_ids())
    if not running:
        return wording.NO_KERNEL
    if not kernel and len(running) > 1:
        return wording.which_kernel(running)
    chosen = kernel or running[0]
    if chosen not in running:
        return wording.no_such_kernel(chosen, running)
    return await _evaluated(manager.get_kernel(chosen), _EXPRESSION.format(request=json.dumps(request)), seconds)


def kernel_manager() -> Any:
    """The kernels of the Jupyter server of this process; None where it is none."""
    try:
        from jupyter_server.serverapp import ServerApp
    except ImportError:
        return None
    return ServerApp.instance().kernel_manager if ServerApp.initialized() else None


async def _evaluated(kernel: Any, expression: str, seconds: float) -> str:
    own = kernel.session.clone()
    own.session = uuid.uuid4().hex  # sockets of one identity take each other's replies
    client = kernel.client(session=own)
    client.start_channels(iopub=False, stdin=False, hb=False, control=False)
    try:
        sent = client.execute("", silent=True, store_history=False, user_expressions={"answer": expression})
        return await asyncio.wait_for(_reply(client, sent), seconds)
    except TimeoutError:
        return wording.busy(seconds)
    finally:
        client.stop_channels()


async def _reply(client: Any, sent: str) -> str:
    while True:
        message = await client.get_shell_msg()
        if message["parent_header"].get("msg_id") == sent:
            return _text(message["content"])


def _text(content: dict[str, Any]) -> str:
    """The text of an answer, or the error that a kernel gives in place of one."""
    told = content.get("user_expressions", {}).get("answer", content)
    if told.get("status") != "ok":
        return wording.failed(RuntimeError(f"{told.get('ename', '')}: {told.get('evalue', '')}"))
    return str(ast.literal_eval(told["data"]["text/plain"]))
