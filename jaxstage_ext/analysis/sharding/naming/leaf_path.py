"""The path of an argument's array in its tree, as JAX writes it: `params['blocks'][0]['up']['kernel']`."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

_TOKEN = re.compile(
    r"\[(['\"])(?P<key>.{0,200}?)\1\]|\[(?P<index>[^\[\]'\"]*+)\]|\.(?P<attribute>\w+)|(?P<name>[^.\[]+)"
)
_NUMBER = re.compile(r"\d+")
_KINDS_OF_ARRAY = frozenset(
    ["kernel", "weight", "weights", "w", "bias", "b", "scale", "gamma", "beta", "embedding", "table"]
)
"""Last words of paths that say which array of a layer it is."""
_TREES = frozenset(["params", "state", "mu", "nu", "trace", "opt_state", "inner_state", "_state", "_variables"])
"""Words of paths that say which tree it is: of parameters, moments and the like."""
_BOXES = (".value", ".raw_value")
"""What a library holds an array in."""


@dataclass(frozen=True)
class LeafPath:
    """A path, word by word.

    Attributes:
      name: as JAX writes it.
      tokens: keys, indices and attributes from the outside in, the argument's own name first.
    """

    name: str
    tokens: tuple[str, ...]

    @staticmethod
    @functools.lru_cache(maxsize=4096)
    def of(name: str) -> LeafPath:
        """The path that JAX writes so."""
        array = functools.reduce(str.removesuffix, _BOXES, name)
        found = (match.groupdict() for match in _TOKEN.finditer(array))
        tokens = (next((part for part in one.values() if part), "") for one in found)
        return LeafPath(name, tuple(token for token in tokens if token) or (name,))

    @property
    def pattern(self) -> str:
        """The path with all its numbers alike: equal for the same array of two layers, `params['blocks'][#]['up']`."""
        return without_numbers(self.name)

    @property
    def argument(self) -> str:
        """The argument that it is in."""
        return self.tokens[0]

    @property
    def words(self) -> tuple[str, ...]:
        """The layers that hold it, from the outside in, numbered as they are: `blocks_0`, `up`; else its last word."""
        named: list[str] = []
        for token in self.tokens:
            if not token.isdigit():
                named.append(token)
            elif len(named) == 1 or named[-1].lower() not in _TREES:
                named[-1] += f"_{token}"
        if self.tokens[-2:-1] and all(token.isdigit() for token in self.tokens[-2:]):
            named[-1] = named[-1].removesuffix(f"_{self.tokens[-1]}")
        held = [token for token in named[1:] if token.lower() not in _TREES]
        layers = held[:-1] if held and held[-1].lower() in _KINDS_OF_ARRAY else held
        return tuple(layers or named[-1:])

    @property
    def layer(self) -> str:
        """The layer that it is an array of, in one word: `up`, `Dense_0`."""
        return self.words[-1]

    @property
    def short(self) -> str:
        """Layer and array, without numbers: "up.kernel", alike in all layers and for all moments."""
        ends = (self.layer, self.kind) if self.layer != self.kind else (self.layer,)
        return ".".join(_NUMBER.sub("", end).strip("_") or end for end in ends)

    @property
    def kind(self) -> str:
        """The last word: `kernel`, `bias`."""
        return self.tokens[-1]


def without_numbers(text: str) -> str:
    """The text with "#" for each number."""
    return _NUMBER.sub("#", text)
