"""The folders of compile workers: logs that outlive them, limits, and what killed kernels left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from magic_shell import Shell, fresh_shell
from workers import endless, gone, ping, stopped, wait_for

from jaxstage_ext.worker import folder as worker_folder
from jaxstage_ext.worker import pool
from jaxstage_ext.worker import process as worker_process
from jaxstage_ext.worker.pool import WorkerDied

pytestmark = pytest.mark.usefixtures("workers_of_our_own")
REPO = Path(__file__).parents[2]


@pytest.fixture
def shell() -> Iterator[Shell]:
    with fresh_shell() as shell:
        yield shell


def print_something(text: str) -> None:
    place = pool._slots["cpu"].worker
    assert place is not None
    with open(place.folder / "log", "a") as log:
        log.write(text)


@pytest.fixture(autouse=True)
def no_worker_and_no_log_of_earlier_tests() -> None:
    pool.close_all()
    pool._logs.clear()


def test_a_log_can_be_read_while_it_runs_and_after_it_died() -> None:
    ping()
    print_something("first words\n")
    assert "cpu: first words" in pool.log("cpu")
    os.kill(pool.running()["cpu"], signal.SIGKILL)
    wait_for(lambda: not pool.running())
    ping()
    pool.close_all()
    assert pool.log("cpu") == "cpu: (nothing)", "the last worker's, which printed nothing"
    ping()
    print_something("last words\n")
    os.kill(pool.running()["cpu"], signal.SIGSTOP)
    with pytest.raises(WorkerDied):
        pool.ask("cpu", {"method": "ping"}, timeout=0.1)
    assert pool.log("cpu") == "cpu: last words"
    assert pool.log("tpu") == ""


def test_a_log_is_bounded() -> None:
    ping()
    print_something("x" * 200_000 + "end")
    pool.close_all()
    assert len(pool.log("cpu")) < 70_000
    assert pool.log("cpu").endswith("xend")


def test_the_log_on_a_magic_s_line(shell: Shell) -> None:
    for name in ("tpu", "v5e:2x2"):
        assert f"no compile worker for {name} was started by this kernel" in shell.run(f"%targets --log {name}").text
    ping()
    print_something("what XLA said\n")
    assert "cpu: what XLA said" in shell.run("%targets --log cpu").text


@pytest.mark.parametrize("wrong", ["", "abacus", "cpu tpu"])
def test_a_log_of_nothing_known(wrong: str, shell: Shell) -> None:
    assert "--log must be followed by cpu, tpu, gpu or a target" in shell.run(f"%targets --log {wrong}").text


def request_that_dumps(size: int) -> None:
    """A compile that goes on, in a folder in which so many bytes are dumped."""
    stopped()
    place = pool._slots["cpu"].worker
    assert place is not None
    (place.folder / "dump-x").mkdir()
    with open(place.folder / "dump-x" / "module.txt", "wb") as file:
        file.truncate(size)


def test_dumps_beyond_the_limit_end_the_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_process, "_CHECK_FOLDER", 0.1)
    request_that_dumps(5_000_000_000)
    with pytest.raises(WorkerDied, match=r"wrote 5.0 GB of dumps, over the limit of 4.0 GB, and was stopped") as died:
        pool.ask("cpu", endless(), timeout=60)
    assert died.value.cause == "disk limit"
    ping()


def test_a_disk_that_fills_up_ends_the_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_process, "_CHECK_FOLDER", 0.1)
    monkeypatch.setattr(worker_folder, "LEAST_FREE", 1 << 62)
    request_that_dumps(50_000_000)
    with pytest.raises(WorkerDied, match=r"wrote 0.05 GB and left [\d.]+ GB on the disk of /.*, and was stopped"):
        pool.ask("cpu", endless(), timeout=60)
    ping()


def test_a_disk_that_others_filled_does_not_end_a_request_that_writes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_process, "_CHECK_FOLDER", 0.0)
    monkeypatch.setattr(worker_folder, "LEAST_FREE", 1 << 62)
    ping()


def test_a_full_temporary_disk_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_space(self: Path, text: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", no_space)
    with pytest.raises(WorkerDied, match=r"nowhere to write its log: .*No space left on device; set TMPDIR"):
        ping()
    monkeypatch.undo()
    ping()


KERNEL = """
import os, sys, time
from jaxstage_ext.worker import pool
print(pool.ask("cpu", {"method": "ping"})["pid"], flush=True)
sys.stdin.read()
"""


def kernel(folder: Path) -> tuple[subprocess.Popen[str], int]:
    """A kernel that has a worker, and the worker's process id."""
    started = subprocess.Popen(
        [sys.executable, "-c", KERNEL],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=REPO,
        env=os.environ | {"TMPDIR": str(folder)},
    )
    assert started.stdout
    return started, int(started.stdout.readline())


