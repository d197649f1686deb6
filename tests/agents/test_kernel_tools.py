"""The tools for language models: what a kernel answers, whatever it is sent, and through a real kernel."""

from __future__ import annotations

import asyncio
import functools
import json
import types
from importlib import import_module
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import jaxstage_ext
from jaxstage_ext.agents import kernel_question, kernel_tools, server_tools
from jaxstage_ext.agents.kernel_tools import MOST_BYTES, TABLES, TOOLS
from jaxstage_ext.report.table import Column, Table


@jax.jit
def step(params: jax.Array, batch: jax.Array) -> jax.Array:
    return params - 0.1 * jax.grad(lambda w: (jnp.tanh(batch @ w) ** 2).sum())(params)


@functools.cache
def names() -> dict[str, Any]:
    shapes = jax.ShapeDtypeStruct((1024, 1024), jnp.float32), jax.ShapeDtypeStruct((64, 1024), jnp.float32)
    return {"ins": jaxstage_ext.inspect(step, *shapes), "other": jaxstage_ext.inspect(jnp.sin, 1.0), "x": 1}


def asked(**request: Any) -> str:
    return kernel_tools.answer(json.dumps(request), names())


def test_a_loop_of_find_and_try_has_the_product_s_figures() -> None:
    ins = names()["ins"]
    assert [line.split(":")[0] for line in asked(tool="inspections").splitlines()] == ["ins", "other"]
    [found] = json.loads(asked(tool="findings", name="ins"))["findings"]
    assert (found["kind"], found["stake"]["most"]) == ("missing donation", 4 * 1024**2)
    assert asked(tool="try", name="ins", finding=0).startswith(ins.findings[0].try_().text)
    row = json.loads(asked(tool="table", name="ins", table="cost", limit=1, by="FLOPs"))["rows"][0]
    assert row["values"]["FLOPs"] == max(each["FLOPs"] or 0 for each in ins.cost.table)
    assert row["values"]["instruction"] in asked(tool="near", name="ins", instruction=row["id"])
    assert "before" in asked(tool="compare", name="other", before="ins")


@pytest.mark.parametrize("table", TABLES)
def test_every_table_is_there_and_short(table: str) -> None:
    answer = asked(tool="table", name="ins", table=table, limit=3)
    assert len(json.loads(answer)["rows"]) <= 3


HOSTILE: tuple[Any, ...] = (
    "", "{", "[]", "null", '"x"', {"tool": None}, {"tool": "exec", "code": "1"}, {"tool": ["try"]}, {"tool": "table"},
    {"tool": "near", "name": "ins", "instruction": "\x1b[2J<b>" + "n" * 1_000_000},
    {"tool": "open", "path": "/dev/zero"},
    {"tool": "findings", "name": "__import__('os')"}, {"tool": "findings", "name": "x"},
    {"tool": "findings", "name": "ins", "limit": 0}, {"tool": "findings", "name": "ins", "limit": "5"},
    {"tool": "table", "name": "ins", "table": "cost", "by": "bytez"}, {"tool": "table", "name": "ins", "table": "no"},
    {"tool": "table", "name": "ins", "table": "cost", "where": [1]}, {"tool": "try", "name": "ins", "finding": -1},
    {"tool": "near", "name": "ins", "instruction": 5, "hops": 10**9}, {"tool": "inspections", "more": 1},
)  # fmt: skip


class Lazy:
    """Of the user's: whoever asks what it is runs code."""

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        raise RuntimeError("code of the user's ran")


def test_the_users_other_values_are_asked_nothing() -> None:
    assert kernel_tools.answer('{"tool": "inspections"}', {"lazy": Lazy(), **names()}).startswith("ins: ")


ANY = (None, True, -1, 10**30, 1.5, float("nan"), "", "gone", "\x1b[2J<b>\u202e" + "n" * 100_000, [1], {"a": [1]},
       {"opcode": ["fusion", {}]})  # fmt: skip
