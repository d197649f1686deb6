"""Pictures as they were taken become files, records, and cells of their notebook."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version

from tests.showcase.picture import Picture
from tests.showcase.records import PictureRecord, read_records, write_records
from tests.showcase.shrinking import shrunk
from tests.showcase.staleness import cells_digest, front_end_digest, notebook_of
from tests.showcase.stored import store

MOST = 300_000
"""Bytes of all pictures of one notebook."""


def recorded(pictures: Sequence[Picture], images: Mapping[str, bytes], answers: Mapping[str, str]) -> dict[str, int]:
    """Store all pictures of a notebook; gives their sizes in bytes. Raises ValueError where they are too large."""
    small = {one.name: shrunk(images[one.name]) for one in pictures}
    sizes = {name: len(png) for name, png in small.items()}
    if sum(sizes.values()) > MOST:
        raise ValueError(f"the pictures of {pictures[0].notebook} have {sum(sizes.values())} bytes: {sizes}")
    for picture in pictures:
        picture.file.write_bytes(small[picture.name])
    made = {one.name: _record(one, answers[one.name]) for one in pictures}
    write_records({**read_records(), **made})
    for picture in pictures:
        store(picture, made[picture.name])
    return sizes


def _record(picture: Picture, answer: str) -> PictureRecord:
    return PictureRecord(
        answer,
        cells_digest(picture, notebook_of(picture)),
        front_end_digest(picture),
        version("jax"),
        platform.machine(),
    )
