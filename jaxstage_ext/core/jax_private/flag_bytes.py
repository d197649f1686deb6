"""The XLA flags in a persistent cache key, as JAX reads them."""

from __future__ import annotations

import os
import sys
from typing import Any

from jax._src import cache_key as _cache_key

_key_any: Any = _cache_key


class _Tee:
    """What JAX's functions take for a digest; it keeps what they feed it."""

    def __init__(self) -> None:
        self.fed: list[bytes] = []

    def update(self, data: bytes) -> None:
        self.fed.append(bytes(data))


def fed(feed: Any, *args: Any, **kwargs: Any) -> tuple[bytes, ...]:
    """What one of JAX's functions feeds to its digest, piece by piece."""
    tee = _Tee()
    feed(tee, *args, **kwargs)
    return tuple(tee.fed)


def flag_bytes() -> tuple[bytes, ...]:
    """The XLA flags in a key that is made now: of XLA_FLAGS, LIBTPU_INIT_ARGS and the command line, sorted."""
    global _last_flags
    prefixes = _key_any.get_flag_prefixes()
    sources = (os.environ.get("XLA_FLAGS"), os.environ.get("LIBTPU_INIT_ARGS"), (*sys.argv,), (*prefixes,))
    last, flags = _last_flags
    if sources != last:
        flags = fed(_key_any._hash_xla_flags, prefixes)
        _last_flags = sources, flags
    return flags


_last_flags: tuple[Any, tuple[bytes, ...]] = (None, ())
"""What the flags were read from, and they themselves: each compile asks for them."""
