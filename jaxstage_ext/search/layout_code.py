"""A layout as code to paste: what is pasted gives the layout's own compile."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from jaxstage_ext.ir.partitioning.module_layout import AxisSpec
from jaxstage_ext.search.decision_wording import spec_text
from jaxstage_ext.search.layout_candidate import LayoutCandidate
from jaxstage_ext.search.path_rules import path_rules

_LONGEST = 80
"""Characters of a line of flattened specs."""


class CodeForm(Enum):
    """A way in which a layout is written."""

    IN_SPECS = "in_specs"
    LINE = "magic options"
    AXIS_RULES = "logical axis rules"
    EXPLICIT_TYPES = "explicit sharding"
    PATH_RULES = "rules by path"
    DEVICE_PUT = "device_put"


@dataclass(frozen=True)
class PastedLayout:
    """What the code of a layout is made of.

    Attributes:
      mesh: axis sizes by name, the slowest first.
      trees: by the name of each argument its specs as text: nested dicts, lists and tuples of `P(...)`, or one text
        for all of its leaves; a named tuple is `Replaced`, a custom pytree its flattened leaves in `Flattened`.
      leaves: (path, spec) of every leaf, `params['w']`.
      candidate: None of a layout of the user's that is no candidate.
      function: what the function is called.
      callee: the function without shardings of its own, `step.__wrapped__`; "" where it has none.
      options: the options of its `jax.jit`, "donate_argnums=(0,)".
      donation: those of its options that donate arguments.
      parameters: the names of all arguments of the call in their order, those in `static` are not traced.
      passed: how the call passes them, "params, x, rate=rate".
      results: the specs of the result as `trees`; None where the compiler chooses them.
      result_types: the same with what Shardy propagates where the compiler chooses; None where that was not asked for.
    """

    mesh: Mapping[str, int]
    trees: Mapping[str, Any]
    leaves: Sequence[tuple[str, AxisSpec]]
    candidate: LayoutCandidate | None
    function: str
    callee: str = ""
    options: str = ""
    donation: str = ""
    parameters: tuple[str, ...] = ()
    static: tuple[str, ...] = ()
    passed: str = ""
    results: Any = None
    result_types: Any = None


@dataclass(frozen=True)
class Flattened:
    """A pytree of a class whose constructor is unknown: an expression of a value like it, and its leaves' specs."""

    value: str
    specs: tuple[str, ...]


@dataclass(frozen=True)
class Replaced:
    """A named tuple: an expression of a value like it, and the specs of its fields as trees."""

    value: str
    fields: Mapping[str, Any]


def code(form: CodeForm, layout: PastedLayout) -> str:
    """The layout in one form."""
    return _FORMS[form](layout)


def _in_specs(layout: PastedLayout) -> str:
    imports = ["from jax.sharding import PartitionSpec as P", ""]
    imports = ["import jax", *imports] if _needs_jax(layout) else imports
    imports += [f"# for {layout.callee}, which has no shardings of its own"] if layout.callee else []
    lines = [*imports, f"mesh = {dict(layout.mesh)!r}", "in_specs = {"]
    lines += [f"    {name!r}: {_text(tree, 4)}," for name, tree in layout.trees.items()]
    lines += ["}"]
    if layout.results is not None:
        lines += [f"out_specs = {_text(layout.results, 0)}"]
    return "\n".join(lines)


def _line(layout: PastedLayout) -> str:
    """Options of the magics."""
    mesh = ",".join(f"{name}={size}" for name, size in layout.mesh.items())
    specs = ", ".join(f"{name}={_flat(_text(tree, 0))}" for name, tree in layout.trees.items())
    results = [] if layout.results is None else [f'--out-spec "{_flat(_text(layout.results, 0))}"']
    return " ".join([f'--mesh "{mesh}"', f'--in-spec "{specs}"', *results])


def _axis_rules(layout: PastedLayout) -> str:
    """Logical names to mesh axes, as flax's `logical_axis_rules` and MaxText take them."""
    if layout.candidate is None:
        return "# this layout splits one dimension differently in different arguments: there are no rules by name"
    rules = {
        name: [axis.name for axis in layout.candidate.axes_of(name)]
        for axis in layout.candidate.axes
        for name in sorted(axis.splits)
    }
    lines = ["logical_axis_rules = ("]
    lines += [f"    ({name!r}, {(axes[0] if len(axes) == 1 else tuple(axes))!r})," for name, axes in rules.items()]
    lines += [")"]
    if layout.candidate.storing:
        over = ", ".join(axis.name for axis in layout.candidate.storing)
        lines += [f"# parameters are stored over {over} besides: the largest dimension of each that it divides"]
    return "\n".join(lines)


def _explicit(layout: PastedLayout) -> str:
    """A mesh with explicit axes, in whose types the arguments carry their specs; inside, the compiler chooses."""
    lines = [
        "import jax",
        "from jax.sharding import PartitionSpec as P",
        "",
        _mesh(layout, "Explicit"),
        "jax.set_mesh(mesh)",
        *(
            f"{name} = jax.reshard({name}, {_text(tree, 0)})"
            for name, tree in zip(map(variable, layout.trees), layout.trees.values(), strict=True)
        ),
    ]
    if layout.result_types is not None:
        lines += _explicit_static(layout) if layout.static else [_explicit_jit(layout)]
    return "\n".join(lines)


