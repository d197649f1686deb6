"""One line of the compile log: what JAX traced, lowered or compiled because of one call, as its events told it.

A record is made at the miss and keeps raw objects, none of them an array: types, trees, shardings, code objects, weak
references. Texts are made when somebody looks.
"""

from __future__ import annotations

import enum
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import CodeType, FunctionType
from typing import Any

from jaxstage_ext.compilation.causes.cause import Difference


class StageName(enum.Enum):
    """JAX's stages."""

    __hash__ = object.__hash__  # that of an Enum is Python code, which each event would run

    TRACE = "trace"
    LOWER = "lower"
    COMPILE = "compile"


class Entry(enum.Enum):
    """How the user's code came to JAX."""

    __hash__ = object.__hash__

    CALL = "call"
    """A call of a jitted function."""
    AOT = "ahead of time"
    """`.trace`, `.lower`, `.compile` or `.eval_shape`."""
    INNER = "under a transformation"
    """A jitted function under an outside `jax.grad` or `jax.vmap`; the backward pass has no call of the user's."""
    EAGER = "eager operation"
    """A primitive that ran outside any jitted function, such as `jnp.ones(3)`."""


class Asker(enum.Enum):
    """Whose work it was."""

    USER = "user"
    JAXSTAGE = "JAXStage"


class CacheOutcome(enum.Enum):
    """What JAX's persistent compilation cache did for one compile."""

    __hash__ = object.__hash__

    HIT = "hit"
    WRITTEN = "written"
    FASTER_THAN_LIMIT = "faster than jax_persistent_cache_min_compile_time_secs"
    SMALLER_THAN_LIMIT = "smaller than jax_persistent_cache_min_entry_size_bytes"
    NOT_FIRST_PROCESS = "only process 0 writes"
    NOT_SERIALISABLE = "not serialisable"
    WRITE_FAILED = "write failed"
    LARGER_THAN_LIMIT = "larger than jax_compilation_cache_max_size"
    UNREADABLE = "entry unreadable"
    OFF = "not in use"
    UNKNOWN = "unknown"


@dataclass(slots=True)
class StageRun:
    """One stage of a record."""

    stage: StageName
    began: float
    """`time.time()` at its start."""
    seconds: float | None = None
    """How long it took, by JAX's event less what the log itself took; None while it runs, and where its end was not
    heard."""
    own_seconds: float | None = None
    """The same without the stages of other records inside it."""
    was_cached: bool | None = None
    """Whether JAX only looked it up, which a trace alone reports; None where that is not known."""
    failed: str | None = None
    """The exception's type name where it failed."""


@dataclass(slots=True, frozen=True)
class Place:
    """A line of Python. `cell` is the execution count of the notebook cell that the file is; None for other files."""

    file: str
    line: int
    function: str
    cell: int | None = None


@dataclass(slots=True, frozen=True)
class KeptValue:
    """A Python value that a compile depends on: a static argument, a captured value, a default."""

    name: str
    """Of the parameter or variable; "" where there is none."""
    type: str
    """Its type's qualified name."""
    value: Any = None
    """The value itself where it is a number, text, bool, None, enum, dtype, or a short tuple of such; else None."""
    is_kept: bool = False
    """Whether `value` is it."""
    hash: int | None = None
    """None where it has none; `hash_is_identity` where its type has no `__eq__` of its own."""
    hash_is_identity: bool = False
    ref: Callable[[], Any] | None = None
    """A weak reference to it, or None where it takes none. `identity` is its id, valid only while `ref` lives."""
    identity: int = 0
    shape: str = ""
    """Of an array, "f32[8,4]"; else ""."""
    code: CodeType | None = None
    """Of a Python function."""
    parts: tuple[KeptValue, ...] = ()
    """Of a container, a dataclass or a plain object, the first few values that it holds, by name or index."""
    inside: tuple[tuple[str, Any], ...] = ()
    """Of a Python function, the numbers and texts that it captures, through other functions too, by name."""
    kind: Callable[[], Any] | None = None
    """A weak reference to its class; None of a value that is kept."""


@dataclass(slots=True, frozen=True)
class NamedGlobal:
    """A global variable that a function names, as it was when the function was traced."""

    name: str
    value: KeptValue
    owner: weakref.ref[FunctionType]
    """A function with the globals that it is in, which are not kept alive."""
    reader: CodeType
    """The code that has its name, as a variable or as an attribute."""

    @property
    def space(self) -> Mapping[str, Any]:
        """The globals that it is in; empty where their function is gone."""
        function = self.owner()
        return {} if function is None else function.__globals__


@dataclass(slots=True, frozen=True)
class FunctionIdentity:
    """What JAX tells functions apart by, and what a reader does."""

    module: str
    qualname: str
    """`module`, `qualname`: its name. Lambdas are told apart by `code` alone."""
    code: CodeType | None
    """Of the innermost Python function; None of other callables."""
    ref: Callable[[], Any] | None
    """A weak reference to the very object that was given to `jax.jit`."""
    identity: int
    layers: tuple[str, ...] = ()
    """What is around the innermost function, outermost first: "partial", "method", "jax.grad", "wraps", ..."""
    bound: tuple[KeptValue, ...] = ()
    """Of a partial its arguments, of a method its object."""
    captured: tuple[KeptValue, ...] = ()
    """Closure cells, by name."""
    defaults: tuple[KeptValue, ...] = ()
    """Of parameters, by name."""
    parameters: tuple[str, ...] = ()
    """The names of the innermost function's parameters, in order."""
    options: tuple[tuple[KeptValue, ...], ...] = ()
    """Of each layer the plain options of a transformation, `in_axes` of "jax.vmap"; of other layers none."""

    @property
    def layers_with_options(self) -> list[tuple[str, tuple[KeptValue, ...]]]:
        """Each layer with the options that it was given."""
        return list(zip(self.layers, (*self.options, *((),) * (len(self.layers) - len(self.options))), strict=True))


