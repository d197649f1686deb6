"""How much memory a compile outside the kernel may take, as people write it."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest
from magic_shell import Shell, fresh_shell
from workers import ping

from jaxstage_ext.report import kernel_settings
from jaxstage_ext.worker import memory_limit, pool
from jaxstage_ext.worker.memory_limit import bytes_of


@pytest.fixture
def shell() -> Iterator[Shell]:
    with fresh_shell() as shell:
        yield shell
    kernel_settings.change(worker_memory=None)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("8GB", 8_000_000_000),
        ("8 gb", 8_000_000_000),
        ("8G", 8_000_000_000),
        ("1.5GB", 1_500_000_000),
        ("8GiB", 8 << 30),
        ("512MiB", 512 << 20),
        ("300kB", 300_000),
        ("2TB", 2_000_000_000_000),
        ("123456789", 123_456_789),
    ],
)
def test_sizes_as_people_write_them(text: str, size: int) -> None:
    assert bytes_of(text) == size


@pytest.mark.parametrize("text", ["", "0", "0GB", "-1GB", "8 apples", "GB", "1e9", "8ZB", "nan", "8i", "8GB 1"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(ValueError, match="is not a size of memory such as 8GB"):
        bytes_of(text)


@pytest.mark.usefixtures("workers_of_our_own")
def test_a_limit_on_the_magic_s_line(shell: Shell) -> None:
    os.kill(ping(), signal.SIGSTOP)
    seen = shell.run("%%compile -t cpu:2 --memory 1MB\nloss(w, x)")
    assert "GB of memory, over the limit of 0.0 GB, and was stopped; --memory SIZE gives it" in " ".join(
        seen.text.replace("│", " ").split()
    )
    assert shell.run("%%compile -t cpu:2 --memory 8GB\nloss(w, x)").ok


@pytest.mark.parametrize("size", ["lots", "0", "8 apples"])
def test_a_wrong_limit_is_one_line(shell: Shell, size: str, caplog: pytest.LogCaptureFixture) -> None:
    seen = shell.run(f"%compile -t cpu:2 --memory '{size}' loss(w, x)")
    assert "UsageError" in seen.text and "is not a size of memory such as 8GB" in seen.text
    assert len(seen.text.strip().splitlines()) == 1
    shell.run(f"%config JAXStage.memory = {size!r}")
    assert [record.getMessage() for record in caplog.records] == [f"{size!r} is not a size of memory such as 8GB"]
    assert memory_limit.default() == memory_limit.half_of_machine()


@pytest.mark.usefixtures("workers_of_our_own")
def test_a_limit_for_all(shell: Shell) -> None:
    assert shell.run("%config JAXStage.memory = '1MB'").ok
    assert memory_limit.default() == 1_000_000
    os.kill(ping_within(8_000_000_000), signal.SIGSTOP)
    with pytest.raises(pool.WorkerDied, match="memory"):
        ping()
    assert shell.run("%config JAXStage.memory = ''").ok
    assert memory_limit.default() == memory_limit.half_of_machine()
    ping()


def ping_within(memory: int) -> int:
    return int(pool.ask("cpu", {"method": "ping"}, memory=memory)["pid"])
