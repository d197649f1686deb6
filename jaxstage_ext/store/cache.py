"""The inspection cache: what compilers gave earlier, so that they need not be asked a second time.

    data = cache.get(key := cache.key("passes", module, options))
    cache.put(key, data)

In memory always, the entries used longest ago going first; in a folder as well where the environment names one in
JAXSTAGE_CACHE_DIR, `%config JAXStage.cache_dir = "..."` sets one, or `use_folder` does. An entry is bytes, to be read
as data: nothing executable and no pickle is ever loaded. Whatever is wrong with an entry or the folder is a miss, and
a folder that others may write to is not used at all.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
from collections.abc import Callable, Mapping
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from jaxstage_ext.store import claims, entry
from jaxstage_ext.store.claims import PATIENCE, Waiting
from jaxstage_ext.store.lru import Lru
from jaxstage_ext.store.maker import Maker
from jaxstage_ext.store.trusted_folder import FolderRefused

if TYPE_CHECKING:
    from jaxstage_ext.store.disk import Disk

Value = TypeVar("Value")

FOLDER = "JAXSTAGE_CACHE_DIR"
MEMORY, DISK = 256_000_000, 1_000_000_000
"""Bytes that are kept in memory and in the folder, unless said otherwise."""
_FORMAT = "3"
"""What earlier versions of this package stored is not believed: some of them kept cut dumps and other programs'."""
_tables: list[Lru[Any]] = []


def _disk(folder: str | os.PathLike[str], limit: int, makes: bool = True) -> Disk:
    from jaxstage_ext.store.disk import Disk

    return Disk(Path(os.path.expanduser(folder)), limit, makes)


class _State:
    def __init__(self) -> None:
        folder = os.environ.get(FOLDER)
        self.memory: Lru[bytes] = Lru(MEMORY)
        self.disk = _disk(folder, DISK) if folder else None
        self.enabled = True
        self.trouble: str | None = None
        self.reported = False


_state = _State()


def use_folder(folder: str | os.PathLike[str] | None, limit: int = DISK, makes: bool = True) -> None:
    """Keep entries in a folder too, at most `limit` bytes of them; None: in memory alone.

    With `makes` the folder is made where it is missing.
    """
    _state.disk = _disk(folder, limit, makes) if folder else None
    _state.trouble, _state.reported = None, False


def enable(on: bool) -> None:
    """With False nothing is looked up and nothing is kept, so that the compiler is asked every time."""
    _state.enabled = on


def enabled() -> bool:
    """Whether anything is kept."""
    return _state.enabled


def has_folder() -> bool:
    """Whether entries are kept for later kernels."""
    return _state.enabled and _state.disk is not None


def folder() -> tuple[Path, int] | None:
    """Where entries are kept for later kernels, and how many bytes of them; None where they are not."""
    return (_state.disk.folder, _state.disk.limit) if _state.disk is not None else None


def table(limit: int, most: int = 1 << 20) -> Lru[Any]:
    """A bounded table of objects that `clear` empties too; the caller heeds `enabled`."""
    _tables.append(made := Lru[Any](limit, most))
    return made


def clear() -> None:
    """Forget what is in memory; the folder stays as it is."""
    for made in (_state.memory, *_tables):
        made.clear()


def key(*parts: bytes | str) -> str:
    """The name of what these parts determine, together with the versions of JAX, jaxlib and JAXStage.

    A plugin's version, XLA_FLAGS and what else decides the result are the caller's to give.
    """
    digest = hashlib.sha256()
    for part in (_FORMAT, *_versions(), *parts):
        raw = part.encode() if isinstance(part, str) else part
        digest.update(b"%c%d:" % (b"s" if isinstance(part, str) else b"b", len(raw)))
        digest.update(raw)
    return digest.hexdigest()


@functools.cache
def _versions() -> tuple[str, ...]:
    return tuple(_version(name) for name in ("jax", "jaxlib", "jaxstage-ext"))


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


def get(key: str) -> bytes | None:
    """The bytes that were put under a key; None where there are none, or no longer."""
    if not _state.enabled:
        return None
    data = _state.memory.get(key)
    if data is None and _state.disk is not None:
        try:
            data = _state.disk.get(key)
        except (OSError, ValueError) as error:
            _note(_state.disk, "read", error)
        if data is not None:
            _state.memory.put(key, data, len(data))
    return data


def put(key: str, data: bytes) -> None:
    """Keep these bytes as long as there is room. Never raises for what is wrong with the folder."""
    if not _state.enabled:
        return
    _state.memory.put(key, data, len(data))
    if _state.disk is not None:
        try:
            _state.disk.put(key, data)
        except (OSError, ValueError) as error:
            _note(_state.disk, "written", error)


def load(key: str, read: Callable[[dict[str, Any], list[bytes]], Value]) -> Value | None:
    """What `read` makes of the head and the parts that `store` put there; None as `get`, and where `read` raises.

    `read` raises, whatever it raises, unless they are whole and what its own caller stores: such an entry is removed.
    """
    data = get(key)
    if data is None:
        return None
    try:
        return read(*entry.unpack(key, data))
    except Exception:  # a wrong entry may raise anything, and is a miss
        remove(key)
        return None


def once(
    key: str | None,
    find: Callable[[], Value | None],
    make: Callable[[], Value],
    waiting: Waiting | None = None,
    patience: float = PATIENCE,
) -> tuple[Value, bool]:
    """What `find` finds, else what `make` makes; and whether it was found.

    Of the threads and processes that want an entry at once, one makes it and the others wait: see `claims.claimed`.

    Args:
      key: of the entry that `make` stores and `find` looks for; None where none is kept, and each makes its own.
      find: gives None where there is none.
      make: what it raises is raised.
      waiting: of `claims.claimed`.
      patience: of `claims.claimed`, seconds.
    """
    if key is None or not _state.enabled:
        return (found, True) if (found := find()) is not None else (make(), False)
    return claims.once(key, _claims_folder, find, make, waiting, patience)


def _claims_folder() -> Path | None:
    disk = _state.disk
    if disk is None:
        return None
    with contextlib.suppress(OSError, ValueError):
        disk.prepare()
    return disk.folder


def maker(key: str) -> Maker | None:
    """Which process stored an entry that is in memory; None where there is none, or it does not say."""
    data = _state.memory.get(key) if _state.enabled else None
    try:
        return entry.maker_of(key, data) if data is not None else None
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None


def store(key: str, head: Mapping[str, Any], *parts: bytes) -> None:
    """Keep plain JSON and raw bytes."""
    put(key, entry.pack(key, head, parts))


def remove(key: str) -> None:
    """Forget an entry, in the folder too."""
    _state.memory.remove(key)
    if _state.disk is not None:
        with contextlib.suppress(OSError, ValueError):
            _state.disk.remove(key)


def trouble() -> str | None:
    """What is wrong with the folder, in one sentence, the first time this is called; None after that."""
    if _state.trouble is None or _state.reported:
        return None
    _state.reported = True
    return _state.trouble


def _note(disk: Disk, done: str, error: OSError | ValueError) -> None:
    why = getattr(error, "strerror", None) or str(error)
    what = "is not used" if isinstance(error, FolderRefused) else f"cannot be {done}"
    _state.trouble = _state.trouble or (
        f"The inspection cache's folder {disk.folder} {what} ({why}); what it would hold is recomputed."
    )
