"""The bytes of a module's file, unpacked where it is gzip."""

from __future__ import annotations

from pathlib import Path

from jaxstage_ext.core.given.module_files import UnreadableModule
from jaxstage_ext.profiling import opening
from jaxstage_ext.profiling.chrome import unpacking
from jaxstage_ext.profiling.unreadable import TooLarge, UnreadableProfile
from jaxstage_ext.report.text.units import scaled


def read(source: Path | bytes, title: str) -> bytes:
    """The bytes of a file, or of what such a file holds.

    Raises UnreadableModule where it is damaged, too large or not a file, and OSError where it cannot be read.
    """
    try:
        data = source if isinstance(source, bytes) else opening.contents(source)
        return unpacking.unpacked(data, title)
    except TooLarge:
        most = scaled(unpacking.MOST_BYTES, "B")
        raise UnreadableModule(f"{title} is larger than {most}, the most that is read of a module") from None
    except UnreadableProfile as error:
        raise UnreadableModule(str(error)) from None
