"""The address at which gloo, JAX's CPU collectives between processes, listens: that of the host's name unless given."""

from __future__ import annotations

import functools
from typing import Any

from jax._src import xla_bridge as _bridge

_bridge_any: Any = _bridge


def listen_at(address: str) -> None:
    """Have gloo listen at an address of this host alone. To be called before JAX looks for devices.

    `make_gloo_tcp_collectives` takes it as `hostname`, and JAX has no setting for it.
    """
    library = _bridge_any._jax
    made = library.make_gloo_tcp_collectives
    library.make_gloo_tcp_collectives = functools.partial(getattr(made, "func", made), hostname=address)
