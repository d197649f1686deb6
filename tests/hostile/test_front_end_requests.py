"""Messages on the comm that no front end of ours sends: each request has a reply, and nothing else happens."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import fakes
import pytest
from attack import Attack

from jaxstage_ext.panel.connection import NotebookState
from jaxstage_ext.panel.front_end import FrontEnd
from jaxstage_ext.panel.front_end_requests import METHODS
from jaxstage_ext.panel.params import MOST_TEXT
from jaxstage_ext.panel.showing import display

DEEP: Any = []
for _ in range(3000):
    DEEP = [DEEP]
JUNK = (
    *(None, True, -1, 7, 2**63, 10**400, 0.5, float("nan"), float("inf")),
    *("", " ", "\n", "\x00", "\ud800", "\u202e", "%s{0}", "x" * 100_000, "../../../etc/passwd", "__class__"),
    *([], {}, [[[]]], {"a": {"b": 1}}, [1, "a", None], {"__proto__": 1}, list(range(10_000)), DEEP),
)
OURS = ("TypeError", "KeyError", "IndexError", "AttributeError", "AssertionError", "RecursionError", "Unicode")
"""How a message begins that an error in our code left."""


class Wire:
    """A comm that carries what JSON and UTF-8 can."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []

    def on_msg(self, answer: Any) -> None:
        self.answer = answer

    def on_close(self, forget: Any) -> None:
        pass

    def send(self, data: Any, buffers: Any) -> None:
        json.dumps(data, allow_nan=False, ensure_ascii=False).encode()
        self.sent.append(data)

    def close(self) -> None:
        pass


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> Iterator[Wire]:
    monkeypatch.setattr(display, "_open", type(display._open)())
    monkeypatch.setattr(display, "_publish", lambda data, display_id, update: None)
    shell = SimpleNamespace(kernel=SimpleNamespace(get_parent=lambda channel: {"metadata": {"cellId": "cell-1"}}))
    monkeypatch.setattr(display, "_shell", lambda: shell)
    bound = fakes.program(name="\ud800<script>" * 50)
    kernel = FrontEnd(NotebookState(lambda: [("ins", bound)], lambda: {"compile": {"line": "\ud800", "options": ""}}))
    display.show([fakes.program()])
    made = Wire()
    kernel.connect(made, {})
    yield made
    display.freeze_all()
    kernel.close()


def drawn(rng: random.Random) -> Any:
    """What arrives; some of it is a request."""
    if rng.random() < 0.05:
        return rng.choice(JUNK)
    model = next(iter(display._open), "")
    usual = {"id": ("1", "2", model), "model": (model,), "target": ("local",), "with": ("1", "2"), "first": ("1", "2")}
    params: Any = {name: rng.choice((*values, *JUNK)) for name, values in usual.items() if rng.random() < 0.6}
    request = {
        "kind": "request" if rng.random() < 0.95 else rng.choice(JUNK),
        "id": rng.choice((1, "a", *JUNK)),
        "method": rng.choice((*METHODS, *METHODS, *METHODS, *METHODS, "__init__", *JUNK)),
        "params": params if rng.random() < 0.9 else rng.choice(JUNK),
    }
    if rng.random() < 0.05:
        del request[rng.choice(list(request))]
    return request


def ended(sent: list[dict[str, Any]], asked: Any) -> str:
    is_request = isinstance(asked, dict) and asked.get("kind") == "request"
    replies = [message for message in sent if message["kind"] == "reply"]
    assert len(replies) == is_request
    assert all(message["kind"] in ("reply", "notice") for message in sent)
    if not replies:
        return "ignored"
    (message,) = replies
    assert ("result" in message) != ("error" in message)
    assert len(json.dumps(message)) < 1_000_000
    if "result" in message:
        return "answered"
    text = message["error"]["message"]
    assert text and len(text) <= MOST_TEXT and not set(text) & set("\n\r\0"), text
    assert not text.startswith(OURS) and "Traceback" not in text and "jaxstage_ext/" not in text, text
    return "refused"


def test_five_thousand_messages(wire: Wire, request: pytest.FixtureRequest) -> None:
    attack = Attack("malformed messages of the extension", attempts=5_000, in_ci=1_000, request=request)
    for rng in attack:
        if not display._open:
            display.show([fakes.program()])
        asked = drawn(rng)
        wire.sent.clear()
        wire.answer({"content": {"data": asked}})
        attack.ended(ended(list(wire.sent), asked))
