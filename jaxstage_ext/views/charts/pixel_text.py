"""Figures with their units as pixels of a picture: pictures that stand still have no font."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

SCALE, HEIGHT = 2, 10
"""Pixels of a dot, and of a line of text."""
_GLYPHS = {
    "0": "111 101 101 101 111",
    "1": "010 110 010 010 111",
    "2": "111 001 111 100 111",
    "3": "111 001 111 001 111",
    "4": "101 101 111 001 001",
    "5": "111 100 111 001 111",
    "6": "111 100 111 101 111",
    "7": "111 001 001 010 010",
    "8": "111 101 111 101 111",
    "9": "111 101 111 001 111",
    ".": "0 0 0 0 1",
    "B": "110 101 110 101 110",
    "E": "111 100 110 100 111",
    "G": "111 100 101 101 111",
    "M": "10001 11011 10101 10001 10001",
    "P": "111 101 111 100 100",
    "T": "111 010 010 010 010",
    "k": "100 101 110 101 101",
    "m": "00000 00000 11110 10101 10101",
    "n": "000 000 110 101 101",
    "p": "000 110 101 110 100",
    "s": "000 011 110 011 110",
    "x": "000 101 010 101 000",
    "µ": "000 101 101 111 100",
}
_BLANK = "00 00 00 00 00"


def pixel_text(text: str) -> npt.NDArray[np.bool_]:
    """Which pixels of so many rows (`HEIGHT`) are of a text; a character without a glyph is left blank."""
    gap = np.zeros((5, 1), bool)
    parts = [part for each in text for part in (_dots(each), gap)]
    dots = np.concatenate(parts[:-1] or [gap], axis=1)
    return np.kron(dots, np.ones((SCALE, SCALE), bool)).astype(bool)


def _dots(character: str) -> npt.NDArray[np.bool_]:
    rows = _GLYPHS.get(character, _BLANK).split(" ")
    return np.array([[dot == "1" for dot in row] for row in rows])
