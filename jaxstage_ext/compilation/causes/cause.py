"""Why JAX did a record's work, as data; the sentences are made in `cause_wording`."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Cause(enum.Enum):
    """What made JAX trace, lower or compile."""

    __hash__ = object.__hash__  # that of an Enum is Python code, which each comparison would run

    FIRST = "first"
    SHAPE = "shape"
    DTYPE = "dtype"
    WEAK_TYPE = "weak type"
    PYTREE = "pytree"
    ARGUMENT_FORM = "argument form"
    """The same values, by keyword or by position, or a default that was given explicitly."""
    PLACEMENT = "placement"
    SHARDING_TYPE = "sharding in the type"
    STATIC_VALUE = "static value"
    STATIC_IDENTITY = "static compared by identity"
    JIT_OPTIONS = "jit options"
    CONFIG = "config"
    SETTINGS_ADDED = "settings added by an import"
    """A module that was imported, such as Pallas, added to the settings that JAX's caches are keyed by."""
    CELL_RUN_AGAIN = "cell run again"
    REDEFINED = "redefined"
    MADE_ANEW = "made anew"
    PARTIAL_MADE_ANEW = "partial made anew"
    METHOD_MADE_ANEW = "method made anew"
    CAPTURED = "captured value"
    CACHE_CLEARED = "cache cleared"
    FAILED_BEFORE = "failed before"
    AHEAD_OF_TIME = "ahead of time"
    TRANSFORMED = "transformed"
    EAGER = "eager operation"
    OTHER_DEVICE = "other device"
    CONCURRENT = "compiled in another thread at the same time"
    UNHASHABLE_STATIC = "unhashable static argument"
    """The call failed before JAX traced: a static argument has no hash."""
    DONATED_BEFORE = "donated array used again"
    """The call failed before JAX traced: an argument had been donated to an earlier call."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Difference:
    """One part in which two records differ."""

    cause: Cause
    what: str = ""
    """The argument's path "params['w']", the option's or config's name, or the variable; "" for the whole."""
    before: str = ""
    now: str = ""
    """`before`, `now`: as Python or JAX writes them; "" where there was nothing."""
    target: str = ""
    """A Python expression for what every call should have, "jnp.float32"; "" where none is known."""
    is_of_other_rank: bool = False
    """Of a shape, whether the numbers of dimensions differ."""
    is_inside_function: bool = False
    """Of a captured value, whether a captured function holds it."""
    has_bucket_sizes: bool = False
    """Of a shape, whether the sizes that differ are powers of two in both calls."""
    is_callable_object: bool = False
    """Of a method made anew, whether an object is called itself; `what` is its class."""
    is_of_new_class: bool = False
    """Of a static value, whether its class was defined again under the same name."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why a record's work was done."""

    cause: Cause
    """The main one."""
    differences: tuple[Difference, ...] = ()
    """All parts that differ from the nearest earlier record."""
    nearest: int | None = None
    """That record's number; None where there is none."""
    can_be_mended: bool = False
    """Whether the user's code can avoid it."""
    is_wasted: bool = False
    """Whether the same program had been compiled before, so that the time bought nothing."""
    reason: str = ""
    """Why the cause is unknown; "" where it is known."""
    more: int = 0
    """How many further differences there are."""
    same_program: int | None = None
    """The number of the first record of that program; None where there is none, or it is not known."""
    is_after_ahead: bool = False
    """Whether the nearest record is that of a program that was traced or compiled ahead of time."""

    @property
    def cause_and_part(self) -> tuple[Cause, str]:
        """What recompiles for one reason have in common: the cause, and the argument or option that it is about."""
        return self.cause, self.differences[0].what if self.differences else ""


@dataclass(frozen=True, slots=True)
class Advice:
    """What to do: one sentence, and the code to write, which may be empty."""

    sentence: str
    code: str = ""
