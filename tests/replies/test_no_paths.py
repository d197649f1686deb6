"""The recorded replies hold no path of the machine that recorded them, in compressed texts and buffers neither."""

from __future__ import annotations

import base64
import binascii
import contextlib
import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FIXTURES = Path(__file__).parents[2] / "labextension/tests/fixtures"
ABSOLUTE = re.compile(r"(?<![\w.\-/>])/(?:[\w.@+~-]+/)++[\w.@+~-]+\.\w+")
NEUTRAL = "/home/me/"
MEND = "run `python tests/replies/record.py` and `python labextension/dev/fixture.py`"


def texts(value: Any) -> Iterator[str]:
    """Every text in the JSON, and what base64 in it holds, unpacked where it is compressed."""
    if isinstance(value, str):
        yield value
        yield from unpacked(value)
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from texts(inner)


def unpacked(text: str) -> Iterator[str]:
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return
    with contextlib.suppress(zlib.error):
        data = zlib.decompress(data, zlib.MAX_WBITS + 32)
    yield data.decode("utf-8", "replace")


def absolute_paths(value: Any) -> list[str]:
    found = {path for text in texts(value) for path in ABSOLUTE.findall(text)}
    return sorted(path for path in found if not path.startswith(NEUTRAL))


@pytest.mark.parametrize("name", sorted(path.name for path in FIXTURES.glob("*.json")))
def test_a_fixture_holds_no_path_of_the_machine_that_recorded_it(name: str) -> None:
    assert absolute_paths(json.loads((FIXTURES / name).read_text())) == [], MEND


def test_a_path_in_compressed_text_is_seen() -> None:
    packed = base64.b64encode(zlib.compress(b"# /srv/somebody/project/model.py")).decode()
    assert absolute_paths([{"text": {"data": packed}}]) == ["/srv/somebody/project/model.py"]
