"""Requests that no front end of ours makes: each has a reply, or an error of one line, whatever its parameters are."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from attack import Attack
from helpers.recordings import Event, recording
from jax.sharding import PartitionSpec as P

from jaxstage_ext import Inspection, inspect
from jaxstage_ext.api.inspect import run
from jaxstage_ext.core.call import Call
from jaxstage_ext.panel.params import MOST_TEXT
from jaxstage_ext.panel.requests import dispatch
from jaxstage_ext.profiling.op_places import without_places
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.program.kinds.recorded_program import RecordedProgram
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.answers import QUESTIONS
from jaxstage_ext.report.recording import EventKind

X = jnp.ones((8, 8))
EVENTS = (
    *(Event("a", f"k{i}", 2 * i, 1, op=("jit_f", f"add.{i % 3}"), correlation=i) for i in range(40)),
    *(Event("steps", "train", 40 * i, 39, EventKind.STEP) for i in range(2)),
)
OURS = (
    "TypeError",
    "KeyError",
    "IndexError",
    "AttributeError",
    "AssertionError",
    "RecursionError",
    "Unicode",
    "Overflow",
)
"""How a message begins that an error in our code left."""
USUAL: dict[str, Sequence[Any]] = {
    "call": (0, 0, 0, 1),
    "doc": ("python", "jaxpr", "stablehlo", "hlo", "python:*", "python:jax", "kernel:0", "pass:1"),
    "start": (0, 3),
    "end": (5, 10_000),
    "query": ("a", "%", "(a+)+$", ".*", "\\", "add"),
    "case": (True, False),
    "name": ("%add", "a", "@main", "(", "%" * 900),
    "row": (0, 1, 5),
    "library": ("*", "jax", "flax"),
    "question": tuple(QUESTIONS),
    "lane": ("cost", "sharding", "dtypes"),
    "group": ("line", "scope", "op", "dtype"),
    "measure": ("flops", "bytes"),
    "instruction": ("add", "fusion"),
    "policy": ("", "nothing_saveable"),
    "space": (0, 1),
    "position": (0, 2),
    "pass": (0, 1),
    "value": ("x",),
    "quick": (True, False),
    "all": (True, False),
    "of": ("cost", "memory", "passes", "document"),
    "table": ("lines", "ops", "kernels", "gaps", "compare"),
    "by": ("lines", "ops", "kernels", "scopes", "kinds"),
    "before": ("", "step 0", "call 0", "call 1"),
    "after": ("", "step 1", "call 0", "call -1"),
    "from": (0, 0.0, 1e-6),
    "to": (5e-5, 1),
    "format": ("csv", "svg", "chrome"),
    "page": (0, 1),
    "event": (0, 1, 5, 100_000),
    "level": (0, 1),
    "tile": (0, 1),
    "lanes": ("0", "0 1", ""),
}
JUNK: Sequence[Any] = (
    *(None, True, -1, 7, 2**31, 2**63, 10**400, 0.5, -0.0, 1e308, float("nan"), float("inf"), -(10**30)),
    *(
        "",
        " ",
        "\n",
        "\x00",
        "\ud800",
        "\u202e",
        "%s{0}",
        "x" * 100_000,
        "\U0001f600" * 99,
        "../../../etc/passwd",
        "__class__",
    ),
    *([], {}, [[[[]]]], {"a": {"b": 1}}, [1, "a", None], {"call": 0}, list(range(10_000))),
)
DEEP: Any = []
for _ in range(3000):
    DEEP = [DEEP]


def loop(x: Any) -> Any:
    return jax.lax.fori_loop(0, 3, lambda _, y: jnp.tanh(y @ x), x).sum()


@pytest.fixture(scope="module")
def panels(no_workers_left: None) -> list[list[Program]]:
    """The programs of panels: compiled, sharded on two targets, failed, opened from a file, none."""
    compiled = inspect(jax.grad(loop), X)
    for slow in ("memory", "passes", "kernels"):  # which compile; the attack is on what is asked, not on the compiler
        getattr(compiled, slow)
    sharded = inspect(loop, X, target=["cpu:2", "cpu:4"], stage="lower", mesh="d=2", in_specs=(P("d"),))
    failed = run(Call(lambda x: x @ jnp.ones(7), (X,)))
    opened = Inspection.from_json(compiled.to_json())
    profiled = [RecordedProgram(Timeline(made, without_places(made))) for made in (recording(EVENTS), recording([]))]
    return [
        *([[compiled.program]] * 3),
        profiled,
        profiled[1:],
        [one.program for one in sharded.targets.values()],
        [failed.program],
        [opened.program, compiled.program],
        [],
    ]


def drawn(rng: random.Random) -> Any:
    """A request with the parameters of all methods, some of which are junk."""
    if rng.random() < 0.02:
        return rng.choice((*JUNK, DEEP))
    params: Any = {name: rng.choice(values) for name, values in USUAL.items() if rng.random() < 0.95}
    for _ in range(rng.choice((0, 1, 1, 2, 5))):
        name = rng.choice((*USUAL, *USUAL, "", "x" * 500, "\ud800"))
        params[name] = rng.choice(JUNK) if rng.random() < 0.98 else DEEP
    if rng.random() < 0.03:
        params = rng.choice((*JUNK, DEEP))
    methods = list(dispatch.methods())
    method = (
        rng.choice(methods) if rng.random() < 0.95 else rng.choice((*JUNK, "__init__", "policy ", "answer\n", DEEP))
    )
    number = rng.randrange(1000) if rng.random() < 0.95 else rng.choice((*JUNK, DEEP))
    request = {"id": number, "method": method, "params": params}
    if rng.random() < 0.03:
        del request[rng.choice(list(request))]
    return request


def reply_to(programs: list[Program], request: Any) -> tuple[dict[str, Any], list[bytes]]:
    """The last reply, as the front end asks until the request is no longer pending."""
    for _ in range(12_000):
        message, buffers = dispatch.reply(programs, request)
        if message.get("error", {}).get("kind") != "busy" and "pending" not in (message.get("result") or {}):
            return message, buffers
        time.sleep(0.01)
    raise AssertionError(f"no answer within two minutes: {request!r:.300}")


def checked(message: dict[str, Any], buffers: list[bytes]) -> str:
    """How it ended, of a message that any front end can read."""
    json.dumps(message, allow_nan=False)
    assert message["kind"] == "reply" and ("result" in message) != ("error" in message)
    assert all(isinstance(buffer, bytes) for buffer in buffers)
    if "result" in message:
        return "answered"
    text = message["error"]["message"]
    assert text and len(text) <= MOST_TEXT and not set(text) & set("\n\r\0"), text
    assert not text.startswith(OURS) and "Traceback" not in text and "jaxstage_ext/" not in text, text
    return "refused"


def test_ten_thousand_requests(panels: list[list[Program]], request: pytest.FixtureRequest) -> None:
    attack = Attack("malformed requests", attempts=10_000, in_ci=2_500, request=request)
    for rng in attack:
        asked = drawn(rng)
        attack.ended(checked(*reply_to(rng.choice(panels), asked)))
