"""Where a value comes from that can be another one in each process."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class ValueOrigin(enum.Enum):
    """What in Python gives each process its own value. The order is that of evidence: the first found is named."""

    PROCESS = "process"
    """The index of the process."""
    CLOCK = "clock"
    RANDOM = "random"
    """A generator without a fixed seed."""
    SET_ORDER = "set order"
    """The order of a set or the hash of a text, which differ by PYTHONHASHSEED, or the order of a folder's files."""
    HOST = "host"
    """The host's name, the number of the process in the system, or an environment variable."""
    LOCAL_DATA = "local data"
    """What this process alone holds, such as its shards, or the devices of this host."""


@dataclass(frozen=True)
class Suspect:
    """A line that takes a value of such an origin, directly or by a variable.

    Attributes:
      line: where the value is made, from 1.   code: the text of that line.
      decides: whether the value decides if the line runs at all, as the test of an `if` around it.
      cell: the label of the cell where it is made; "" of the same file.
    """

    origin: ValueOrigin
    line: int
    code: str
    decides: bool = False
    cell: str = ""


_CALLS: dict[ValueOrigin, frozenset[str]] = {
    ValueOrigin.PROCESS: frozenset({"process_index", "process_id", "host_id", "get_rank", "Get_rank"}),
    ValueOrigin.CLOCK: frozenset(
        {"time.time", "time.time_ns", "time_ns", "perf_counter", "perf_counter_ns", "monotonic", "monotonic_ns"}
        | {"datetime.now", "datetime.utcnow", "datetime.today", "date.today", "time.localtime", "time.gmtime"}
    ),
    ValueOrigin.RANDOM: frozenset(
        {"os.urandom", "urandom", "uuid.uuid1", "uuid.uuid4", "uuid1", "uuid4", "random.random", "random.randint"}
        | {"random.choice", "random.shuffle", "random.sample", "random.uniform", "random.randrange", "random.gauss"}
        | {"random.rand", "random.randn", "random.normal", "random.permutation", "random.getrandbits"}
        | {"secrets.randbits", "secrets.randbelow", "secrets.token_bytes", "default_rng"}
    ),
    ValueOrigin.SET_ORDER: frozenset(
        {
            "set",
            "frozenset",
            "hash",
            "os.listdir",
            "listdir",
            "os.scandir",
            "scandir",
            "iterdir",
            "glob",
            "iglob",
            "rglob",
        }
    ),
    ValueOrigin.HOST: frozenset({"gethostname", "platform.node", "getpid", "os.getenv", "getenv", "environ.get"}),
    ValueOrigin.LOCAL_DATA: frozenset({"local_devices", "local_device_count", "addressable_data", "cpu_count"}),
}
_ATTRIBUTES = {
    "environ": ValueOrigin.HOST,
    "process_index": ValueOrigin.PROCESS,
    "addressable_shards": ValueOrigin.LOCAL_DATA,
    "addressable_devices": ValueOrigin.LOCAL_DATA,
}
_JAX_RANDOM = ("jax", "jr", "jrandom")


def origin_of_call(name: str) -> ValueOrigin | None:
    """The origin of what a call gives, by its dotted name, such as "time.time"; None of any other.

    JAX's own random numbers are the same in every process that has the same key.
    """
    parts = name.split(".")
    if parts[0] in _JAX_RANDOM:
        parts = [part for part in parts[1:] if part != "random"]
    ends = {".".join(parts[-count:]) for count in (1, 2)} if parts else set()
    return next((origin for origin, names in _CALLS.items() if names & ends), None)


def origin_of_attribute(name: str) -> ValueOrigin | None:
    """The origin of an attribute of this name."""
    return _ATTRIBUTES.get(name)
