"""What a search of layouts gives: each layout with its estimate, what a compile said of it, and how it was found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from jaxstage_ext.ir.partitioning.module_layout import AxisSpec
from jaxstage_ext.ir.partitioning.partitioned_module import CollectiveKind
from jaxstage_ext.search.kinds import LayoutKind
from jaxstage_ext.search.layout_candidate import LayoutCandidate

HIDDEN = 0.25
"""Of the collectives that other work can hide, the part that `LayoutEstimate.middle` takes for hidden."""


@dataclass(frozen=True)
class CollectiveShare:
    """All collectives of one kind over the same axes that one source line makes."""

    kind: CollectiveKind
    axes: tuple[str, ...]
    line: str
    """Source line, "" unknown."""
    count: int
    """How many run in a call, loops counted."""
    bytes: int
    """Payload on one device of all of them, as `interconnect` counts it."""
    seconds: float | None
    """Least time of all of them; None where the links are unknown."""
    is_gradient: bool = False
    """Whether differentiation made what it exchanges."""
    op: int = -1
    """The first operation of the module that one of them is for; -1 where an argument is a result, and as compiled."""
    argument: str = ""
    """As compiled, the argument that is exchanged as it is given; "" of any other value."""


@dataclass(frozen=True)
class LayoutEstimate:
    """What a layout takes by its shapes and Shardy's propagation, without a compile.

    Times are seconds of one call on each device, None where the device's peaks or links are unknown (`unknown`).
    """

    compute: float | None
    """Of operations that arithmetic bounds."""
    memory: float | None
    """Of operations that memory's bandwidth bounds, and of reading arguments and writing results once."""
    collectives: float | None
    """Of all collectives, one after the other."""
    argument_bytes: int
    """Exact: the bytes of all arguments on one device."""
    exchanged_bytes: int
    """Payload of all collectives on one device, loops counted."""
    cost: float
    """What layouts are ordered by: `middle`, or where that is unknown the same at a stand-in device's figures."""
    unknown: tuple[str, ...] = ()
    """Why times are unknown, or incomplete: one sentence each."""
    parts: tuple[CollectiveShare, ...] = ()
    """The collectives, the longest first."""

    @property
    def work(self) -> float | None:
        """Compute and memory together."""
        return None if self.compute is None or self.memory is None else self.compute + self.memory

    @property
    def least(self) -> float | None:
        """With every collective hidden as far as there is work to hide it."""
        return None if self.work is None or self.collectives is None else max(self.work, self.collectives)

    @property
    def most(self) -> float | None:
        """With no collective hidden."""
        return None if self.work is None or self.collectives is None else self.work + self.collectives

    @property
    def middle(self) -> float | None:
        """With a quarter of what can be hidden hidden: what layouts are ordered by."""
        return None if self.least is None or self.most is None else self.most - HIDDEN * (self.most - self.least)


class CompileEffort(Enum):
    """How hard the compiler tried."""

    LOW = "low"
    DEFAULT = "default"


class CompiledState(Enum):
    """What a compile said of a layout."""

    COMPILED = "compiled"
    DOES_NOT_FIT = "does not fit"
    FAILED = "failed"


class ExchangeMatch(Enum):
    """Whether the collectives of a compiled layout are those of its estimate."""

    AS_ESTIMATED = "as estimated"
    OTHERWISE = "XLA decides otherwise"


@dataclass(frozen=True)
class ExchangeDifference:
    """How the collectives of a compiled layout differ most from the estimate's. Of kinds, payload on one device."""

    more: CollectiveShare | None
    """All compiled collectives of the kind of which there is most that was not estimated, at the line of most of them;
    None where nothing is exchanged beyond the estimate."""
    more_estimated: int
    """Bytes of that kind by the estimate."""
    fewer: CollectiveShare | None
    """All estimated collectives of the kind of which most is missing as compiled."""
    fewer_compiled: int
    """Bytes of that kind as compiled."""


