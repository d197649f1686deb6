"""The folder that test runs share holds what workers answered, for the very same request alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import compiled_once
import pytest

from jaxstage_ext.worker import pool
from jaxstage_ext.worker.compile_environment import CompileEnvironment
from jaxstage_ext.worker.request_errors import RequestFailed, WorkerDied

PROGRAM = {"method": "compile", "module": b"m", "options": b"", "library": "/a/libtpu.so"}
REFUSED, DIED = RequestFailed("ValueError", "it cannot be"), WorkerDied("it died", "exit")


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The requests that reach a worker; it answers with their number, or with the error that a request holds."""
    requests: list[dict[str, Any]] = []

    def ask(platform: str, request: dict[str, Any], *rest: Any, **how: Any) -> Any:
        requests.append(request)
        if "raises" in request:
            raise request["raises"]
        return {"number": len(requests)}

    monkeypatch.setattr(compiled_once, "folder", lambda _: tmp_path)
    monkeypatch.setattr(pool, "ask", ask)
    return requests


def answer(request: dict[str, Any], platform: str = "tpu", **how: Any) -> Any:
    with compiled_once.kept():
        return pool.ask(platform, request, 600.0, None, **how)


def test_a_later_run_finds_what_workers_answered(asked: list[dict[str, Any]]) -> None:
    assert answer(PROGRAM) == answer({**PROGRAM, "library": "/another/libtpu.so"}, progress=print) == {"number": 1}
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("platform", "request_", "how"),
    [
        ("cuda", {}, {}),
        ("tpu", {"module": b"n"}, {}),
        ("tpu", {"options": b"o"}, {}),
        ("tpu", {"method": "passes"}, {}),
        ("tpu", {}, {"lane": "recompile"}),
        ("tpu", {}, {"variables": {"A": "1"}}),
        ("tpu", {}, {"environment": CompileEnvironment((("XLA_FLAGS", "--f"),), 2)}),
    ],
)
def test_what_decides_an_answer_is_in_its_name(
    asked: list[dict[str, Any]], platform: str, request_: dict[str, Any], how: dict[str, Any]
) -> None:
    answer(PROGRAM)
    assert answer({**PROGRAM, **request_}, platform, **how) == {"number": 2}


@pytest.mark.parametrize("method", compiled_once.BY_BYTES)
def test_what_has_a_digest_of_a_clone_s_module_is_of_that_clone(
    asked: list[dict[str, Any]], method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Clones whose paths are of one length, as lengths are in a module too."""
    told = []
    for root in ("/tmp/one", "/tmp/two"):
        monkeypatch.setattr(compiled_once, "ROOT", Path(root))
        told.append(answer({"method": method, "module": f"{root}/tests/f.py".encode()})["number"])
    assert told == [1, 2]


def test_what_a_file_decides_is_asked_each_time(asked: list[dict[str, Any]]) -> None:
    environment = CompileEnvironment((), 2, files=(("option", "its digest"),))
    assert [answer(PROGRAM, environment=environment)["number"] for _ in range(2)] == [1, 2]


def test_what_xla_refuses_is_refused_again(asked: list[dict[str, Any]]) -> None:
    for _ in range(2):
        with pytest.raises(RequestFailed, match="cannot") as failed:
            answer({**PROGRAM, "raises": REFUSED})
        assert failed.value.type == "ValueError"
    assert len(asked) == 1


def test_the_death_of_a_worker_is_not_kept(asked: list[dict[str, Any]]) -> None:
    for _ in range(2):
        with pytest.raises(WorkerDied):
            answer({**PROGRAM, "raises": DIED})
    assert len(asked) == 2


def test_outside_workers_are_asked(asked: list[dict[str, Any]]) -> None:
    answer(PROGRAM)
    pool.ask("tpu", PROGRAM, 600.0, None)
    assert len(asked) == 2
