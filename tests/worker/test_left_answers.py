"""An answer that nobody took, since an interrupt came before the worker was ended, is not that of the next request."""

from __future__ import annotations

import os
from typing import Any

import pytest

from jaxstage_ext.worker import pool
from jaxstage_ext.worker.pool import RequestFailed
from jaxstage_ext.worker.process import Worker

pytestmark = pytest.mark.usefixtures("workers_of_our_own")


def test_the_next_request_has_its_own_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(worker: Worker, message: bytes, *more: Any) -> Any:
        os.write(worker._in, message)
        raise KeyboardInterrupt

    kills = iter([lambda worker: None])
    kill = Worker.kill
    with monkeypatch.context() as patched:
        patched.setattr(Worker, "_exchange", interrupted)
        patched.setattr(Worker, "kill", lambda worker: next(kills, kill)(worker))
        with pytest.raises(KeyboardInterrupt):
            pool.ask("cpu", {"method": "ping"})
    with pytest.raises(RequestFailed, match="no_such_method"):
        pool.ask("cpu", {"method": "no_such_method"})
    assert pool.ask("cpu", {"method": "ping"})["pid"] == pool.running()["cpu"]
