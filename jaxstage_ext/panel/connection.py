"""One page's connection to the kernel: a comm, and what the page has said of itself over it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jaxstage_ext.panel.params import Answer, Params
from jaxstage_ext.report.text.encodable import encodable_json
from jaxstage_ext.report.uninterrupted import uninterrupted

if TYPE_CHECKING:
    from jaxstage_ext.program.program import Program

LastLine = Mapping[str, str]


@dataclass(frozen=True)
class NotebookState:
    """What requests may see of the notebook besides its panels.

    Attributes:
      variables: the names that the user's namespace holds Programs under, an Inspection's own among them.
      last_lines: the last magic line of each stage: `line`, whole, and its `options` alone.
    """

    variables: Callable[[], Sequence[tuple[str, Program]]]
    last_lines: Callable[[], Mapping[str, LastLine]]


class Connection:
    """A page's end of a comm.

    Attributes:
      notebook: what its requests may see.
      draws_panels: whether the page said that it draws panels from our own MIME type.
    """

    def __init__(self, comm: Any, notebook: NotebookState) -> None:
        self._comm, self.notebook, self.draws_panels = comm, notebook, False

    def send(self, message: dict[str, Any], buffers: Sequence[bytes] = ()) -> None:
        """Send a message to the page; nothing where its comm is closed."""
        with uninterrupted():
            try:
                self._comm.send(data=message, buffers=list(buffers))
            except UnicodeEncodeError:
                self._comm.send(data=encodable_json(message), buffers=list(buffers))

    def close(self) -> None:
        """Close the page's comm."""
        self._comm.close()


FrontEndMethod = Callable[[Connection, Params], Answer]
"""Answers a request of the JupyterLab extension. Raises BadRequest, in one line, where it has no result."""
