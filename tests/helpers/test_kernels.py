"""Kernels of tests that start at once do not meet."""

import os
from concurrent.futures import ThreadPoolExecutor

from kernels import start_kernel


def test_kernels_that_start_at_once_each_answer():
    before = set(os.listdir())
    with ThreadPoolExecutor() as threads:
        started = list(threads.map(start_kernel, [os.environ] * 2))
    try:
        assert len({manager.ip for manager, _ in started}) == 2
        assert set(os.listdir()) == before
    finally:
        for manager, client in started:
            client.stop_channels()
            manager.shutdown_kernel(now=True)
    assert not any(manager.folder.exists() for manager, _ in started)
