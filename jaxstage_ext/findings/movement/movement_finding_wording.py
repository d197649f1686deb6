"""What is said of findings about data that is moved: copies, layouts, the host, and between devices."""

from __future__ import annotations

from collections.abc import Sequence

from jaxstage_ext.analysis.collectives import collective_wording
from jaxstage_ext.analysis.collectives.collective_rows import CollectiveRow
from jaxstage_ext.report.text.shortened import some
from jaxstage_ext.report.text.units import duration, plural, scaled, share

_MOST_NAMED = 3
MADE_SO = "What makes the argument has to shard it so, or it is resharded there."
READ_SO = "What reads the result may need it sharded as it is now."
TRIED_WITHOUT = "The trial compiles the program without the call."
HELD_MEANWHILE = "The array then takes the device's memory as long as the loop runs."
FETCH_ONCE = "x = jax.device_put(x, jax.memory.Space.Device)  # before the loop, not in its body"
FETCH_IN_TURN = "w = jax.device_put(w, jax.memory.Space.Device)  # in the loop's body, of the part that it reads"
WAITS_FOR_PARTS = "Each iteration waits for its part, unless XLA starts that copy in the one before."
OTHER_ORDER = "What reads the result has to take its dimensions in that order."
BEYOND_BOUND = "The lower bound knows the bytes of each collective and not what starting one takes."


def rematerialised(before: str, after: str, shard: str, values: int) -> str:
    """A value that is gathered whole to be resharded."""
    what = (
        f"a value of {shard} per device" if values == 1 else f"{plural(values, 'value')}, the first {shard} per device,"
    )
    return f"XLA gathers {what} whole on every device to get from {before} to {after}: it knows no direct way."


def constrain_first(specs: Sequence[str], after: str) -> str:
    """The change, where no diff can be written."""
    return "\n".join(
        [*(f"x = jax.lax.with_sharding_constraint(x, {spec})" for spec in specs), f"# and then to {after}"]
    )


def _over(row: CollectiveRow) -> str:
    return f" over {', '.join(map(str, row.groups.axes))}" if row.groups.axes else ""


def _why(row: CollectiveRow) -> str:
    causes = [text for cause in row.causes if (text := collective_wording.cause(cause))]
    return f" ({causes[0]})" if causes else ""


def collective(row: CollectiveRow, count: int, sent: float | None) -> str:
    """Collectives that are alike."""
    what = f"{row.op.kind} of {scaled(row.payload, 'B')}" if count == 1 else f"{plural(count, row.op.kind)}"
    each = "" if sent is None else f": each device sends {scaled(sent, 'B')}"
    return f"{what}{_over(row)}{_why(row)}{each}."


def exposed_collectives(row: CollectiveRow, count: int, seconds: float, part: float) -> str:
    """Collectives that nothing hides and that no change was found for."""
    times = f" in each of {row.runs:,.6g} iterations" if row.runs > 1 else ""
    first = f"{row.op.kind} of {scaled(row.payload, 'B')}{_over(row)}{times}{_why(row)}"
    hidden = "it" if count == 1 else "them"
    taken = f"{duration(seconds)}, {share(part)} of the lower bound, and no other work hides {hidden}"
    if count == 1:
        return f"The {first} takes {taken}."
    return f"{count:,} collectives take {taken}; the largest is the {first}."


def of_differentiation(row: CollectiveRow, name: str) -> str:
    """A collective that stands in the program because of a derivative alone."""
    return (
        f"Differentiation made the {row.op.kind} of {scaled(row.payload, 'B')}{_over(row)}: a value that shard_map "
        f"takes replicated gets the sum ({name}) of all devices' gradients. No line asks for it."
    )


LARGER_BATCH = (
    "The bytes of gradients do not grow with the batch, so with a larger batch per device the exchange is a smaller "
    "part of the step."
)


def shard_argument(names: Sequence[str], spec: str, before: str) -> str:
    """An argument that is sharded as it is used."""
    return f"# shard {some(list(names), _MOST_NAMED, ', ')} as {spec} before the call, not as {before}"


def free_result(name: str, spec: str) -> str:
    """A result that is left as it is computed."""
    return f"# leave the sharding of {name} to XLA: out_shardings asks for {spec}"


def drop_constraint(spec: str, line: str) -> str:
    """A constraint that is left out."""
    return f"# leave out the constraint to {spec} at {line}"


def add_first(line: str) -> str:
    """Products that are added to something one after the other."""
    at = f" at {line}" if line else ""
    return (
        f"# add both products{at} before anything else, and constrain only their sum, so that one collective sums\n"
        "# both over the devices: x + (a @ v + b @ w), not (x + a @ v) + b @ w"
    )


def combine_less(flag: str, size: int) -> str:
    """A flag of XLA for GPUs, as jax.jit takes it."""
    return f'jax.jit(…, compiler_options={{"{flag}": {size}}})'


def carry_copied(names: Sequence[str], copies: int, moved: float, runs: float) -> str:
    """What a loop copies in each iteration."""
    what = some(list(names), _MOST_NAMED) or "what it carries"
    made = "" if copies == 1 else f" ({copies} copies)"
    return f"Each of the {runs:,.6g} iterations of a loop copies {what}{made}: {scaled(moved, 'B')} read and written."