def _explicit_jit(layout: PastedLayout) -> str:
    types = _text(layout.result_types, 0)
    wrapped = f"jax.sharding.auto_axes({layout.callee or layout.function}, out_sharding={types})"
    return f"{layout.function} = jax.jit({', '.join(filter(None, [wrapped, layout.donation]))})"


def _explicit_static(layout: PastedLayout) -> list[str]:
    """A function of all arguments, since what has automatic axes inside takes arrays alone."""
    traced = ", ".join(map(variable, layout.trees))
    types, written = _text(layout.result_types, 4), f"{layout.function}_as_written"
    options = f"static_argnames={tuple(map(variable, layout.static))!r}"
    return [
        f"{written} = {layout.callee or layout.function}",
        "",
        "",
        f"def {layout.function}({', '.join(map(variable, layout.parameters))}):",
        f"    def traced({traced}):",
        f"        return {written}({layout.passed})",
        "",
        f"    return jax.sharding.auto_axes(traced, out_sharding={types})({traced})",
        "",
        "",
        f"{layout.function} = jax.jit({', '.join(filter(None, [layout.function, options, layout.donation]))})",
    ]


def variable(title: str) -> str:
    """What an argument is called in code; its title may be its place among `*batch`."""
    return title if title.isidentifier() else "argument_" + re.sub(r"\W", "_", title)


def _path_rules(layout: PastedLayout) -> str:
    """Regular expressions of paths, each with its spec; the first that is found in the path holds."""
    lines = ["from jax.sharding import PartitionSpec as P", "", "rules = ["]
    lines += [f"    ({_raw(pattern)}, {spec_text(spec)})," for pattern, spec in path_rules(layout.leaves)]
    return "\n".join([*lines, "]"])


def _raw(pattern: str) -> str:
    return repr(pattern) if '"' in pattern or "\n" in pattern else f'r"{pattern}"'


def _device_put(layout: PastedLayout) -> str:
    lines = [
        "import jax",
        "from jax.sharding import NamedSharding, PartitionSpec as P",
        "",
        _mesh(layout, "Auto"),
        "",
        "",
        "def shardings(specs):",
        "    is_spec = lambda s: s is None or isinstance(s, P)",
        "    return jax.tree.map(lambda s: None if s is None else NamedSharding(mesh, s), specs, is_leaf=is_spec)",
        "",
        "",
    ]
    for title, tree in layout.trees.items():
        name = variable(title)
        lines += [f"{name} = jax.device_put({name}, shardings({_text(tree, 0)}))"]
    results = [] if layout.results is None else [f"out_shardings=shardings({_text(layout.results, 0)})"]
    if results or layout.callee:
        options = [layout.callee or layout.function, *filter(None, [layout.options]), *results]
        lines += [f"{layout.function} = jax.jit({', '.join(options)})"]
    return "\n".join(lines)


def _mesh(layout: PastedLayout, kind: str) -> str:
    sizes, names = tuple(layout.mesh.values()), tuple(layout.mesh)
    return f"mesh = jax.make_mesh({sizes!r}, {names!r}, axis_types=(jax.sharding.AxisType.{kind},) * {len(names)})"


def _needs_jax(layout: PastedLayout) -> bool:
    return any("jax." in _text(tree, 0) for tree in (*layout.trees.values(), layout.results))


def _flat(text: str) -> str:
    """In one line."""
    return re.sub(r"(?<=[\[{(]) | (?=[\]})])", "", " ".join(text.split()))


def _text(tree: Any, indent: int) -> str:
    """A tree of texts as Python."""
    pad, inner = " " * indent, " " * (indent + 4)
    if isinstance(tree, Replaced):
        parts = [f"{inner}{name}={_text(value, indent + 4)},\n" for name, value in tree.fields.items()]
        return f"{tree.value}._replace(\n{''.join(parts)}{pad})"
    if isinstance(tree, Flattened):
        return f"jax.tree.unflatten(jax.tree.structure({tree.value}), [{_filled(tree.specs, inner)}])"
    if isinstance(tree, dict):
        parts = [f"{inner}{key!r}: {_text(value, indent + 4)},\n" for key, value in tree.items()]
        return "{\n" + "".join(parts) + pad + "}" if parts else "{}"
    if isinstance(tree, list | tuple):
        parts = [_text(value, indent + 4) for value in tree]
        one = ", ".join(parts) + ("," if isinstance(tree, tuple) and len(parts) == 1 else "")
        first, last = ("[", "]") if isinstance(tree, list) else ("(", ")")
        if len(one) + indent < 100 and "\n" not in one:
            return first + one + last
        return first + "\n" + "".join(f"{inner}{part},\n" for part in parts) + pad + last
    return str(tree)


def _filled(specs: Sequence[str], inner: str) -> str:
    """Specs in as many lines as they need."""
    rows = [""]
    for spec in specs:
        if len(rows[-1]) + len(spec) > _LONGEST:
            rows.append("")
        rows[-1] += f"{' ' if rows[-1] else ''}{spec},"
    return rows[0][:-1] if len(rows) == 1 else "\n" + "".join(f"{inner}{row}\n" for row in rows) + inner[4:]


_FORMS = {
    CodeForm.IN_SPECS: _in_specs,
    CodeForm.LINE: _line,
    CodeForm.AXIS_RULES: _axis_rules,
    CodeForm.EXPLICIT_TYPES: _explicit,
    CodeForm.PATH_RULES: _path_rules,
    CodeForm.DEVICE_PUT: _device_put,
}
