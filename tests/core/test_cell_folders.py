"""What is kept for other kernels names no process: `test_cross_compile_cache` has it with real compiles."""

from __future__ import annotations

import pytest

from jaxstage_ext.core.cell_folders import CellFolder


@pytest.mark.parametrize("path", [b"/tmp/ipykernel_471/12.py", b"/tmp/marimo_471/__marimo__cell_Hbol_.py"])
def test_two_processes_keep_the_same_bytes_and_read_their_own(path: bytes) -> None:
    other = path.replace(b"471", b"899")
    here, there = CellFolder.of(b"at " + path), CellFolder.of(b"at " + other)
    kept = here.anonymous(b"at " + path)
    assert kept == there.anonymous(b"at " + other) and b"471" not in kept
    assert there.ours(kept) == b"at " + other


def test_a_module_of_two_folders_is_kept_as_it_is() -> None:
    both = b"/tmp/marimo_1/a.py /tmp/marimo_2/b.py"
    assert CellFolder.of(both).anonymous(both) == both