def batched_loop(elements: int, shape: str, count: int, size: int) -> str:
    """A loop under vmap that carries large arrays."""
    more = f" and {count - 1} more" if count > 1 else ""
    return (
        f"Under vmap the loop runs until the last of {elements:,} elements is done, and each iteration takes the old "
        f"or the new {shape}{more} for each of them: {scaled(size, 'B')} are written, and twice as much is read."
    )


CARRY_LESS = (
    "# carry only what the next step reads: a history can be the stacked output of a jax.lax.scan of fixed length,\n"
    "# and what never changes is captured by the body; or jax.lax.map(f, xs), whose elements end by themselves"
)


def read_first(line: str) -> str:
    """The change, where no diff can be written."""
    at = f" at {line}" if line else ""
    return (
        f"# before the write{at}, read what is still needed of the carried array, and keep both apart:\n"
        "array, old = jax.lax.optimization_barrier((array, old))"
    )


def unroll(is_swap: bool) -> str:
    """Of a scan that swaps what it carries, or makes a new array of it."""
    why = "after two swaps each array is in its own place again" if is_swap else "two iterations need one copy, or none"
    return f"unroll=2  # in jax.lax.scan, or jax.lax.fori_loop of a fixed length: {why}"


def called_in_loop(kind: str, name: str, times: int) -> str:
    """A callback in a loop."""
    if kind == "debug_print":
        return f"jax.debug.print of {name or 'values'} runs {times:,} times in one call."
    waits = "" if kind.startswith("debug") else ", and the device waits for each result"
    return f"{kind} calls {name or 'Python'} {times:,} times in one run{waits}."


def call_less(kind: str, name: str) -> str:
    """The change: fewer calls."""
    if kind.startswith("debug"):
        return (
            "# return the values from the loop and print them once after it, or call it in few iterations:\n"
            "jax.lax.cond(i % 100 == 0, lambda: jax.debug.print(…), lambda: None)"
        )
    return f"# return from the loop what {name or 'the function'} needs, and call it once on all of it after the loop"


def _callback(kind: str, name: str) -> str:
    if kind == "debug_print":
        return f"jax.debug.print({name})"
    return f"{kind} of {name}" if name else kind


def gathered_for_callback(kind: str, name: str, size: float) -> str:
    """A callback whose argument lies in parts on several devices."""
    return (
        f"{_callback(kind, name)} takes a sharded array of {scaled(size, 'B')}: XLA gathers it whole on every device, "
        "as a callback runs on one."
    )


REDUCE_FIRST = (
    "# give the callback only what it needs of the array, such as a norm or a mean, or call it inside\n"
    "# jax.shard_map, where it gets the part of its device"
)
ONLY_WITHOUT_WORK_BETWEEN = "What is computed between the two has to be done in NumPy then."


def handed_on(first: str, second: str, size: float) -> str:
    """An array that one callback gives and another takes."""
    return (
        f"{second or 'A callback'} takes {scaled(size, 'B')} that {first or 'another callback'} gave: they are copied "
        "from the host and back to it."
    )


def one_callback(kind: str, first: str, second: str) -> str:
    """The change."""
    call = f"{second}({first}(…))" if first.isidentifier() and second.isidentifier() else "…"
    name = "jax.experimental.io_callback" if kind == "io_callback" else "jax.pure_callback"
    return f"# one callback that calls both, so that the array stays in NumPy:\n{name}(lambda *args: {call}, …)"


def fetched_in_loop(size: float, times: int) -> str:
    """An array that every iteration copies from the host."""
    return f"Each of {times:,} iterations copies the same {scaled(size, 'B')} from the host's memory to the device."


def fetched_whole(size: float, parts: int) -> str:
    """An array that is copied from the host before a loop."""
    return (
        f"{scaled(size, 'B')} are copied from the host's memory to the device's before a loop that reads one of "
        f"{parts:,} parts in each iteration."
    )


def result_on_host(names: Sequence[str]) -> str:
    """A result that XLA refuses to return."""
    what = some(list(names), _MOST_NAMED)
    lies = "lies" if len(names) == 1 else "lie"
    return f"{what} {lies} in the host's memory, and so does the result of it: out_shardings has to say so."


def keep_on_host(name: str) -> str:
    """The change: say that the result is in the host's memory."""
    return f"jax.jit(…, out_shardings={name}.sharding)"


def transposed_result(asked: str, computed: str, size: int) -> str:
    """A result of einsum that is copied into another order."""
    order = f"as {computed} and copies it to {asked}" if asked else "in another order of dimensions and copies it"
    return f"einsum computes a result of {scaled(size, 'B')} {order}."


def as_computed(asked: str, computed: str, permutation: Sequence[int]) -> str:
    """The change: take the result as it is computed."""
    if asked:
        return f"# ask for ->{computed}, not ->{asked}"
    order = tuple(permutation.index(dim) for dim in range(len(permutation)))
    return f"# ask einsum for the result's dimensions in the order {order}"