@dataclass(slots=True, frozen=True)
class CallSignature:
    """What a jitted function was called with, as far as JAX's caches look at it."""

    tree: Any
    """The PyTreeDef of (args, kwargs) without the static ones; None of a backward pass, and of one whose nodes held the
    user's objects when JAX's caches were cleared."""
    avals: tuple[Any, ...]
    """One abstract value a leaf: shape, dtype, weak_type, sharding."""
    placements: tuple[Any, ...] = ()
    """One a leaf: the Sharding of a committed `jax.Array`, None of anything else."""
    kinds: tuple[str, ...] = ()
    """One a leaf: the type's name, "ArrayImpl", "ndarray", "float", ..."""
    statics: tuple[KeptValue, ...] = ()
    """The static arguments."""
    keywords: tuple[str, ...] = ()
    """The names of those that were given by keyword, in the order of the call."""


@dataclass(slots=True)
class Artefacts:
    """What the stages made, as long as it is kept; None of it once it is dropped."""

    jaxpr: Any = None
    """The ClosedJaxpr, without what it captured."""
    module: Any = None
    """The StableHLO as an MLIR module."""
    executable: Any = None
    """XLA's LoadedExecutable; of a program with Python callbacks what was read from it."""
    options: Any = None
    """The CompileOptions."""
    given: Any = None
    """What of them XLA was given."""
    devices: tuple[Any, ...] = ()
    """Those it was compiled for."""
    constants: int = 0
    """Bytes of arrays in the program."""
    made_jaxpr: Any = None
    made_module: Any = None
    """`made_jaxpr`, `made_module`: weak references to those that JAX made and hands on."""


@dataclass(slots=True)
class PersistentFacts:
    """What the persistent cache did for one compile."""

    outcome: CacheOutcome
    key: str = ""
    """The cache key, which is the name of the entry without its suffix; "" where none was made."""
    folder: str = ""
    """That of the entry; "" where no folder is in use."""
    read_seconds: float | None = None
    """For reading and loading an entry."""
    saved_seconds: float | None = None
    """`compile_seconds` less `read_seconds`; None where that is not known."""
    module_name: str = ""
    """With which the key begins."""
    compile_seconds: float | None = None
    """Of a hit, what the first compile took; None where neither we nor JAX, in whole seconds, kept it."""
    flags: tuple[bytes, ...] = ()
    """XLA's flags in the key, as they were then."""
    has_other_flags: bool = False
    """Whether XLA's flags had changed after JAX read them, so that the key is another program's."""
    entry_bytes: int | None = None
    """The size of the entry; None where there is none."""
    check: str = ""
    """Of an entry that was there before: "verified", "not verified", "damaged" or "changed"."""
    reason: str = ""
    """Why the outcome is UNKNOWN, or OFF although a folder was set, or what failed; "" elsewhere."""
    limit: float | None = None
    """The limit that kept it from being written, in s or bytes; None where that is not why."""


@dataclass(slots=True)
class CompileRecord:
    """What JAX did for one call that its fast path did not serve."""

    number: int
    """Counts from 1 in this kernel; never used for another record."""
    name: str
    """The function's as JAX reports it, without "jit(...)"."""
    began: float
    thread: int
    entry: Entry
    asker: Asker
    stages: list[StageRun] = field(default_factory=list)
    function: FunctionIdentity | None = None
    """None where no frame tells, as of a backward pass."""
    signature: CallSignature | None = None
    """None likewise."""
    jit_options: Any = None
    """PjitInfo of the jitted function, or None."""
    compiler_options: tuple[tuple[str, Any], ...] = ()
    """Those of this compile, by name."""
    context: tuple[Any, ...] = ()
    """`config.trace_context()`; its names are `compile_context.names()`."""
    call_site: Place | None = None
    """The innermost line outside JAX and its like."""
    user_line: Place | None = None
    """The innermost line in a notebook cell, or in the user's own files where no cell is on the stack."""
    cell: int | None = None
    run: str | None = None
    """`cell`, `run`: the execution count and the id of the cell that ran; None between cells."""
    parent: int | None = None
    """The number of the record during whose stage this one ran; None of an outermost one."""
    clears: int = 0
    """How often JAX's caches had been seen cleared before it."""
    failed: str | None = None
    """Type and first line of the exception of the stage that failed."""
    is_stopped: bool = False
    """Whether the guard stopped it before its compile, because processes disagree: it has never run."""
    named: tuple[NamedGlobal, ...] = ()
    """The global variables that the function names, and those of the user's functions that it names."""
    effects: tuple[str, ...] | None = None
    """The operations with effects, which keep every call off the fast path; None where no trace was seen."""
    refused: Difference | None = None
    """Why JAX refused the call before its first stage; None of a call that it traced."""
    persistent: PersistentFacts | None = None
    processes: tuple[int, ...] = ()
    """The indices of the processes whose devices it was compiled for; () before its compile has ended."""
    artefacts: Artefacts = field(default_factory=Artefacts)
    bytes: int = 0
    """An estimate of what the record keeps alive."""

    @property
    def own_seconds(self) -> float:
        """Seconds of all its stages, without those of other records inside them."""
        total = 0.0
        for run in self.stages:
            total += run.own_seconds or 0.0
        return total

    def stage(self, name: StageName) -> StageRun | None:
        """The stage of that name; None where JAX did not report it."""
        for run in self.stages:
            if run.stage is name:
                return run
        return None
