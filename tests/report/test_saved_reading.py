"""Saved reports of someone else: bombs, loops, lengths and references that lie."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import PartitionSpec as P

import jaxstage_ext
from jaxstage_ext import Inspection
from jaxstage_ext.api.inspect import run
from jaxstage_ext.core.call import Call
from jaxstage_ext.panel.requests import dispatch
from jaxstage_ext.report.saved import packed_columns, saved_form, saved_reading
from jaxstage_ext.report.saved.json_form import BadForm

X = jnp.ones((8, 8))


@pytest.fixture(scope="module")
def text() -> str:
    given: dict[str, Any] = {"mesh": "d=2", "in_specs": (P("d"),)}
    return jaxstage_ext.inspect(lambda x: jnp.tanh(x).sum(), X, target=["cpu:2", "cpu:4"], **given).to_json()


@pytest.fixture
def report(text: str) -> Any:
    return json.loads(text)


def refusal(report: Any) -> str:
    with pytest.raises(BadForm) as caught:
        Inspection.from_json(json.dumps(report))
    message = str(caught.value)
    assert "\n" not in message and len(message) < 300
    return message


def packed(values: Any, dtype: str = "i4") -> dict[str, str]:
    return {"dtype": dtype, "data": packed_columns.compressed(np.array(values, f"<{dtype}").tobytes())}


def entries(column: dict[str, str]) -> Any:
    return np.frombuffer(zlib.decompress(base64.b64decode(column["data"])), f"<{column['dtype']}").copy()


def changed(column: dict[str, str], row: int, value: int) -> None:
    values = entries(column)
    values[row] = value
    column["data"] = packed(values, column["dtype"])["data"]


def unpacked_bytes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of all that was decompressed."""
    sizes: list[int] = []
    decompressed = packed_columns.decompressed

    def counted(*args: Any) -> bytes:
        data = decompressed(*args)
        sizes.append(len(data))
        return data

    for module in (packed_columns, saved_reading):
        monkeypatch.setattr(module, "decompressed", counted)
    return sizes


def test_all_targets_share_one_budget_of_text(report: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved_form, "LARGEST", 1_000_000)
    sizes = unpacked_bytes(monkeypatch)
    bomb = packed_columns.compressed(b"x" * 400_000)
    for part in (report, *report["others"].values()):
        for document in part["documents"].values():
            document["text"]["data"] = bomb
            document["columns"] = {name: packed([0], kind) for name, kind in (("frame", "i4"), ("flags", "u1"))} | {
                name: packed([-1]) for name in ("fold_end", "scope", "origin", "file", "number")
            }
        for kind in ("jaxpr", "stablehlo", "hlo"):
            del part["documents"][kind]["columns"]["file"], part["documents"][kind]["columns"]["number"]
        for document in part["summary"]["documents"]:
            document["lines"] = 1
    assert "its documents have more than 1,000,000 bytes together" in refusal(report)
    assert sum(sizes) < 1_200_000


def test_a_bomb_is_never_unpacked(report: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved_form, "LARGEST", 100_000)
    sizes = unpacked_bytes(monkeypatch)
    report["documents"]["hlo"]["text"]["data"] = packed_columns.compressed(bytes(50_000_000))
    assert "its documents have more than 100,000 bytes together" in refusal(report)
    assert sum(sizes) < 200_000


def test_all_documents_share_one_budget_of_lines(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved_form, "MOST_LINES", 50)
    assert "its documents have more than 50 lines together" in refusal(json.loads(text))


