"""Saved reports that someone changed: each is refused in one line, or everything that it offers works."""

from __future__ import annotations

import base64
import copy
import json
import random
import zlib
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import offered
import pytest
from attack import Attack
from jax.sharding import PartitionSpec as P

from jaxstage_ext import Inspection, inspect
from jaxstage_ext.api.inspect import run
from jaxstage_ext.core.call import Call
from jaxstage_ext.panel import assets

X = jnp.ones((8, 8))
OF_TWO_PROCESSES = Path(__file__).parents[1] / "golden" / "processes" / "in_turn.json"
VALUES: list[Any] = [
    *(
        None,
        True,
        False,
        -1,
        0,
        1,
        2,
        7,
        2**31,
        2**53 + 1,
        2**64,
        -(10**30),
        0.5,
        -1.5,
        1e308,
        float("nan"),
        float("inf"),
    ),
    *("", "x", "local", "cpu:2", "\ud800", "a\nb", "\x00\u202e", "x" * 5000, "-1", "1e999", "../../etc/passwd"),
    *([], {}, [[]], [None], {"a": 1}, {"": {}}, [1, "a"]),
]


def failing(x: Any) -> Any:
    return x @ jnp.ones(7)


def looping(x: Any) -> Any:
    return jax.lax.fori_loop(0, 3, lambda _, y: jnp.tanh(y), x).sum()


@pytest.fixture(scope="module")
def reports() -> list[str]:
    sharded: dict[str, Any] = {"mesh": "d=2", "in_specs": (P("d"),)}
    inspections = [
        inspect(jax.grad(looping), X),
        inspect(looping, X, stage="lower"),
        inspect(looping, X, target=["cpu:2", "cpu:4"], **sharded),
        run(Call(failing, (X,))),
    ]
    texts = [inspection.to_json() for inspection in inspections]
    texts.append(OF_TWO_PROCESSES.read_text())
    for text in texts:
        opened = Inspection.from_json(text)
        assert opened.to_json() == text
        assert not offered.failures(opened)
    return texts


@pytest.fixture(autouse=True)
def small_assets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An offline page without the front end, which makes each 400 kB."""
    monkeypatch.setattr(assets, "STATIC", tmp_path)
    for name in ("standalone.js", "panel.css"):
        (tmp_path / name).write_text("")


def places(node: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) of a JSON tree."""
    keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else []
    return [place for key in keys for place in [(node, key), *places(node[key])]]


def mutated(rng: random.Random, text: str) -> str:
    """The report with one to three changes of its JSON, or of its characters."""
    if rng.random() < 0.15:
        return damaged(rng, text)
    tree = json.loads(text)
    for _ in range(rng.choice((1, 1, 2, 3))):
        CHANGES[rng.randrange(len(CHANGES))](rng, tree)
    return json.dumps(tree)


def damaged(rng: random.Random, text: str) -> str:
    at, end = sorted(rng.randrange(len(text)) for _ in range(2))
    return rng.choice(
        (
            text[:at],
            text[:at] + text[min(end, at + 50) :],
            text[:at] + rng.choice('{}[]",:0\\n-\x00é') + text[at + 1 :],
            text[:at] + text[at : at + 100] + text[at:],
            text[:at] + "[" * 3000 + text[at:],
            "[" * 200_000,
            '{"jaxstage": ' * 100_000,
        )
    )


def drawn(rng: random.Random, tree: Any) -> tuple[Any, Any]:
    """A place of the tree: those near its root as likely as the many below."""
    node, key = tree, None
    container = tree
    while isinstance(node, dict | list) and node and (key is None or rng.random() < 0.8):
        container = node
        key = rng.choice(list(node)) if isinstance(node, dict) else rng.randrange(len(node))
        node = container[key]
    return container, key


def set_value(rng: random.Random, tree: Any) -> None:
    container, key = drawn(rng, tree)
    if key is not None:
        container[key] = copy.deepcopy(rng.choice(VALUES))


def delete(rng: random.Random, tree: Any) -> None:
    container, key = drawn(rng, tree)
    if key is not None:
        del container[key]


def swap(rng: random.Random, tree: Any) -> None:
    (a, i), (b, j) = drawn(rng, tree), drawn(rng, tree)
    if i is not None and j is not None:
        a[i], b[j] = copy.deepcopy(b[j]), copy.deepcopy(a[i])


def wrap(rng: random.Random, tree: Any) -> None:
    container, key = drawn(rng, tree)
    if key is not None:
        value = container[key]
        container[key] = rng.choice(([value], {"a": value}, str(value)[:100], [value] * 3))


def add(rng: random.Random, tree: Any) -> None:
    container, key = drawn(rng, tree)
    value = copy.deepcopy(rng.choice(VALUES))
    if isinstance(container, list):
        container.insert(rng.randrange(len(container) + 1), value if rng.random() < 0.5 else container[key])
    else:
        container[rng.choice(("a", "python", "hlo", "origin", "file", "local", "cpu:2", "cpu:8"))] = value


def rename(rng: random.Random, tree: Any) -> None:
    container, key = drawn(rng, tree)
    if isinstance(container, dict) and key is not None:
        container[rng.choice((f"{key}x", "", "python", "hlo", "cpu:2", *container))] = container.pop(key)


def entries(rng: random.Random, tree: Any) -> None:
    """Other entries in a packed column, or others' bytes."""
    columns = [c for container, key in places(tree) if isinstance(c := container[key], dict) and "data" in c]
    column = rng.choice(columns) if columns else {}
    try:
        data = zlib.decompress(base64.b64decode(column["data"]))
        values = np.frombuffer(data, "<i4").copy()
    except (KeyError, ValueError, TypeError, zlib.error):
        return
    if len(values):
        for _ in range(rng.choice((1, 3))):
            values[rng.randrange(len(values))] = rng.choice((-2, -1, 0, 1, 5, len(values), 2**31 - 1, -(2**31)))
    data = rng.choice(
        (values.tobytes(), values.tobytes(), values.tobytes()[:-1], data * 2, data[: len(data) // 2], b"")
    )
    column["data"] = base64.b64encode(zlib.compress(data)).decode()
    if rng.random() < 0.2:
        column["dtype"] = rng.choice(("u1", "i4", "i8", "f4", "O"))


def bomb(rng: random.Random, tree: Any) -> None:
    columns = [c for container, key in places(tree) if isinstance(c := container[key], dict) and "data" in c]
    if columns:
        rng.choice(columns)["data"] = BOMB


BOMB = base64.b64encode(zlib.compress(bytes(30_000_000), 9)).decode()
CHANGES = (set_value, set_value, delete, delete, swap, wrap, add, rename, entries, entries, entries, bomb)


def test_ten_thousand_mutated_reports(reports: list[str], request: pytest.FixtureRequest) -> None:
    attack = Attack("mutated reports", attempts=10_000, in_ci=300, request=request)
    for rng in attack:
        text = mutated(rng, rng.choice(reports))
        try:
            opened = Inspection.from_json(text)
        except ValueError as error:
            assert "\n" not in str(error) and len(str(error)) < 400, str(error)
            attack.ended("refused")
            continue
        assert offered.failures(opened) == []
        attack.ended("opened, and all of it works")