@dataclass(frozen=True)
class CompiledFigures:
    """What a real compile for the target gave. Never mixed with the estimate's."""

    state: CompiledState
    effort: CompileEffort
    least: float | None = None
    """The product's lower bound of the compiled module's time, in seconds; None where unknown."""
    compute: float | None = None
    memory: float | None = None
    exposed: float | None = None
    """`compute`, `memory`, `exposed`: of `least`, what each ceiling gives, in seconds."""
    needed: int | None = None
    """Bytes that XLA allocates on one device."""
    room: int | None = None
    """Bytes that one device has."""
    fits: bool | None = None
    reason: str = ""
    """Why it failed, or why a figure is unknown; one line."""
    seconds: float | None = None
    """How long the compile took."""
    parts: tuple[CollectiveShare, ...] | None = None
    """The collectives, those of most bytes first; None where a loop's trips are unknown, and of what did not compile.
    """
    match: ExchangeMatch | None = None
    """Whether `parts` are what was estimated; None where that is unknown."""
    difference: ExchangeDifference | None = None
    """Where they are not."""


class DecisionKind(Enum):
    """What is undone to see what it is worth."""

    SPLIT = "split dimensions over an axis"
    STORE = "store parameters over an axis"


@dataclass(frozen=True)
class Decision:
    """One choice of a layout, and what the same layout without it would take more."""

    kind: DecisionKind
    axis: str
    size: int
    dimensions: tuple[str, ...]
    """Those split; where parameters are stored, those that are split by it because the axis splits no data."""
    seconds: float | None
    """Time that it saves, below 0 where it costs; None where times are unknown. See `effort`."""
    bytes: int
    """Argument bytes that it saves per device, below 0 where it costs."""
    of: CollectiveKind | None = None
    """The collective that most of the saved (or added) time goes to; None where it is work."""
    is_gradient: bool = False
    effort: CompileEffort | None = None
    """Of the two compiles, with it and without it, whose least times `seconds` is of; None of two estimates' middles.
    """
    without: CompiledState | None = None
    """What a compile said of the same layout without it; None where none was made."""
    undone: LayoutCandidate | None = field(default=None, repr=False)
    """The same layout without it."""


@dataclass(frozen=True)
class SpecGroup:
    """Leaves of the arguments whose paths differ in numbers alone and that have one spec."""

    pattern: str
    """`params/layers/*/w_up`."""
    argument: str
    shape: tuple[int, ...]
    spec: AxisSpec
    leaves: int
    bytes: int
    """Per device, of all of its leaves."""
    is_parameter: bool


@dataclass(frozen=True)
class ScoredLayout:
    """A layout that the search tried."""

    number: int
    """Its place by the estimate, from 0, the fastest first; the user's own layout has one too."""
    candidate: LayoutCandidate | None
    """None of the user's own layout, where no candidate is equal to it."""
    mesh: Mapping[str, int]
    kind: LayoutKind
    specs: tuple[AxisSpec | None, ...]
    """Per leaf of the arguments; None only in the user's own layout, where it leaves one to the compiler."""
    results: tuple[AxisSpec | None, ...]
    """Per leaf of the result; None: left to the compiler."""
    estimate: LayoutEstimate
    compiled: CompiledFigures | None = None
    """None where it was not compiled."""
    is_own: bool = False
    on_front: bool = False
    """Whether no other layout is estimated both faster and smaller."""

    @property
    def compiled_seconds(self) -> float | None:
        """The least time of its compile at the default effort; None without one, and where that is unknown."""
        figures = self.compiled
        return figures.least if figures is not None and figures.effort is CompileEffort.DEFAULT else None


class SearchEnd(Enum):
    """Why a search ended."""

    WHOLE = "every candidate was tried"
    BUDGET = "the budget was spent"
    CANCELLED = "it was cancelled"
    PRUNED = "the best of each axis were combined"


@dataclass(frozen=True)
class LayoutsFound:
    """The result of a search, without the program: what is saved, drawn and compared."""

    layouts: tuple[ScoredLayout, ...]
    """The fastest by the estimate first; `layouts[i].number == i`."""
    devices: int
    tried: int
    """Distinct layouts that were scored, those out of the inspection cache among them."""
    total: int
    """Distinct candidates of the space; where it was pruned an upper bound."""
    lost: int
    """Candidates that the partitioner died of or refused."""
    end: SearchEnd
    seconds: float
    notes: tuple[str, ...] = ()
    """What is to be known: what was taken for parameters, what could not be searched."""
    lost_reasons: Mapping[str, int] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        """Whether every layout of the space was compared."""
        return self.end is SearchEnd.WHOLE

    @property
    def own(self) -> ScoredLayout | None:
        """The user's own layout; None where the call has none."""
        return next((layout for layout in self.layouts if layout.is_own), None)
