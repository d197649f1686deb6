"""What an engine does to become a process of a job of JAX's."""

from __future__ import annotations

import os
import socket
from dataclasses import asdict, dataclass
from typing import Any

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class JobTimeouts:
    """Seconds after which JAX gives a process up. Its defaults are those of clusters: minutes.

    Attributes:
      start: until all processes have come.   heartbeat: without a sign of life.   shutdown: until all have left.
    """

    start: int = 60
    heartbeat: int = 10
    shutdown: int = 5


def facts() -> dict[str, Any]:
    """What is known of this process before JAX has looked for devices; plain data."""
    import jax

    from jaxstage_ext.core.jax_private import jax_options

    return {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "has_joined": jax.distributed.is_initialized(),
        "has_backends": jax_options.backends_exist(),
        "jax": jax.__version__,
        "jaxlib": jax_options.jaxlib_version(),
        "xla_flags": os.environ.get("XLA_FLAGS", ""),
    }


def joined_facts() -> dict[str, Any]:
    """`facts`, with the index of the process and its devices. All processes of the job ask this at once."""
    import jax

    return facts() | {
        "process": jax.process_index(),
        "processes": jax.process_count(),
        "devices": jax.local_device_count(),
        "platform": jax.default_backend(),
    }


def free_address(is_alone: bool) -> str:
    """An address of this host with a port that nobody listens on: of loopback where no other host takes part."""
    host = LOOPBACK if is_alone else socket.gethostbyname(socket.gethostname())
    with socket.socket() as one:
        one.bind((host, 0))
        return f"{host}:{one.getsockname()[1]}"


def check_free(address: str) -> None:
    """Raise OSError where somebody listens at an address: JAX's coordinator would die of it, by SIGSEGV."""
    host, _, port = address.rpartition(":")
    with socket.socket() as one:
        one.bind((host, int(port)))


def join(engines: dict[str, int], address: str, devices: int, timeouts: dict[str, int]) -> dict[str, Any]:
    """Take part in the job whose coordinator listens at an address. Blocks until all processes have come.

    Args:
      engines: the index of each process, by "host/pid".
      address: "host:port", where process 0 listens.
      devices: how many CPU devices each process has; 0 leaves it to JAX.
      timeouts: the fields of JobTimeouts.
    """
    import jax

    from jaxstage_ext.core.jax_private import gloo_address

    if engines[own_name()] == 0:
        check_free(address)
    config: Any = jax.config
    if devices:
        config.update("jax_num_cpu_devices", devices)
    config.update("jax_enable_recoverability", True)
    if address.startswith(LOOPBACK):
        gloo_address.listen_at(LOOPBACK)
    limits = JobTimeouts(**timeouts)
    jax.distributed.initialize(
        coordinator_address=address,
        coordinator_bind_address=address,
        num_processes=len(engines),
        process_id=engines[own_name()],
        cluster_detection_method="deactivate",
        initialization_timeout=limits.start,
        heartbeat_timeout_seconds=limits.heartbeat,
        shutdown_timeout_seconds=limits.shutdown,
    )
    return joined_facts()


def own_name() -> str:
    """How this process is named in `join`."""
    return f"{socket.gethostname()}/{os.getpid()}"


def as_data(timeouts: JobTimeouts) -> dict[str, int]:
    """The timeouts as `join` takes them."""
    return asdict(timeouts)
