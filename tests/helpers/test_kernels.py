"""Kernels of tests that start at once do not meet."""

import os
from concurrent.futures import ThreadPoolExecutor

from kernels import ForkedManager, start_kernel


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


def test_a_forked_kernel_has_what_imports_read_of_its_own_environment(tmp_path, monkeypatch):
    said = []
    for folder in (str(tmp_path), ""):
        monkeypatch.setenv("JAXSTAGE_CACHE_DIR", folder)
        manager, client = start_kernel(os.environ, ForkedManager)
        asked = {"folder": "__import__('jaxstage_ext.store.cache').store.cache.has_folder()"}
        reply = client.execute_interactive("", user_expressions=asked, timeout=60)
        said.append(reply["content"]["user_expressions"]["folder"]["data"]["text/plain"])
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    assert said == ["True", "False"]
