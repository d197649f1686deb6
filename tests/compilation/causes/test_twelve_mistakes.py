"""The classic mistakes, one or more cells each, as a user makes them; then the cells that the advice leads to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from jaxstage_ext.compilation.causes.cause import Cause
from tests.helpers.magic_shell import Shell, fresh_shell


class Mistake(NamedTuple):
    """Cells, of which the last is the mistake.

    Attributes:
      changes, code: what the log says of the last compile.   mended: cells that must not compile a second program.
    """

    cells: tuple[str, ...]
    cause: Cause
    changes: list[tuple[str, str, str]]
    code: str
    mended: tuple[str, str]


STEP = "@jax.jit\ndef step(x, lr): return x * lr\n"
LOOP = "@jax.jit\ndef grow(x, n): return x + jnp.zeros(n).sum()\n"
STATIC = "grow = jax.jit(lambda x, n: x + jnp.zeros(n).sum(), static_argnames=['n'])\n"
CELL = "@jax.jit\ndef cell_step(x): return x * 3\ncell_step(x)"
WIDE = "import numpy as np\nwide = jax.jit(lambda x: x * 2)\n"
TAKES = "@jax.jit\ndef pair(xs): return xs[0] + xs[1]\n"
MODEL = "class Net:\n    def __init__(self, k): self.k = k\n    def forward(self, x): return x * self.k\n"
TREE = (
    "import dataclasses\n@jax.tree_util.register_dataclass\n@dataclasses.dataclass\nclass Net:\n    k: float\n"
    "    def forward(self, x): return x * self.k\nforward = jax.jit(Net.forward)\n"
)
MESH = (
    "from jax.sharding import NamedSharding, PartitionSpec as P\nmesh = jax.make_mesh((2,), ('d',))\n"
    "double = jax.jit(lambda y: y * 2)\ny = np.ones(8, np.float32)\n"
)
DONATE = "update = jax.jit(lambda state: state * 2, donate_argnums=0)\nstate = jnp.ones(3)\n"
SCALE = "@jax.jit\ndef scale(x, by=2.0): return x * by\n"
HASH = "shaped = jax.jit(lambda x, sizes: x * len(sizes), static_argnames='sizes')\n"

MISTAKES = {
    "weak types": Mistake(
        (STEP + "step(x, jnp.float32(1))", "step(x, 0.5)"),
        Cause.WEAK_TYPE,
        [("lr", "strongly typed float32", "weakly typed float32, a Python float")],
        "jnp.asarray(lr, jnp.float32)",
        ("step(x, jnp.asarray(0.5, jnp.float32))", "step(x, jnp.asarray(0.7, jnp.float32))"),
    ),
    "python scalars as shapes": Mistake(
        (LOOP + "grow(x, 3)",),
        Cause.FIRST,
        [],
        "@functools.partial(jax.jit, static_argnames=['n'])\ndef grow(x, n): ...",
        (STATIC + "grow(x, n=3)", "grow(x, n=3)"),
    ),
    "a static value for each call": Mistake(
        (STATIC + "grow(x, n=3)", "grow(x, n=4)"),
        Cause.STATIC_VALUE,
        [("n", "3", "4")],
        "fn = jax.jit(lambda x, n: ...)",
        ("add = jax.jit(lambda x, n: x + n)\nadd(x, n=3)", "add(x, n=4)"),
    ),
    "lambdas in loops": Mistake(
        ("for _ in range(2): jax.jit(lambda v: v + 1)(x)",),
        Cause.MADE_ANEW,
        [("<lambda>", "<lambda>", "<lambda>")],
        "fn = jax.jit(lambda v: ...)",
        ("fn = jax.jit(lambda v: v + 1)\nfn(x)", "for _ in range(2): fn(x)"),
    ),
    "a cell run again": Mistake(
        (CELL, CELL),
        Cause.CELL_RUN_AGAIN,
        [("cell_step", "cell_step", "cell_step")],
        "@jax.jit\ndef cell_step(x): ...",
        ("cell_step(x)", "cell_step(x)"),
    ),
    "x64 flipped": Mistake(
        (WIDE + "wide(np.ones(3))", "with jax.enable_x64(True): wide(np.ones(3))"),
        Cause.CONFIG,
        [("jax_enable_x64", "False", "True"), ("x", "float32", "float64")],
        "jax.config.update('jax_enable_x64', True)",
        (WIDE + "wide(np.ones(3))", "wide(np.ones(3))"),
    ),
    "an unhashable static argument": Mistake(
        (HASH + "shaped(x, sizes=[1, 2])",),
        Cause.UNHASHABLE_STATIC,
        [("sizes", "", "list")],
        "tuple(sizes)",
        ("shaped(x, sizes=tuple([1, 2]))", "shaped(x, sizes=tuple([1, 2]))"),
    ),
    "a list for a tuple": Mistake(
        (TAKES + "pair((x, x))", "pair([x, x])"),
        Cause.PYTREE,
        [("xs", "tuple", "list")],
        "tuple(xs)",
        ("pair(tuple([x, x]))", "pair(tuple([x, x]))"),
    ),
    "a method of a new object": Mistake(
        (MODEL + "jax.jit(Net(2.0).forward)(x)", "jax.jit(Net(3.0).forward)(x)"),
        Cause.METHOD_MADE_ANEW,
        [("Net.forward", "Net.forward", "Net.forward"), ("self.k", "2.0", "3.0")],
        "@jax.tree_util.register_dataclass\n@dataclasses.dataclass\nclass Net: ...\n\n"
        "forward = jax.jit(Net.forward)\nforward(net, ...)",
        (TREE + "forward(Net(2.0), x)", "forward(Net(3.0), x)"),
    ),
    "sharding changed": Mistake(
        (MESH + "double(y)", "double(jax.device_put(y, NamedSharding(mesh, P('d'))))"),
        Cause.SHARDING_TYPE,
        [("y", "uncommitted", "P('d') on mesh (d=2)")],
        "jax.device_put(y, NamedSharding(mesh, P('d')))",
        ("double(jax.device_put(y, NamedSharding(mesh, P('d'))))",) * 2,
    ),
    "cleared caches": Mistake(
        ("once = jax.jit(lambda x: x - 1)\nonce(x)", "jax.clear_caches()\nonce(x)"),
        Cause.CACHE_CLEARED,
        [("jax.clear_caches", "", "")],
        "",
        ("once(x)", "once(x)"),
    ),
    "donated twice": Mistake(
        (DONATE + "update(state)", "update(state)"),
        Cause.DONATED_BEFORE,
        [("state", "", "f32[3]")],
        "state = update(state)",
        ("state = jnp.ones(3)\nstate = update(state)", "state = update(state)"),
    ),
    "a default given explicitly": Mistake(
        (SCALE + "scale(x)", "scale(x, 2.0)"),
        Cause.ARGUMENT_FORM,
        [("by", "", "f32[]")],
        "scale(x, by)",
        ("scale(x, 2.0)", "scale(x, 3.0)"),
    ),
}


@pytest.fixture(scope="module")
def shell() -> Iterator[Shell]:
    with fresh_shell() as shell:
        assert shell.run("import numpy as np, jax.numpy as jnp\nx = jnp.ones(4)").ok
        yield shell


@pytest.mark.parametrize("name", MISTAKES)
def test_a_classic_mistake(name: str, shell: Shell, heard: Any) -> None:
    mistake = MISTAKES[name]
    for cell in mistake.cells:
        shell.run(cell)
    told = heard.last()
    assert (told.cause, told.changes) == (mistake.cause, mistake.changes)
    assert told.code == mistake.code
    assert shell.run(mistake.mended[0]).ok
    count = heard.count()
    assert shell.run(mistake.mended[1]).ok
    assert heard.count() == count
