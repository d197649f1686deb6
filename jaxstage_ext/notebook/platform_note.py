"""What to know at load where JAX will look for accelerators that this machine does not have."""

from __future__ import annotations

import glob
import os
import sys
from importlib import util

_DEVICES = ("/dev/nvidia[0-9]*", "/dev/dxg", "/dev/kfd", "/dev/accel*", "/dev/vfio/[0-9]*")
"""Device files of NVIDIA GPUs, of GPUs under WSL, of AMD GPUs, and of TPUs."""
_LIBRARIES = {"libtpu": "libtpu", "xla_cuda13": "JAX's CUDA plugin", "xla_cuda12": "JAX's CUDA plugin"}


def platform_note() -> str:
    """One line where JAX's first operation would try libtpu or the CUDA plugin in vain, and report it; "" elsewhere."""
    if sys.platform != "linux" or os.environ.get("JAX_PLATFORMS"):
        return ""
    installed = list(dict.fromkeys(words for name, words in _LIBRARIES.items() if _is_installed(name)))
    if not installed or any(map(glob.glob, _DEVICES)) or _is_decided():
        return ""
    return (
        f"JAXStage: this machine shows no GPU or TPU, but has {' and '.join(installed)}, which JAX's first operation "
        "tries, with errors on stderr. Where JAX_PLATFORMS=cpu is set before JAX is imported it does not; targets such "
        "as -t v5e:2x2 compile all the same."
    )


def _is_decided() -> bool:
    """Whether JAX has its devices already, or was told which to take."""
    jax = sys.modules.get("jax")
    if jax is None:
        return False
    from jaxstage_ext.core.jax_private import jax_options

    return bool(getattr(jax.config, "jax_platforms", None)) or jax_options.backends_exist()


def _is_installed(name: str) -> bool:
    if name == "libtpu":
        return util.find_spec(name) is not None
    places = getattr(util.find_spec("jax_plugins"), "submodule_search_locations", None) or ()
    return any(os.path.isdir(os.path.join(place, name)) for place in places)
