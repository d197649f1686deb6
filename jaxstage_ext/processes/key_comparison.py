"""In what the keys of one program in the persistent cache differ between processes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from jaxstage_ext.core.jax_private.cache_key_parts import KeyPart
from jaxstage_ext.processes.compile_row_form import KeyForm


@dataclass(frozen=True)
class KeyDifferenceBetween:
    """A part of the key that differs, and what it is in each process.

    Attributes:
      what: the compile option that differs; "" for a part as a whole.
      values: in words, by process; "" where there are none.
    """

    part: KeyPart
    what: str
    values: Mapping[int, str]

    @property
    def is_fingerprint(self) -> bool:
        """Whether only the fingerprint of the devices differs, of which the words are the same."""
        return self.part is KeyPart.DEVICES and len(set(self.values.values())) == 1


@dataclass(frozen=True)
class ComparedKeys:
    """The keys of one program.

    Attributes:
      differences: in the order of the key.   unknown: why a process's key could not be read, by its index.
    """

    differences: tuple[KeyDifferenceBetween, ...]
    unknown: Mapping[int, str]


def compared_keys(keys: Mapping[int, KeyForm]) -> ComparedKeys:
    """How the keys that processes made for one program differ."""
    known = {process: key for process, key in keys.items() if not key["reason"]}
    differences = [
        difference
        for part in KeyPart
        if len({key["parts"].get(part.name) for key in known.values()}) > 1
        for difference in _of_part(part, known)
    ]
    return ComparedKeys(tuple(differences), {p: key["reason"] for p, key in keys.items() if key["reason"]})


def _of_part(part: KeyPart, keys: Mapping[int, KeyForm]) -> list[KeyDifferenceBetween]:
    whole = KeyDifferenceBetween(part, "", {process: key["words"].get(part.name, "") for process, key in keys.items()})
    if part is not KeyPart.OPTIONS or not all(key["options"] for key in keys.values()):
        return [whole]
    names = dict.fromkeys(name for key in keys.values() for name in key["options"])
    values = {name: {process: key["options"].get(name, "") for process, key in keys.items()} for name in names}
    differing = [KeyDifferenceBetween(part, name, each) for name, each in values.items() if len({*each.values()}) > 1]
    return differing or [whole]
