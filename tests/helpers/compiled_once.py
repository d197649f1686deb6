"""What several test files compile is compiled once: a folder of workers' answers that all test processes share.

Tests that are about figures, not about compiling, take answers from there (`kept()`). A request that was answered
before is the same bytes: platform, module, options, device, limits, variables. What decides its answer besides is in
the folder's name: the compilers' versions, and the source of `worker/`, which makes it. What the rest of the package
does with an answer runs in each test. The week is in the name too, so that each is compiled anew once a week.
The folder lies beside the packages' caches, so that a fresh clone finds what another has compiled: where a clone lies
is no part of a request's name, and an answer that was given in another clone gets this one's folder (`clone_paths`).
"""

from __future__ import annotations

import contextlib
import datetime
import functools
import hashlib
import os
import pickle
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import clone_paths
import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "jaxstage-tests" / "compiled"
COMPILERS = ("jax", "jaxlib", "libtpu", "jax-cuda13-plugin", "jax-cuda13-pjrt", "nvidia-cuda-nvcc", "nvidia-nvvm")
FORMAT = "4"
"""Changed where earlier runs kept what they should not have."""
WORKER, ROOMS = ("worker",), ("store", "worker", "core")
"""Whose source decides what a worker answers, and what the package's own cache keeps of it."""
MOST = 24
"""Folders that are left, the newest first."""
BY_BYTES = ("open_partitionable", "partition")
"""Requests whose answers hold a digest of the module as it is, with the paths of its clone: another has its own."""


def version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "none"


@functools.cache
def folder(rooms: tuple[str, ...] = ROOMS) -> Path:
    """This week's answers of these compilers to this source; folders of other weeks, or unused for long, go."""
    digest = hashlib.sha256(FORMAT.encode())
    for room in rooms:
        for path in sorted((ROOT / "jaxstage_ext" / room).rglob("*.py")):
            digest.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    source = digest.hexdigest()[:12]
    year, week, _ = datetime.date.today().isocalendar()
    made = (
        FOLDERS / f"{year}w{week}-{source}-{hashlib.sha256(' '.join(map(version, COMPILERS)).encode()).hexdigest()[:8]}"
    )
    made.mkdir(parents=True, exist_ok=True)
    made.chmod(0o700)
    made.touch()
    this_week = [each for each in FOLDERS.glob("*") if each.name.startswith(f"{year}w{week}-")]
    for old in {*FOLDERS.glob("*")} - set(sorted(this_week, key=last_used)[-MOST:]):
        shutil.rmtree(old, ignore_errors=True)
    return made


def last_used(folder: Path) -> float:
    try:
        return folder.stat().st_mtime
    except FileNotFoundError:  # another test process has removed it
        return 0


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """Within the block, workers' answers come from the folder, where they are there, and go to it."""
    from jaxstage_ext.worker import pool

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "ask", answered_once(pool.ask))
        patch.setattr(pool, "start", lambda *_: None)  # a worker ahead of a request that is not made
        yield


def answered_once(ask: Callable[..., Any]) -> Callable[..., Any]:
    """`pool.ask` that asks what no run has asked before. What XLA refuses is kept, how a worker died is not."""
    from jaxstage_ext.worker.request_errors import RequestFailed

    @functools.wraps(ask)
    def answer(platform: str, request: dict[str, Any], *rest: Any, environment: Any = None, **how: Any) -> Any:
        if environment is not None and environment.files:
            return ask(platform, request, *rest, environment=environment, **how)
        path = folder(WORKER) / key(platform, request, rest, environment, how)
        with contextlib.suppress(FileNotFoundError):
            root, failed, reply = pickle.loads(path.read_bytes())
            if failed:
                raise RequestFailed(*clone_paths.moved(failed, root, str(ROOT)))
            return clone_paths.moved(reply, root, str(ROOT)) if root != str(ROOT) else reply
        try:
            reply = ask(platform, request, *rest, environment=environment, **how)
        except RequestFailed as error:
            keep(path, (str(ROOT), (error.type, str(error)), None))
            raise
        keep(path, (str(ROOT), None, reply))
        return reply

    return answer


def key(platform: str, request: Mapping[str, Any], rest: Any, environment: Any, how: Mapping[str, Any]) -> str:
    """The name of an answer: all of the request but where compiler and clone lie and who hears of progress."""
    asked = {name: value for name, value in request.items() if name != "library"}
    is_of_any_clone = request.get("method") not in BY_BYTES
    if is_of_any_clone and isinstance(module := asked.get("module"), bytes) and f"{ROOT}/".encode() in module:
        asked["module"] = clone_paths.text_of(module)
    asked_how = {name: value for name, value in how.items() if name != "progress"}
    asked_how["variables"] = sorted(how.get("variables", {}).items())
    around = environment and (environment.variables, environment.processors)
    told = (platform, sorted(asked.items()), rest, sorted(asked_how.items()), around)
    named = clone_paths.moved(told, str(ROOT), "") if is_of_any_clone else (str(ROOT), told)
    return hashlib.sha256(repr(named).encode()).hexdigest()


def keep(path: Path, answer: Any) -> None:
    keep_bytes(path, pickle.dumps(answer, pickle.HIGHEST_PROTOCOL))


def keep_bytes(path: Path, data: bytes) -> None:
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(data)
    os.replace(file.name, path)
