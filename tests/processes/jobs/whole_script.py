"""A script whose second process raises an error that nothing catches. It knows nothing of the pre-flight."""

from __future__ import annotations

import os

import jax
from joined import PROCESS, finish, here, join, ones

if os.environ.get("JAXSTAGE_PREFLIGHT"):
    import jaxstage_ext  # noqa: F401

join(recoverable=False)
value = here(jax.jit(lambda x: x.sum())(ones()))
if PROCESS == 1:
    (lambda: [][1])()  # uncaught
try:
    jax.jit(lambda x: x.max())(ones())
except RuntimeError as error:
    finish({"value": value, "error": type(error).__name__, "text": str(error)}, others=0)
