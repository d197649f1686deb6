"""What every test needs: JAX on the CPU, a terminal of one width, and nothing of this user's own settings."""

from __future__ import annotations

import os
import tempfile

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("JAX_NUM_CPU_DEVICES", "4")
os.environ["IPYTHONDIR"] = tempfile.mkdtemp(prefix="jaxstage-ipython-")
os.environ["COLUMNS"] = "100"
os.environ.pop("JAX_COMPILATION_CACHE_DIR", None)
