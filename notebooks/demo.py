"""Executes a notebook, prints its panels as text and writes the last of them as an HTML page.

Usage: python notebooks/demo.py notebooks/01_first_look.ipynb demo.html
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbclient import NotebookClient

REPORT = "application/vnd.jaxstage.v1+json"


def executed(path: Path, page: Path) -> nbformat.NotebookNode:
    """The notebook with its outputs; a cell at its end writes `ins` as the page."""
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell(f"ins.to_html({str(page)!r});"))
    return run(notebook, path.parent)


def run(notebook: nbformat.NotebookNode, folder: Path) -> nbformat.NotebookNode:
    """The notebook, executed in the folder, with its outputs. Raises CellExecutionError for a cell that fails."""
    client = NotebookClient(notebook, timeout=900, kernel_name="python3", resources={"metadata": {"path": folder}})
    return client.execute()


def panels(notebook: nbformat.NotebookNode) -> Iterator[str]:
    """The text form of each panel in the outputs."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if REPORT in data:
                yield data["text/plain"]


def main(notebook: str, page: str) -> None:
    """Execute, print, and say where the page is."""
    started = time.perf_counter()
    target = Path(page).resolve()
    for text in panels(executed(Path(notebook), target)):
        print(text, end="\n\n")
    print(f"{notebook} executed in {time.perf_counter() - started:.0f} s. The same panel, interactive: {target}")


if __name__ == "__main__":
    main(*sys.argv[1:3])
