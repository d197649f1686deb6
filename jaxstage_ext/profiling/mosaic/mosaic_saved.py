"""A Mosaic GPU profiler buffer as a file: an .npz with the words and, as JSON, what they were recorded with."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from typing import Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from jaxstage_ext.profiling.mosaic.mosaic_recording import decode
from jaxstage_ext.profiling.mosaic.mosaic_spec import BufferLayout, MosaicSpec, TraceScope
from jaxstage_ext.profiling.unreadable import UnreadableProfile
from jaxstage_ext.report.recording import Recording

_VERSION = 1
_DAMAGED = (ValueError, TypeError, KeyError, OSError, EOFError, MemoryError, RuntimeError, BadZipFile, zlib.error)
"""What reading a damaged file raises."""
_BUFFER, _SPEC = "mosaic_gpu_words", "mosaic_gpu_spec"
_MOST_BYTES = 1 << 30
"""Of an array in a file; a grid of 100,000 blocks with 1,024 words has 0.4 GB."""


def saved(buffer: npt.ArrayLike, spec: MosaicSpec, sm_clock: float | None = None) -> bytes:
    """The bytes of an .npz file, which `read` reads. Raises UnreadableProfile where the buffer cannot be decoded."""
    decode(buffer, spec, sm_clock)
    head = {
        "version": _VERSION,
        "entries": spec.entries,
        "names": spec.names,
        "grid": spec.grid,
        "block": spec.block,
        "scope": spec.scope,
        "kernel": spec.kernel,
        "layout": spec.layout,
        "bounds_check": spec.bounds_check,
        "launch_known": spec.launch_known,
        "sm_clock": sm_clock,
    }
    file = io.BytesIO()
    text = np.frombuffer(json.dumps(head).encode(), np.uint8)
    arrays: dict[str, Any] = {_BUFFER: np.asarray(buffer), _SPEC: text}
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def is_numpy(head: bytes) -> bool:
    """Whether data begin as an .npy or an .npz file does."""
    return head.startswith((b"\x93NUMPY", b"PK\x03\x04"))


def read(data: bytes, title: str) -> Recording:
    """The recording of a file that `saved` made.

    Raises:
      UnreadableProfile: it is another file, or a damaged one.
    """
    if data.startswith(b"\x93NUMPY"):
        raise UnreadableProfile(
            f"{title} has words alone; if they are a Mosaic GPU profile, read them with "
            "Timeline.from_mosaic(numpy.load(file), spec)"
        )
    try:
        words, text = _arrays(data)
        spec, clock = _spec(json.loads(text))
        return decode(words, spec, clock)
    except UnreadableProfile as error:
        raise UnreadableProfile(f"{title}: {error}") from None
    except _DAMAGED as error:
        raise UnreadableProfile(
            f"{title} is not a Mosaic GPU profile, or is damaged ({type(error).__name__}: {error}); open the .npz that "
            "was saved with one"
        ) from None


def _arrays(data: bytes) -> tuple[npt.NDArray[Any], bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        words, text = (_array(archive, name) for name in (_BUFFER, _SPEC))
    return words, text.astype(np.uint8, casting="no").tobytes()


def _array(archive: zipfile.ZipFile, name: str) -> npt.NDArray[Any]:
    """One array of the file. The size that its own header claims is not believed before the bytes are there."""
    with archive.open(f"{name}.npy") as member:
        content = member.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise UnreadableProfile(f"{name} has more than {_MOST_BYTES:,} bytes")
    array: npt.NDArray[Any] = np.load(io.BytesIO(content), allow_pickle=False)
    return array


def _spec(head: Any) -> tuple[MosaicSpec, float | None]:
    if head["version"] != _VERSION:
        raise UnreadableProfile(f"version {head['version']!r} of the file is newer than this JAXStage, which reads 1")
    clock = head["sm_clock"]
    spec = MosaicSpec(
        entries=_whole(head["entries"]),
        names=tuple(str(name) for name in head["names"]),
        grid=tuple(map(_whole, head["grid"])),
        block=tuple(map(_whole, head["block"])),
        scope=TraceScope(head["scope"]),
        kernel=str(head["kernel"]),
        layout=None if head["layout"] is None else BufferLayout(head["layout"]),
        bounds_check=bool(head["bounds_check"]),
        launch_known=bool(head.get("launch_known", True)),
    )
    return spec, None if clock is None else float(clock)


def _whole(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 1 << 40:
        raise ValueError(f"{value!r} is not a size")
    return value