GIVEN: tuple[dict[str, Any], ...] = (
    {"tool": "findings", "name": "other", "limit": 3, "everything": False}, {"tool": "inspection", "name": "other"},
    {"tool": "table", "name": "other", "table": "cost", "limit": 2, "by": "", "where": None},
    {"tool": "near", "name": "other", "instruction": "x", "hops": 1}, {"tool": "try", "name": "other", "finding": 0},
    {"tool": "compare", "name": "other", "before": "other"}, {"tool": "open", "path": "no such file"},
)  # fmt: skip


@pytest.mark.parametrize("given", GIVEN, ids=lambda one: one["tool"])
def test_an_argument_of_any_type_is_answered_in_words_of_ours(given: dict[str, Any]) -> None:
    for name in set(given) - {"tool"}:
        for value in ANY:
            answer = asked(**{**given, name: value})
            assert answer and len(answer.encode()) <= MOST_BYTES
            assert not {"\x1b", "\u202e"} & set(answer)
            assert not any(word in answer for word in ("Traceback", "unhashable", "os.PathLike", "positional")), answer


@pytest.mark.parametrize("request_", HOSTILE, ids=lambda one: str(one)[:40])
def test_whatever_is_sent_is_answered_in_one_short_line(request_: Any) -> None:
    text = request_ if isinstance(request_, str) else json.dumps(request_)
    answer = kernel_tools.answer(text, names())
    assert answer and "\n" not in answer and "\x1b" not in answer
    assert len(answer.encode()) < 1500


def test_an_answer_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = Table("cost", {"opcode": Column(["fusion"] * 999)})
    wide_ins = types.SimpleNamespace(cost=wide)
    assert len(TABLES["cost"](wide_ins).to_json(limit=999)) > MOST_BYTES
    monkeypatch.setattr(kernel_tools, "_inspections", lambda _: {"ins": wide_ins})
    answer = asked(tool="table", name="ins", table="cost", limit=999)
    assert len(answer.encode()) <= MOST_BYTES and answer.endswith("smaller limit")


def test_every_tool_of_a_kernel_is_offered_by_the_server_with_its_words() -> None:
    offered = {spec.rpartition(":")[2] for spec in server_tools.TOOLS}
    assert offered == {f"jaxstage_{name}" for name in TOOLS}
    for spec in server_tools.TOOLS:
        module, _, name = spec.partition(":")
        assert len(getattr(import_module(module), name).__doc__) > 60
    assert set(TABLES) == {
        name for name in TABLES if name in " ".join((server_tools.jaxstage_table.__doc__ or "").split())
    }


@pytest.mark.once("a kernel and its messages, which JAX's version does not touch")
def test_a_real_kernel_answers_beside_its_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    from jupyter_client.multikernelmanager import AsyncMultiKernelManager

    async def session() -> list[str]:
        manager = AsyncMultiKernelManager()
        monkeypatch.setattr(kernel_question, "kernel_manager", lambda: manager)
        answers = [await server_tools.jaxstage_inspections()]
        kernel = await manager.start_kernel()
        try:
            client = manager.get_kernel(kernel).client()
            client.start_channels()
            await client.wait_for_ready(timeout=60)
            answers.append(await server_tools.jaxstage_inspections())
            cell = "import jax.numpy as jnp, jaxstage_ext; ins = jaxstage_ext.inspect(jnp.sin, 1.0)"
            await client.execute_interactive(cell, timeout=120)
            answers += [await server_tools.jaxstage_inspections(kernel), await server_tools.jaxstage_findings("inz")]
            answers.append(await server_tools.jaxstage_inspections("no such kernel"))
            reply = await client.execute_interactive("", user_expressions={"n": "len(In)"}, timeout=60)
            answers.append(reply["content"]["user_expressions"]["n"]["data"]["text/plain"])
            client.stop_channels()
        finally:
            await manager.shutdown_all(now=True)
        return answers

    none, empty, listed, wrong, elsewhere, cells = asyncio.run(session())
    assert none.startswith("No kernel runs") and empty.startswith("This kernel has no inspection")
    assert listed.startswith("ins: JAXStage inspection of")
    assert "'inz' is not an inspection of this kernel; there are ins" in wrong
    assert "no kernel 'no such kernel'" in elsewhere
    assert cells == "2"  # the tools are no cells of the history: its first entry, and the one cell
