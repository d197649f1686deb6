"""Functions of which JAX runs an earlier version."""

from jaxstage_ext.core.staleness.traced_versions import ITSELF, ChangedName, OldVersion
from jaxstage_ext.program.source.version_wording import note, title, titles

FILE = "model.py"


def of(*changed: ChangedName, is_of_trace: bool = True) -> OldVersion:
    return OldVersion("f", FILE, changed, is_of_trace)


K, TABLE, LONG = ChangedName("k", "2.0"), ChangedName("table", "", in_place=True), ChangedName("a" * 90, "1")
MANY = tuple(ChangedName(name, "1") for name in "abcde")
VERSIONS = {
    "one value": of(K),
    "one value, inspected first": of(K, is_of_trace=False),
    "two values": of(K, ChangedName("n", "3")),
    "five values": of(*MANY),
    "contents": of(TABLE),
    "a value without a text": of(ChangedName("g", "")),
    "its own code": of(ChangedName(ITSELF, "")),
    "a long name": of(LONG),
    "something": of(),
}
SAID = {
    **{f"note, {name}": note(version) for name, version in VERSIONS.items()},
    **{f"title, {name}": title(version) for name, version in VERSIONS.items()},
    "above the file": titles([of(K), of(TABLE), of(K)])[FILE],
}
