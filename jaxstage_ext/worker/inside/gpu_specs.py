"""The descriptions of GPUs that a CUDA plugin carries: text protos inside its shared library."""

from __future__ import annotations

import mmap
import re

_START = re.compile(rb"gpu_device_info \{")
_NAME = re.compile(r'device_description_str: "([^"]*)"')


def is_spec(text: str) -> bool:
    """Whether a text is a description itself rather than the name of one."""
    return _START.match(text.encode()) is not None


def gpu_specs(library: str) -> dict[str, str]:
    """The descriptions in a plugin's library, by the name of their device."""
    specs = {}
    with open(library, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        for start in (match.start() for match in _START.finditer(data)):
            text = data[start : data.find(b"\0", start)].decode("utf-8", "replace")
            if name := _NAME.search(text):
                specs[name[1]] = text
    return specs