def test_all_targets_share_one_budget_of_frames(report: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    count = len(entries(report["frames"]["columns"]["file"]))
    monkeypatch.setattr(saved_form, "MOST_FRAMES", 2 * count - 1)
    assert "more than" in refusal(report)
    monkeypatch.setattr(saved_form, "MOST_FRAMES", 2 * count)
    Inspection.from_json(json.dumps(report))


@pytest.mark.parametrize("name", ["MOST_FRAMES", "MOST_LINES"])
def test_what_is_written_can_be_read(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved_form, name, 0)
    opened = Inspection.from_json(jaxstage_ext.inspect(lambda x: jnp.tanh(x), X).to_json())
    assert not opened.documents
    assert any("Its documents are not in the saved file" in note for note in opened.summary()["notes"])


@pytest.mark.parametrize("parent", ["itself", "the next", "none such"])
def test_call_stacks_end(report: Any, parent: str) -> None:
    column = report["frames"]["columns"]["parent"]
    changed(column, 0, {"itself": 0, "the next": 1, "none such": 10**6}[parent])
    assert "frames.parent[0] refers to nothing" in refusal(report)


@pytest.mark.parametrize(
    ("path", "row", "value"),
    [
        (("frames", "columns", "file"), 0, 99),
        (("frames", "columns", "function"), 0, -1),
        (("frames", "columns", "user"), 0, 1),
        (("frames", "columns", "line"), 0, -5),
        (("documents", "hlo", "columns", "frame"), 1, 10**6),
        (("documents", "hlo", "columns", "scope"), 1, -2),
        (("documents", "hlo", "columns", "fold_end"), 1, 10**6),
        (("documents", "hlo", "columns", "flags"), 1, 255),
        (("documents", "python", "columns", "file"), 0, 77),
        (("documents", "python", "columns", "number"), 0, -7),
    ],
)
def test_references_point_at_something(report: Any, path: tuple[str, ...], row: int, value: int) -> None:
    column = report
    for name in path:
        column = column[name]
    changed(column, row, value)
    assert f"{path[-1]}[{row}] refers to nothing: {value}" in refusal(report)


def test_columns_have_one_length_and_their_own_dtype(report: Any) -> None:
    columns = report["documents"]["hlo"]["columns"]
    whole = columns["scope"]
    columns["scope"] = packed(entries(whole)[:-1])
    assert "entries, not" in refusal(report)
    columns["scope"] = packed(np.zeros(len(entries(whole)), np.uint8), "u1")
    assert "scope must be of dtype i4, not 'u1'" in refusal(report)


@pytest.mark.parametrize(
    "version", ["9" * 4000, '"' + "x" * 100_000 + '"', "[" * 50 + "]" * 50, "true", "1.0", "null", "-1", "0"]
)
def test_an_unknown_version_is_quoted_in_few_characters(version: str) -> None:
    with pytest.raises(ValueError, match="the inspection has format") as caught:
        Inspection.from_json(f'{{"jaxstage": {version}}}')
    assert len(str(caught.value)) < 200 and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [("lines", 7), ("kind", "hlo")],
)
def test_the_summary_tells_of_the_documents_that_there_are(report: Any, name: str, value: Any) -> None:
    report["summary"]["documents"][0][name] = value
    assert "summary.documents" in refusal(report)


def test_more_operations_linked_than_there_are(report: Any) -> None:
    report["summary"]["coverage"]["direct"] = 10**6
    assert "coverage links 1000000" in refusal(report)


@pytest.mark.parametrize("name", ["cpu:2 ", "CPU:2", "h900", "x" * 10_000, "cpu:0", "cpu:99999999999999999999"])
def test_targets_are_targets(report: Any, name: str) -> None:
    report["target"], report["order"][0] = name, name
    refusal(report)


def test_files_of_the_first_summaries_open(report: Any) -> None:
    for part in (report, *report["others"].values()):
        head = part["summary"]
        for lacking in ("meshes", "open", "worker", "compare", "options"):
            del head[lacking]
        del head["coverage"]["library"]
        for fact in head["facts"]:
            del fact["known"]
    opened = Inspection.from_json(json.dumps(report))
    assert opened.summary()["coverage"]["library"] == 0  # type: ignore[index]
    assert repr(opened)


def test_a_saved_program_reads_no_file_of_this_machine(tmp_path: Any) -> None:
    secret = tmp_path / "secret.py"
    secret.write_text("TOKEN = 1\n")
    report = json.loads(run(Call(lambda x: jnp.tanh(x), (X,))).to_json())
    report["frames"]["files"] = [[str(secret), None, False] for _ in report["frames"]["files"]]
    opened = Inspection.from_json(json.dumps(report))
    reply, _ = dispatch.reply([opened.program], {"id": 1, "method": "library", "params": {"call": 0, "library": "*"}})
    assert reply["error"]["message"] == "the source of libraries is not saved; inspect it again"
