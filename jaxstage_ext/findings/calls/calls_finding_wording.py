"""What is said of findings that cost host time, or the result, of every call."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from jaxstage_ext.program.behaviour.call_dispatch import counted_nodes
from jaxstage_ext.report.text.units import duration, plural, scaled

HIDDEN_BY_THE_DEVICE = "Calls that nobody waits for hide it, as long as the device has more to do than Python."
BUILT_TOO = (
    "Results of such types are built in Python too: return jax.tree.leaves(…) of them where the loop hands them on, "
    f"and unflatten after it. {HIDDEN_BY_THE_DEVICE}"
)


NEW_IN_EVERY_CALL = "Values that are new in every call, as of a batch, have to be copied in each."
_MOST_NAMED = 3
UNIQUE = "Where no index comes twice, unique_indices=True costs nothing and is enough."
SAME_IS_MEANT = "It is no mistake where both are meant to draw the same numbers."
SAME_ON_ALL = "It is no mistake where all devices are meant to draw the same numbers."
CLEAR_CACHES = "jax.clear_caches()  # before the next call; JAX then traces the function anew"


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]])) if names else ""


def flattens(types: Mapping[str, int], arguments: Sequence[str], seconds: float, as_leaves: float) -> str:
    """Pytree nodes that each call flattens in Python."""
    of = f" of {_listed(arguments)}" if arguments else ""
    return (
        f"Each call flattens {counted_nodes(types)}{of} by Python functions: {duration(seconds)} on this machine, "
        f"and {duration(as_leaves)} for a list of the same leaves."
    )


def flatten_once(function: str, names: Sequence[str], arguments: Sequence[str], options: Mapping[str, object]) -> str:
    """The change: the leaves are passed, and the pytree is built while JAX traces."""
    trees = ", ".join(names) if len(names) == 1 else f"({', '.join(names)})"
    others = [name for name in arguments if name not in names]
    static = f", static_argnames={tuple(options_names)!r}" if (options_names := _statics(options, arguments)) else ""
    donated = ', donate_argnames=("leaves",)' if any(name.startswith("donate") for name in options) else ""
    decorator = f"@functools.partial(jax.jit{static}{donated})" if static or donated else "@jax.jit"
    return "\n".join(
        (
            f"leaves, tree = jax.tree.flatten({trees})  # once, before the loop",
            "",
            decorator,
            f"def {function}_of_leaves({', '.join(['leaves', *others])}):",
            f"    {', '.join(names)} = jax.tree.unflatten(tree, leaves)",
            f"    return {function}({', '.join(arguments)})",
        )
    )


SHOWN_JITTED = "What is shown of it here is what jax.jit makes of it. Nothing is lost where something else jits it."


def runs_eagerly(function: str, count: int) -> str:
    """A function that ran outside of jax.jit."""
    return (
        f"{function} ran outside of jax.jit, where JAX dispatches its {plural(count, 'operation')} one by one, each as "
        "a program of its own, and fuses none of them."
    )


def jit_it(function: str, is_transformed: bool) -> str:
    """The change, where no diff can be written; `is_transformed`: by jax.grad or the like, which belongs inside."""
    if is_transformed and function.isidentifier():
        return f"# jax.jit around all of it, as in jax.jit(jax.value_and_grad({function})), once, before the loop"
    name = f"{function} = " if function.isidentifier() else "call = "
    return f"{name}jax.jit({function})  # once, before the loop"


def traverses(names: Sequence[str], seconds: float) -> str:
    """Graphs of nnx, which its jit takes apart before each call and puts together behind it."""
    them = "it" if len(names) == 1 else "them"
    return (
        f"In each call nnx.jit takes {_shown(names)} apart and puts {them} together in Python: at least "
        f"{duration(seconds)} on this machine."
    )


def cached_partial(function: str, graphs: Sequence[str], others: Sequence[str]) -> str:
    """The change: nnx keeps what it found of the graphs."""
    given, made = ", ".join(graphs), f"{function}_cached"
    return f"{made} = nnx.cached_partial({function}, {given})  # once, before the loop\n{made}({', '.join(others)})"


def split_once() -> str:
    """The change, where no graph comes first."""
    return (
        "# take the modules as the first arguments, then nnx.cached_partial(function, module) once, before the loop;\n"
        "# or nnx.split them once, jax.jit a function of the state, and nnx.merge in it"
    )


STRUCTURE_STAYS = (
    "The modules may get new values then, and no new layers or variables. "
    "Calls that nobody waits for hide the time, as long as the device has more to do than Python."
)


def flattens_modules(names: Sequence[str], seconds: float) -> str:
    """Modules of equinox, which are pytree nodes of Python's."""
    return (
        f"In each call eqx.filter_jit flattens {_listed(names)} by Python functions: at least {duration(seconds)} more "
        "than for a list of the same arrays, on this machine."
    )


def arrays_of_modules(function: str, modules: Sequence[str], arguments: Sequence[str]) -> str:
    """The change: the arrays are passed, and the modules are built while JAX traces."""
    trees = modules[0] if len(modules) == 1 else f"({', '.join(modules)})"
    others = [name for name in arguments if name not in modules]
    return "\n".join(
        (
            f"arrays, static = eqx.partition({trees}, eqx.is_array)  # once, before the loop",
            "leaves, tree = jax.tree.flatten(arrays)",
            "",
            "@jax.jit",
            f"def {function}_of_leaves({', '.join(['leaves', *others])}):",
            f"    {', '.join(modules)} = eqx.combine(jax.tree.unflatten(tree, leaves), static)",
            f"    return {function}({', '.join(arguments)})",
        )
    )


