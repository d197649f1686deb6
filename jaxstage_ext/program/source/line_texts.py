"""What stands at source lines, as tables name them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from jaxstage_ext.program.program import Program


def line_texts(program: Program) -> Mapping[str, str]:
    """The text of each line that the program's source document shows, by "In [2]:7"."""
    texts: Mapping[str, str] = program.results.once("line texts", _reader(program))
    return texts


def _reader(program: Program) -> Callable[[], Mapping[str, str]]:
    def read() -> Mapping[str, str]:
        document = program.documents.get("python")
        if document is None or document.file is None or document.number is None:
            return {}
        files = [source.label for source in document.frames.files]
        places = zip(document.file.tolist(), document.number.tolist(), document.lines, strict=False)
        return {f"{files[file]}:{number}": text.strip() for file, number, text in places if number > 0 and file >= 0}

    return read
