"""Of several that want an entry at once one makes it: threads, processes, and whatever happens to them or the folder.

What was made is counted by a file that each maker appends to, in processes of their own.
"""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jaxstage_ext.store import cache, file_claim, maker

MAKER = """
import os, sys, time
from jaxstage_ext.store import cache
folder, made, how, *rest = sys.argv[1:]
cache.use_folder(folder)
key = cache.key("entry")
def make():
    with open(made, "a") as file:
        file.write(f"{os.getpid()}\\n")
    print("making", flush=True)
    if how != "at once":
        sys.stdin.readline()
    if how == "fails":
        raise RuntimeError("not made")
    cache.store(key, {"by": os.getpid()}, b"data")
    return os.getpid()
print("asks", flush=True)
print(*cache.once(key, lambda: cache.load(key, lambda head, parts: head["by"]), make), flush=True)
"""


@pytest.fixture(autouse=True)
def as_at_the_start() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()
    cache.use_folder(None)


class Makers:
    """Processes that want the entry of one key in one folder."""

    def __init__(self, place: Path) -> None:
        self.folder, self._made = place / "cache", place / "made"
        self._running: list[subprocess.Popen[str]] = []

    def begin(self, how: str) -> subprocess.Popen[str]:
        """One that has asked: it makes the entry once it reads a line, or `fails` to, or makes it `at once`."""
        command = [sys.executable, "-S", "-c", MAKER, str(self.folder), str(self._made), how]
        process = subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment())
        self._running.append(process)
        assert said(process) == "asks"
        return process

    @property
    def made(self) -> list[int]:
        """The processes that have begun to make it, in turn."""
        return [int(line) for line in self._made.read_text().split()] if self._made.exists() else []

    def end(self) -> None:
        for process in self._running:
            process.kill()
            process.communicate()


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def tell(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


@pytest.fixture
def makers(tmp_path: Path) -> Iterator[Makers]:
    made = Makers(tmp_path)
    yield made
    made.end()


def files(folder: Path) -> list[str]:
    return sorted(path.suffix for path in folder.iterdir())


def test_one_process_makes_it_and_the_others_read(makers: Makers) -> None:
    first = makers.begin("told")
    assert said(first) == "making"
    others = [makers.begin("told") for _ in range(2)]
    tell(first)
    assert said(first) == f"{first.pid} False"
    assert [said(one) for one in others] == [f"{first.pid} True"] * 2
    assert makers.made == [first.pid] and files(makers.folder) == [".jaxstage"]


def test_where_the_owner_is_killed_another_makes_it(makers: Makers) -> None:
    first = makers.begin("told")
    assert said(first) == "making"
    second = makers.begin("told")
    first.kill()
    killed = time.monotonic()
    assert said(second) == "making" and time.monotonic() - killed < 1.5
    tell(second)
    assert said(second) == f"{second.pid} False" and files(makers.folder) == [".jaxstage"]


def test_where_the_owner_fails_all_others_try_at_once(makers: Makers) -> None:
    first = makers.begin("fails")
    assert said(first) == "making"
    others = [makers.begin("told") for _ in range(2)]
    tell(first)
    assert [said(one) for one in others] == ["making"] * 2, "one after the other takes as long as all of them"
    for one in others:
        tell(one)
    assert [said(one) for one in others] == [f"{one.pid} False" for one in others]
    assert files(makers.folder) == [".jaxstage"]


def test_an_interrupt_ends_the_wait_at_once(makers: Makers) -> None:
    first = makers.begin("told")
    assert said(first) == "making"
    waiting = makers.begin("told")
    began = time.monotonic()
    waiting.send_signal(signal.SIGINT)
    assert waiting.wait() != 0 and time.monotonic() - began < 2
    tell(first)
    assert said(first) == f"{first.pid} False"


def test_who_has_waited_long_enough_makes_it_too(tmp_path: Path) -> None:
    claim = locked(tmp_path, key := cache.key("x"))
    cache.use_folder(tmp_path)
    waited: list[float] = []
    assert cache.once(key, lambda: None, lambda: 1, waited.append, patience=0.05) == (1, False)
    assert waited and (tmp_path / claim).exists(), "another's claim stays"


def test_what_is_told_of_the_wait_can_end_it(tmp_path: Path) -> None:
    locked(tmp_path, key := cache.key("x"))
    cache.use_folder(tmp_path)

    def stop(seconds: float) -> None:
        raise TimeoutError("stopped")

    with pytest.raises(TimeoutError, match="stopped"):
        cache.once(key, lambda: None, lambda: 1, stop)


_locked: list[int] = []


def locked(folder: Path, key: str) -> str:
    """The name of a claim that somebody else holds."""
    name = f"{key}.claim"
    _locked.append(os.open(folder / name, os.O_RDWR | os.O_CREAT))
    fcntl.flock(_locked[-1], fcntl.LOCK_EX)
    return name


@pytest.fixture(autouse=True)
def unlocked() -> Iterator[None]:
    yield
    while _locked:
        os.close(_locked.pop())


def test_a_claim_that_only_the_child_of_a_dead_owner_holds_is_taken_over(tmp_path: Path) -> None:
    name = locked(tmp_path, key := cache.key("x"))
    ended = subprocess.run(
        [sys.executable, "-S", "-c", "import os; print(os.getpid())"], capture_output=True, check=True
    )
    owner = file_claim._this_process() | {"pid": int(ended.stdout)}
    (tmp_path / name).write_text(file_claim.json.dumps(owner))
    cache.use_folder(tmp_path)
    assert cache.once(key, lambda: None, lambda: 1, patience=20) == (1, False)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"pid": -1}', "\x00" * 9000, "[" * 4096])