def left(folder: Path) -> list[Path]:
    return list(folder.glob("jaxstage-cpu-*"))


def end(process: Any) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        pipe.close()


def test_what_a_killed_kernel_and_worker_left_goes_when_the_next_one_starts(tmp_path: Path) -> None:
    first, pid = kernel(tmp_path)
    os.kill(first.pid, signal.SIGSTOP)
    os.kill(pid, signal.SIGKILL)
    end(first)
    [folder] = left(tmp_path)
    second, _ = kernel(tmp_path)
    assert not folder.exists() and len(left(tmp_path)) == 1
    end(second)
    wait_for(lambda: not left(tmp_path))


def test_a_worker_that_outlived_its_kernel_is_ended(tmp_path: Path) -> None:
    outlived = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    started = worker_folder._started(outlived.pid)
    folder = folder_of(tmp_path, f"{worker_folder._machine()}\n999999999 5\n{outlived.pid} {started}\n")
    worker_folder.sweep()
    assert outlived.wait() == -signal.SIGKILL
    assert not folder.exists()


def test_a_living_kernel_s_folder_stays(tmp_path: Path) -> None:
    first, pid = kernel(tmp_path)
    second, _ = kernel(tmp_path)
    assert len(left(tmp_path)) == 2
    worker_folder.sweep()
    assert len(left(tmp_path)) == 2 and not gone(pid)
    for process in (first, second):
        end(process)
    wait_for(lambda: not left(tmp_path))


def folder_of(tmp_path: Path, owner: str | None, age: float = 0.0) -> Path:
    folder = tmp_path / "jaxstage-cpu-made"
    folder.mkdir()
    if owner is not None:
        (folder / "owner").write_text(owner)
    os.utime(folder, (1e9, 1e9) if age else None)
    return folder


@pytest.mark.parametrize(
    ("owner", "age", "stays"),
    [
        ("{here}\n{pid} {start}\n", 0, True),
        ("{here}\n{pid} 1\n", 0, False),  # the number is another process's now
        ("another machine\n{pid} 1\n", 1, True),
        ("{here}\n999999999 5\n", 0, False),
        ("junk", 0, False),
        ("", 0, True),  # perhaps only just made
        ("", 1, False),
        (None, 0, True),
        (None, 1, False),
    ],
)
def test_whose_folder_it_is(owner: str | None, age: float, stays: bool, tmp_path: Path) -> None:
    pid = os.getpid()
    told = owner and owner.format(here=worker_folder._machine(), pid=pid, start=worker_folder._started(pid))
    folder = folder_of(tmp_path, told, age)
    worker_folder.sweep()
    assert folder.exists() == (stays or owner == "junk")
    if folder.exists():
        (folder / "owner").unlink(missing_ok=True)
        folder.rmdir()


def test_other_folders_are_not_ours(tmp_path: Path) -> None:
    for name in ("jaxstage-notes", "my-jaxstage-cpu-1", "jaxstage-ipython-1"):
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (1, 1))
    (tmp_path / "jaxstage-cpu-link").symlink_to(tmp_path / "jaxstage-notes")
    worker_folder.sweep()
    assert len(list(tmp_path.iterdir())) == 4
    for path in tmp_path.iterdir():
        path.unlink() if path.is_symlink() else path.rmdir()
