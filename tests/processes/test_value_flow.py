"""Which lines take a value that each process has its own of. The oracle is how each text was written."""

from __future__ import annotations

import pytest

from jaxstage_ext.processes.flow.value_flow import names_after, value_flow
from jaxstage_ext.processes.flow.value_origin import ValueOrigin

PROCESS, CLOCK, RANDOM = ValueOrigin.PROCESS, ValueOrigin.CLOCK, ValueOrigin.RANDOM
SET_ORDER, HOST, LOCAL = ValueOrigin.SET_ORDER, ValueOrigin.HOST, ValueOrigin.LOCAL_DATA
TAKEN = {
    "y = x * jax.process_index()": PROCESS,
    "k = jax.random.key(int(time.time()))": CLOCK,
    "k = jax.random.key(time.time_ns())": CLOCK,
    "r = random.random()\ny = x * r": RANDOM,
    "r = np.random.rand(3)\nw = r + 1\ny = x * w": RANDOM,
    "g = np.random.default_rng()\ny = x * g.normal()": RANDOM,
    "for n in {'a', 'b'}:\n    y = f(n)": SET_ORDER,
    "names = set(d)\nfor n in names:\n    y = f(n)": SET_ORDER,
    "y = x + hash('a')": SET_ORDER,
    "for f in os.listdir(d):\n    y = load(f)": SET_ORDER,
    "y = x * int(os.environ['RANK'])": HOST,
    "n = len(jax.local_devices())\ny = x / n": LOCAL,
    "if jax.process_index() == 0:\n    y = psum(x)": PROCESS,
    "lead = jax.process_index() == 0\nif lead:\n    y = psum(x)": PROCESS,
    "s = 2 if jax.process_index() else 1\ny = x * s": PROCESS,
    "def seed():\n    return time.time()\ny = key(seed())": CLOCK,
    "def scaled(x, s):\n    return x * s\nz = scaled(x, time.time())": CLOCK,
    "s = time.time()\n@jax.jit\ndef f(x):\n    return x * s": CLOCK,
}
NOT_TAKEN = (
    "y = jax.random.normal(key, (3,))",
    "y = jr.choice(key, 3)",
    "g = np.random.default_rng(0)\ny = x * g.normal()",
    "for n in sorted({'a', 'b'}):\n    y = f(n)",
    "names = set(d)\nfor n in sorted(names):\n    y = f(n)",
    "t = time.time()\ny = step(x)",
    "x = jax.make_array_from_process_local_data(s, load(jax.process_index()))\ny = step(x)",
    "d = load(jax.process_index())\n@jax.jit\ndef f(x):\n    return x * 2\nz = f(d)",
    "def f(x, s):\n    return x * s\na = f(x, time.time())\ny = f(x, 2)",
    "y = 2 +",
    "y = x\0",
)


@pytest.mark.parametrize("source", TAKEN)
def test_the_last_line_takes_it(source: str) -> None:
    line = source.count("\n") + 1
    found = value_flow(source).suspects(line)
    assert [suspect.origin for suspect in found][:1] == [TAKEN[source]]


@pytest.mark.parametrize("source", NOT_TAKEN)
def test_the_last_line_takes_none(source: str) -> None:
    lines = source.split("\n")
    line = lines.index("    return x * 2") + 1 if "    return x * 2" in lines else len(lines)
    assert value_flow(source).suspects(line) == []


def test_the_line_that_makes_it_is_named_and_whether_it_decides() -> None:
    flow = value_flow("first = jax.process_index() == 0\nif first:\n    y = psum(x)\nz = x * first")
    decided, taken = flow.suspects(3), flow.suspects(4)
    assert [(one.line, one.decides) for one in decided] == [(1, True)]
    assert [(one.line, one.decides, one.code) for one in taken] == [(1, False, "first = jax.process_index() == 0")]


def test_names_are_those_of_their_function() -> None:
    source = "def f():\n    s = time.time()\n    return 1\ndef g(s):\n    return s"
    assert value_flow(source).suspects(5) == []


@pytest.mark.parametrize(
    ("source", "has"),
    [
        ("for n in self.names: f(n)", False),
        ("for n in sorted(set(d)): f(n)", False),
        ("class A:\n    def g(self):\n        self.names = {*d}", True),
        ("names = dict.fromkeys(frozenset(d))", True),
        ("size = len({1, 2})", False),
    ],
)
def test_a_text_has_something_without_an_order_or_not(source: str, has: bool) -> None:
    assert value_flow(source).has_sets is has


CELLS = {
    "the step in the next cell": (["rate = 0.1 * (jax.process_index() + 1)"], "y = x * rate", PROCESS, "In [1]:1"),
    "by a name of the cell between": (["a = 1\nb = time.time()", "c = b + 1"], "y = x * c", CLOCK, "In [1]:2"),
    "a function of an earlier cell": (
        ["def seed():\n    return random.random()"],
        "k = key(seed())",
        RANDOM,
        "In [1]:2",
    ),
    "the later of two": (["r = time.time()", "r = jax.process_index()"], "y = x * r", PROCESS, "In [2]:1"),
    "changed in place": (["r = 1", "r += time.time()"], "y = x * r", CLOCK, "In [2]:1"),
    "inside a function": (["r = time.time()"], "y = (lambda x: x * r)(x)", CLOCK, "In [1]:1"),
}
HARMLESS_CELLS = {
    "set anew": (["r = time.time()", "r = 2"], "y = x * r"),
    "set anew in the cell itself": (["r = time.time()"], "r = 2\ny = x * r"),
    "an argument of this name": (["r = time.time()"], "def f(x, r):\n    return x * r"),
    "imported anew": (["r = time.time()", "from m import r"], "y = x * r"),
}


@pytest.mark.parametrize("name", CELLS)
def test_values_are_followed_from_cell_to_cell(name: str) -> None:
    earlier, source, origin, place = CELLS[name]
    names = names_after(tuple((f"In [{number}]", text) for number, text in enumerate(earlier, 1)))
    found = value_flow(source, names).suspects(1)
    assert [(one.origin, f"{one.cell}:{one.line}") for one in found] == [(origin, place)]


@pytest.mark.parametrize("name", HARMLESS_CELLS)
def test_values_that_a_name_does_not_hold_any_more_are_not_followed(name: str) -> None:
    earlier, source = HARMLESS_CELLS[name]
    names = names_after(tuple((f"In [{number}]", text) for number, text in enumerate(earlier, 1)))
    assert value_flow(source, names).suspects(source.count("\n") + 1) == []