def _statics(options: Mapping[str, object], arguments: Sequence[str]) -> list[str]:
    numbers, names = options.get("static_argnums", ()), options.get("static_argnames", ())
    by_place = [arguments[number] for number in numbers if -len(arguments) <= number < len(arguments)]  # type: ignore[attr-defined]
    return list(dict.fromkeys([*by_place, *names]))  # type: ignore[misc]


def hashes(name: str, kind: str, seconds: float) -> str:
    """A static argument whose hash takes long."""
    return f"Each call hashes the static argument {name} ({kind}) in Python: {duration(seconds)} on this machine."


def bind_once(function: str, name: str) -> str:
    """The change: the static argument is bound before the function is jitted."""
    return f"{function}_bound = jax.jit(functools.partial({function}, {name}={name}))  # once, before the loop"


def pass_values(function: str, parameters: Sequence[str], names: Sequence[str]) -> str:
    """The change: values that change are arguments; of what an argument holds no expression is known at the call."""
    given = {name: _argument(name) for name in names}
    new = list(dict.fromkeys(given.values()))
    read = _listed([f"{argument} in place of {name}" for name, argument in given.items() if argument != name])
    code = [f"def {function}({', '.join([*(parameters or ['…']), *new])}): ..." + (f"  # {read}" if read else "")]
    if parameters and not any(re.split(r"\W", name)[0] in parameters for name in names):
        passed = [name if argument == name else f"{argument}={name}" for name, argument in given.items()]
        code.append(f"{function}({', '.join([*parameters, *passed])})")
    return "\n".join(code)


def _argument(name: str) -> str:
    """`gain` of "self.gain": what a parameter for a value can be called."""
    words = [word for word in re.findall(r"\w+", name) if word.isidentifier()]
    return words[-1] if words else "value"


def _shown(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return _listed([*names[:_MOST_NAMED], f"{more:,} more"] if more > 0 else names)


def copied_from_host(names: Sequence[str], size: int, seconds: float) -> str:
    """Arrays of NumPy that a call is given."""
    verb = "is an array" if len(names) == 1 else "are arrays"
    return (
        f"{_shown(names)} {verb} of NumPy: each call copies {scaled(size, 'B')} from the host to the device, in "
        f"{duration(seconds)} on this machine."
    )


def moved(names: Sequence[str], size: int, how: str) -> str:
    """Arrays that lie where the program does not read them."""
    verb = "is" if len(names) == 1 else "are"
    return f"{_shown(names)} {verb} {how} at each call: {scaled(size, 'B')}."


def put_once(names: Sequence[str], place: str) -> str:
    """The change."""
    roots = list(dict.fromkeys(re.split(r"[.\\[]", name)[0] for name in names))
    where = f", {place}" if place else ""
    lines = [f"{root} = jax.device_put({root}{where})  # once, before the loop" for root in roots[:_MOST_NAMED]]
    more = len(roots) - _MOST_NAMED
    return "\n".join([*lines, *([f"# and {plural(more, 'more argument')}"] if more > 0 else [])])


def nondeterministic(count: int, operations: Sequence[str], before: float | None, after: float | None) -> str:
    """Scatters of floats whose order of additions a GPU does not fix."""
    verb = "adds" if count == 1 else "add"
    price = ""
    if before is not None and after is not None:
        price = f"; in a fixed order the lower bound is {duration(after)}, now {duration(before)}"
    return (
        f"{plural(count, 'operation')} ({_listed(operations)}) {verb} to indices that may repeat, in an order that "
        f"differs from run to run on a GPU, and so do the last bits{price}."
    )


def with_option(function: str, option: str) -> str:
    """The change."""
    return f"jax.jit({function}, compiler_options={{{option!r}: True}})"


def reused_key(name: str, use: str, earlier: str, where: str) -> str:
    """A random key that is used twice, or in every iteration of a loop."""
    key = name or "a random key"
    if not earlier:
        return f"{key} is used in every iteration of {use}, so each draws the same random numbers."
    at = f" at {where}" if where else ""
    return f"{key} is used by {earlier}{at} and again by {use}, so both draw from the same random numbers."


def split_key(name: str, use: str, is_loop: bool, where: str = "") -> str:
    """The change; `where` is the line of the first use, which the split has to precede."""
    key = name if name.isidentifier() else "key"
    if is_loop:
        return f"own = jax.random.fold_in({key}, i)  # in the body, with the number of the iteration"
    before = f"before {where}, " if where else "before its first use, "
    return f"{key}, own = jax.random.split({key})  # {before}and give own to {use}"


def drawn_alike(use: str, axis: str, devices: int) -> str:
    """A draw in a shard_map that is the same on each device."""
    return (
        f"{use} draws the same numbers on each of the {devices:,} devices of {axis}, for rows that differ: the key is "
        "the same on all of them."
    )


def own_key(axis: str) -> str:
    """The change."""
    return f"key = jax.random.fold_in(key, jax.lax.axis_index({axis!r}))  # in the function of shard_map"
