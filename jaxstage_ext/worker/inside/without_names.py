"""The text of a module without names that are the user's: of functions, of mesh axes, and paths inside kernels."""

from __future__ import annotations

import base64
import binascii
import re

MODULE = "jit_program"
_SYMBOL = r'"(?:[^"\\\n]|\\.)*"|[A-Za-z_$.][\w$.-]*'
_MODULE = re.compile(rf"\A((?:#[^\n]*\n)*module )@(?:{_SYMBOL})")
_FUNCTION = re.compile(rf"^ *func\.func (?:public |private )?@({_SYMBOL})\(", re.MULTILINE)
_USE = re.compile(rf"@({_SYMBOL})")
_MESH = re.compile(r"^ *sdy\.mesh @[^\n]*", re.MULTILINE)
_AXIS = re.compile(r'"([^"\n]+)"=\d')
_PATH = re.compile(rb"(?<=\x00)/[^\x00]+(?=\x00)")
_WRITTEN_PATH = re.compile(r"(?<=\\00)/(?:[^\\\"]|\\(?!00))+(?=\\00)")
_ESCAPED = re.compile(r"\\[0-9A-F]{2}|\\.")
_BODY = re.compile(r"(?<=\\22body\\22: \\22)[A-Za-z0-9+/=]+(?=\\22)")
_LOCATIONS = re.compile(r", \\22debug_locations\\22: \\22[A-Za-z0-9+/=]+\\22")
_KERNEL = re.compile(r"custom_call @(?:tpu_custom_call|mosaic_gpu\w*|__gpu\$xla\.gpu\.triton)\(")


def renamed(text: str) -> str:
    """The text with names of ours in place of the user's; `main`, which XLA looks for, keeps its own."""
    functions = {name: f"f{number}" for number, name in enumerate(_FUNCTION.findall(text)) if name != "main"}
    text = _USE.sub(lambda use: f"@{functions.get(use[1], use[1])}", text)
    text = _MODULE.sub(rf"\g<1>@{MODULE}", text, count=1)
    axes = dict.fromkeys(axis for mesh in _MESH.findall(text) for axis in _AXIS.findall(mesh))
    for number, axis in enumerate(axes):
        for quote in ('"', "\\22"):
            text = text.replace(f"{quote}{axis}{quote}", f"{quote}axis{number}{quote}")
    return text


def kernels(text: str) -> int:
    """How many kernels of Pallas are in a module: they keep the names of their functions."""
    return len(_KERNEL.findall(text))


def without_paths(text: str) -> str:
    """The text with paths inside its kernels, which are bytecode of MLIR, overwritten: of the same length."""
    text = _LOCATIONS.sub("", text)
    text = _WRITTEN_PATH.sub(lambda path: "x" * len(_ESCAPED.sub("x", path[0])), text)
    return _BODY.sub(lambda body: _without_paths(body[0]), text)


def _without_paths(body: str) -> str:
    try:
        data = base64.b64decode(body, validate=True)
    except binascii.Error:
        return body
    return base64.b64encode(_PATH.sub(lambda path: b"x" * len(path[0]), data)).decode()
