"""Every notebook is committed without outputs."""

from __future__ import annotations

from pathlib import Path

import pytest
from executed_notebooks import NOTEBOOKS

every_notebook = pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)


@every_notebook
def test_is_committed_without_outputs(path: Path) -> None:
    """Outputs hold times and paths of one machine; the tests make fresh ones."""
    import nbformat

    for cell in nbformat.read(path, as_version=4).cells:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