def test_a_claim_that_says_nothing_of_its_owner_is_a_claim_while_it_is_locked(tmp_path: Path, text: str) -> None:
    name = locked(tmp_path, key := cache.key("x"))
    (tmp_path / name).write_text(text)
    cache.use_folder(tmp_path)
    assert cache.once(key, lambda: None, lambda: 1, patience=0.05) == (1, False)
    os.close(_locked.pop())
    assert cache.once(key, lambda: None, lambda: 2, patience=20) == (2, False)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("problem", ["no locks", "no room", "read only", "no folder", "a link"])
def test_where_there_can_be_no_claim_each_makes_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, problem: str
) -> None:
    key = cache.key("x")
    cache.use_folder(tmp_path, makes=False)
    raised = {"no locks": OSError(37, "no locks"), "no room": OSError(28, "no room")}
    if problem == "no folder":
        cache.use_folder(tmp_path / "gone", makes=False)
    elif problem == "a link":
        (tmp_path / f"{key}.claim").symlink_to(tmp_path / "elsewhere")
    elif problem == "read only":
        monkeypatch.setattr(file_claim, "_FLAGS", file_claim._FLAGS & ~os.O_CREAT)
    else:
        where = {"no locks": (fcntl, "flock"), "no room": (os, "pwrite")}[problem]
        monkeypatch.setattr(*where, refuse(raised[problem]))
    assert cache.once(key, lambda: None, lambda: 1, patience=20) == (1, False)
    assert not [path for path in tmp_path.iterdir() if not path.is_symlink()] and not (tmp_path / "elsewhere").exists()


def refuse(error: OSError) -> Any:
    def refused(*args: object) -> None:
        raise error

    return refused


def test_threads_of_one_process_wait_for_each_other_without_a_folder() -> None:
    key, made, begun, go = cache.key("x"), list[int](), threading.Event(), threading.Event()

    def make() -> str:
        begun.set()
        assert go.wait(20)
        made.append(1)
        cache.store(key, {}, b"data")
        return "made"

    found: list[tuple[str, bool]] = []
    ask = lambda: found.append(cache.once(key, lambda: cache.load(key, lambda *_: "read"), make))  # noqa: E731
    threads = [threading.Thread(target=ask) for _ in range(3)]
    threads[0].start()
    assert begun.wait(20)
    for thread in threads[1:]:
        thread.start()
    go.set()
    for thread in threads:
        thread.join(20)
    assert len(made) == 1 and sorted(found) == [("made", False), ("read", True), ("read", True)]


def test_who_holds_one_claim_waits_for_no_other(tmp_path: Path) -> None:
    locked(tmp_path, other := cache.key("other"))
    cache.use_folder(tmp_path)

    def make() -> int:
        return cache.once(other, lambda: None, lambda: 1, patience=20)[0]

    began = time.monotonic()
    assert cache.once(cache.key("x"), lambda: None, make) == (1, False) and time.monotonic() - began < 10


def test_without_a_key_or_a_cache_each_makes_its_own() -> None:
    assert cache.once(None, lambda: None, lambda: 1) == (1, False)
    cache.enable(False)
    try:
        assert cache.once(cache.key("x"), lambda: None, lambda: 1) == (1, False)
    finally:
        cache.enable(True)


def test_an_entry_says_who_made_it(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.store(key := cache.key("x"), {})
    assert (made := cache.maker(key)) == maker.me() and made is not None and made.of_job is None
    monkeypatch.setattr(maker._Own, "maker", maker.Maker("another", "job", 0))
    assert made.of_job is None, "it was in no job"
    cache.store(key, {})
    monkeypatch.setattr(maker._Own, "maker", maker.Maker("a third", "job", 1))
    assert (made := cache.maker(key)) is not None and made.of_job == 0
    monkeypatch.setattr(maker._Own, "maker", maker.Maker("a third", "another job", 1))
    assert made.of_job is None


@pytest.mark.parametrize("name", ["old", "new", "other"])
def test_a_claim_that_nobody_waits_for_goes_when_room_is_made(tmp_path: Path, name: str) -> None:
    claim = tmp_path / (f"{cache.key('x')}.claim" if name != "other" else "notes.claim")
    claim.touch()
    age = file_claim.ABANDONED + 60 if name != "new" else 0
    os.utime(claim, (time.time() - age,) * 2)
    cache.use_folder(tmp_path)
    cache.put(cache.key("y"), b"data")
    assert claim.exists() is (name != "old")


def test_a_fork_of_the_owner_gives_nothing_up(tmp_path: Path) -> None:
    key = cache.key("x")
    owner, other = (file_claim.FileClaim(os.open(tmp_path, os.O_RDONLY), key) for _ in range(2))
    assert not owner.is_held_elsewhere()
    owner._pid = os.getppid()
    owner.release()
    assert other.is_held_elsewhere()
    owner._pid = os.getpid()
    owner.release()
    assert not other.is_held_elsewhere() and not list(tmp_path.iterdir())
    other.release()
