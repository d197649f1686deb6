"""Whether an entry's file is the one that was written: by checksum, before JAX reads it. It is never loaded to tell."""

from __future__ import annotations

import enum
import hashlib
import os
import stat
import threading
from collections.abc import Collection

from jaxstage_ext.compilation.persistent.key_record import FileSeal
from jaxstage_ext.core.jax_private import persistent_cache

Version = tuple[int, int, int]
"""What changes when a file is written anew: its inode, size and time."""
_MOST_KEPT = 20_000
_MOST_BYTES = 2**30
"""A larger file is not read."""
_ZSTD, _ZSTD_CHECKSUM = b"\x28\xb5\x2f\xfd", 4


class EntryCheck(enum.Enum):
    """What is known of an entry's file."""

    VERIFIED = "verified"
    NOT_VERIFIED = "not verified"
    """It decompresses, and nobody recorded its checksum when it was written; or nothing here can decompress it."""
    DAMAGED = "damaged"
    """It does not decompress, or its bytes changed although nothing wrote it."""
    CHANGED = "changed"
    """It decompresses, and has the bytes of another entry, or the recorded size and other bytes: exchanged, damaged, or
    compiled anew without JAXStage."""

    @property
    def is_suspect(self) -> bool:
        """Whether loading it may crash the process or give wrong values."""
        return self in (EntryCheck.DAMAGED, EntryCheck.CHANGED)


def version(path: str) -> Version | None:
    """The version of a file; None where there is no such file."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return stat_version(status)


def stat_version(status: os.stat_result) -> Version:
    """The version of the file that this is the status of."""
    return status.st_ino, status.st_size, status.st_mtime_ns


def sealed(data: bytes, version: Version) -> FileSeal:
    """The seal of an entry that was written now. Raises one of `decompression_errors` where it is not whole."""
    return FileSeal(hashlib.sha256(data).hexdigest(), persistent_cache.digest(data).sha256, version)


class _Kept:
    """The result of each check, for the version of the file that it was made on."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._checks: dict[tuple[str, Version, str], EntryCheck] = {}

    def get(self, key: tuple[str, Version, str]) -> EntryCheck | None:
        with self._lock:
            return self._checks.get(key)

    def put(self, key: tuple[str, Version, str], check: EntryCheck) -> None:
        with self._lock:
            if len(self._checks) >= _MOST_KEPT:
                self._checks.clear()
            self._checks[key] = check


_kept = _Kept()


def known_check(path: str, seal: FileSeal | None) -> EntryCheck | None:
    """What this kernel found when it last read the file as it is now; None where it has not. Nothing is read."""
    now = version(path)
    if now is None:
        return None
    sha = seal.sha256 if seal else ""
    return _kept.get((path, now, f"{sha} True")) or _kept.get((path, now, f"{sha} False"))


def check(path: str, seal: FileSeal | None, others: Collection[str] = ()) -> EntryCheck | None:
    """What is known of an entry, hashed once for each version of its file; None where it cannot be read.

    `others` are the SHA-256 of the files of other entries, which one of this name never is.
    """
    now = version(path)
    if now is None:
        return None
    identity = (path, now, f"{seal.sha256 if seal else ''} {bool(others)}")
    known = _kept.get(identity)
    if known is None:
        data = _data(path)
        if data is None:
            return None
        known = _checked(data, now, seal, _module_name(path), others)
        if version(path) == now:  # another process may be writing it
            _kept.put(identity, known)
    return known


def packing(path: str) -> str | None:
    """What a file's first bytes say that it is compressed with; "" where they are of no entry, None of what cannot be
    read.
    """
    try:
        with open(path, "rb") as file:
            return persistent_cache.packing_of(file.read(4))
    except OSError:
        return None


def other_packing(path: str) -> str:
    """What an entry is compressed with where JAX in this kernel does not read that, whatever the key says; else ""."""
    given = packing(path) or ""
    return given if given != persistent_cache.packing() else ""


def _data(path: str) -> bytes | None:
    """The bytes of a file; None of what cannot be read, such as a pipe, a device, or a file of many gigabytes."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            status = os.fstat(file.fileno())
            is_readable = stat.S_ISREG(status.st_mode) and status.st_size <= _MOST_BYTES
            return file.read() if is_readable else None
    except OSError:
        return None


def _module_name(path: str) -> str:
    """The name of the program of an entry, which its key begins with and the executable holds."""
    return os.path.basename(path).removesuffix(persistent_cache.SUFFIX).rpartition("-")[0]


def _checked(data: bytes, now: Version, seal: FileSeal | None, name: str, others: Collection[str]) -> EntryCheck:
    file = hashlib.sha256(data).hexdigest()
    if seal is not None and file == seal.sha256:
        return EntryCheck.VERIFIED
    if not persistent_cache.can_unpack(data):
        return EntryCheck.NOT_VERIFIED
    try:
        executable = persistent_cache.digest(data, name)
    except Exception:  # whatever the decompressor raises for damaged bytes
        return EntryCheck.DAMAGED
    if not executable.size:
        return EntryCheck.DAMAGED
    if seal is None:
        return EntryCheck.NOT_VERIFIED
    if executable.sha256 == seal.executable:
        return EntryCheck.VERIFIED
    if file in others or not executable.is_named:
        return EntryCheck.CHANGED
    if now == seal.version:
        return EntryCheck.DAMAGED
    was_compiled_anew = _has_checksum(data) or now[1] != seal.version[1]  # a whole file of another size is no flip
    return EntryCheck.NOT_VERIFIED if was_compiled_anew else EntryCheck.CHANGED


def _has_checksum(data: bytes) -> bool:
    """Whether the compressed form has a checksum of its own, which has held where it decompresses: zlib always has."""
    return not data.startswith(_ZSTD) or bool(data[4] & _ZSTD_CHECKSUM)
