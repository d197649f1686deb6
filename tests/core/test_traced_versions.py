"""A jitted object runs the version that JAX traced: where what it names has changed since, every form says so."""

from __future__ import annotations

import functools
import gc
import types
from collections.abc import Callable, Iterator
from typing import Any

import equinox as eqx
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import nnx
from traced_functions import X, defined, versions

from jaxstage_ext import inspect
from jaxstage_ext.compilation.events import listening
from jaxstage_ext.compilation.records.compile_log import LOG
from jaxstage_ext.core.staleness import traced_versions
from jaxstage_ext.core.staleness.named_values import NamedValues
from jaxstage_ext.core.staleness.traced_versions import ITSELF, ChangedName
from jaxstage_ext.program.source import version_wording

Case = tuple[Callable[..., Any], Callable[[], Any]]


def with_k(text: str) -> Case:
    """A function `fn` that reads the global `k`, and the change of `k`."""
    cell = defined(f"k = 2.0\n{text}")
    return cell["fn"], lambda: cell.update(k=3.0)


def attribute(wrap: Callable[[Any], Callable[..., Any]]) -> Case:
    cell = defined(
        "class Model:\n"
        "    def __init__(self): self.k = 2.0\n"
        "    def __call__(self, x): return x * self.k\n"
        "    def apply(self, x): return x * self.k\n"
    )
    model = cell["Model"]()
    return wrap(model), lambda: setattr(model, "k", 3.0)


def closure() -> Case:
    k = 2.0

    @jax.jit
    def fn(x):
        return x * k

    def change() -> None:
        nonlocal k
        k = 3.0

    return fn, change


def default() -> Case:
    cell = defined("def helper(x, k=2.0): return x * k\n@jax.jit\ndef fn(x): return helper(x)")
    return cell["fn"], lambda: setattr(cell["helper"], "__defaults__", (3.0,))


CASES: dict[str, Callable[[], Case]] = {
    "jit": lambda: with_k("@jax.jit\ndef fn(x): return x * k"),
    "a function that a jitted one calls": lambda: with_k(
        "def scaled(x): return x * k\n@jax.jit\ndef fn(x): return scaled(x)"
    ),
    "jit in a plain function": lambda: with_k("@jax.jit\ndef inner(x): return x * k\ndef fn(x): return inner(x) + 1"),
    "jit of a derivative": lambda: with_k("def loss(x): return (x * k).sum()\nfn = jax.jit(jax.grad(loss))"),
    "derivative of jit": lambda: with_k(
        "@jax.jit\ndef loss(x): return (x * k).sum()\ndef fn(x): return jax.grad(loss)(x)"
    ),
    "the body of a loop": lambda: with_k(
        "def body(c, _): return c * k, None\ndef fn(x): return jax.lax.scan(body, x, None, length=2)[0]"
    ),
    "a rematerialized function": lambda: with_k(
        "def block(x): return jnp.sin(x) * k\ndef fn(x): return jax.checkpoint(block)(x)"
    ),
    "a lambda inside": lambda: with_k("@jax.jit\ndef fn(x): return (lambda y: y * k)(x)"),
    "jit of vmap": lambda: with_k("fn = jax.jit(jax.vmap(lambda x: x * k))"),
    "eqx.filter_jit": lambda: with_k("import equinox as eqx\n@eqx.filter_jit\ndef fn(x): return x * k"),
    "nnx.jit": lambda: with_k("from flax import nnx\n@nnx.jit\ndef fn(x): return x * k"),
    "a closure": closure,
    "a default argument": default,
    "jit of a method": lambda: attribute(lambda model: jax.jit(model.apply)),
    "jit of a callable object": lambda: attribute(lambda model: jax.jit(model)),
    "jit of a partial": lambda: attribute(lambda model: jax.jit(functools.partial(type(model).apply, model))),
    "an object that a jitted function calls": lambda: attribute(lambda model: jax.jit(lambda x: model(x))),
}


@pytest.mark.parametrize("case", CASES)
def test_what_a_jitted_function_names_and_what_it_was(case: str) -> None:
    fn, change = CASES[case]()
    assert versions(fn, X) == versions(fn, X) == []
    change()
    [old] = versions(fn, X)
    [changed] = old.changed
    assert changed.name.endswith("k") and (changed.text, old.is_of_trace) == ("2.0", True)
    jax.clear_caches()
    assert versions(fn, X) == []


@pytest.mark.parametrize("case", CASES)
def test_it_is_what_jax_runs(case: str) -> None:
    fn, change = CASES[case]()
    before = np.asarray(inspect(fn, X).execute())
    change()
    np.testing.assert_array_equal(np.asarray(inspect(fn, X).execute()), before)
    if hasattr(fn, "lower"):
        np.testing.assert_array_equal(np.asarray(fn(X)), before)


def test_a_static_self_whose_attribute_changed() -> None:
    cell = defined(
        "class Model:\n"
        "    def __init__(self): self.k = 2.0\n"
        "    @functools.partial(jax.jit, static_argnums=0)\n"
        "    def apply(self, x): return x * self.k\n"
    )
    model = cell["Model"]()
    assert versions(cell["Model"].apply, model, X) == []
    model.k = 3.0
    [old] = versions(cell["Model"].apply, model, X)
    assert (old.function, old.changed, old.is_of_trace) == ("apply", (ChangedName("self.k", "2.0"),), True)
    assert versions(model.apply, X) == [old]
    np.testing.assert_array_equal(np.asarray(inspect(model.apply, X).execute()), np.asarray(model.apply(X)))


VALUES: dict[str, tuple[Any, Any, str]] = {
    "an integer": (2, 3, "2"),
    "minus one that became minus two": (-1, -2, "-1"),
    "a large integer with the hash of zero": (0, 2**61 - 1, "0"),
    "a flag": (True, False, "True"),
    "an integer that became a float": (2, 2.0, "2"),
    "an array of NumPy": (
        np.ones(4, np.float32),
        np.zeros(4, np.float32),
        "array([1., 1., 1., 1.], dtype=float32)",
    ),
    "a large array of NumPy": (np.ones((50, 4)).sum(0), np.zeros((90, 4)).max(0), "array([50., 50., 50., 50.])"),
    "an array of NumPy that was reshaped": (
        np.ones(4, np.float32),
        np.ones((1, 4), np.float32),
        "array([1., 1., 1., 1.], dtype=float32)",
    ),
    "an array of JAX": (jnp.ones(4), jnp.zeros(4), ""),
    "text, which may be a secret": ("hunter2" * 3, "4", ""),
    "a scalar of NumPy": (np.float32(2), np.float32(3), "np.float32(2.0)"),
}


@pytest.mark.parametrize("kind", VALUES)
def test_values_are_quoted_where_they_are_small(kind: str) -> None:
    before, after, text = VALUES[kind]
    cell = defined("@jax.jit\ndef fn(x): return x * (len(k) if isinstance(k, str) else k)", k=before)
    assert versions(cell["fn"], X) == []
    cell["k"] = after
    [old] = versions(cell["fn"], X)
    assert (old.function, old.changed, old.is_of_trace) == ("fn", (ChangedName("k", text),), True)


def test_containers_and_configurations() -> None:
    class Config:
        rate = 1.0

    config = types.SimpleNamespace(k=1.0, other=2)
    text = "@jax.jit\ndef fn(x): return x * sizes[1] * config.k * table['a']['b'] * Config.rate * sum(rest)"
    cell = defined(text, sizes=[1, 2], config=config, table={"a": {"b": 1.0}, "c": 1}, Config=Config, rest=[1.0])
    assert versions(cell["fn"], X) == []
    config.other = 3
    cell["table"]["c"] = 2
    cell["sizes"][0] = 5
    assert versions(cell["fn"], X) == []
    config.k, Config.rate, cell["sizes"][1] = 2.0, 3.0, 4
    cell["table"]["a"]["b"] = 5.0
    [old] = versions(cell["fn"], X)
    before = {"sizes[1]": "2", "config.k": "1.0", "table['a']['b']": "1.0", "Config.rate": "1.0"}
    assert (old.function, {name: text for name, text, _ in old.changed}) == ("fn", before)


def test_an_array_changed_in_place_says_what_jax_keeps() -> None:
    held = np.ones(4, np.float32)
    cell = defined("@jax.jit\ndef fn(x): return x * held", held=held)
    assert versions(cell["fn"], X) == []
    held[2] = 5
    [old] = versions(cell["fn"], X)
    assert [(changed.name, changed.in_place) for changed in old.changed] == [("held", True)]


def test_functions_that_were_redefined() -> None:
    cell = defined("def helper(x): return x * 2\n@jax.jit\ndef fn(x): return helper(x)")
    assert versions(cell["fn"], X) == []
    exec("# the same, further down\n\n\ndef helper(x): return x * 2", cell)
    assert versions(cell["fn"], X) == []
    exec("def helper(x): return x * 3", cell)
    [old] = versions(cell["fn"], X)
    assert (old.function, old.changed) == ("fn", (ChangedName("helper", ""),))


def test_a_function_in_which_minus_one_became_minus_two() -> None:
    """Whose hashes are the same in Python."""
    cell = defined("def helper(x): return x * -1\n@jax.jit\ndef fn(x): return helper(x)")
    assert versions(cell["fn"], X) == []
    exec("def helper(x): return x * -2", cell)
    [old] = versions(cell["fn"], X)
    assert (old.function, old.changed) == ("fn", (ChangedName("helper", ""),))


def test_code_that_autoreload_replaced_in_a_jitted_function() -> None:
    cell = defined("@jax.jit\ndef fn(x): return x * 2")
    assert versions(cell["fn"], X) == []
    cell["fn"].__wrapped__.__code__ = (lambda x: x * 3).__code__
    [old] = versions(cell["fn"], X)
    assert (old.function, [changed.name for changed in old.changed]) == ("fn", [ITSELF])


@pytest.mark.parametrize("kind", ["custom_vjp", "custom_jvp"])
def test_a_derivative_rule_that_was_redefined(kind: str) -> None:
    rules = {
        "custom_vjp": "f.defvjp(lambda x: (f(x), None), lambda _, ct: ({} * ct,))",
        "custom_jvp": "f.defjvp(lambda primals, tangents: (f(*primals), {} * tangents[0]))",
    }
    text = f"@jax.{kind}\ndef f(x): return x * 2\n@jax.jit\ndef fn(x): return jax.grad(lambda x: f(x).sum())(x)\n"
    cell = defined(text + rules[kind].format(2))
    assert versions(cell["fn"], X) == []
    exec(rules[kind].format(2), cell)
    assert versions(cell["fn"], X) == []
    exec(rules[kind].format(5), cell)
    [old] = versions(cell["fn"], X)
    assert old.function == "fn" and all(changed.name.startswith("f.") for changed in old.changed)


def test_libraries_objects() -> None:
    """An optimizer's rate and a module's fields are what changed, however deep a library holds them."""
    cell = defined(
        "@jax.jit\ndef step(g): return tx.update(g, tx.init(g))[0]\n@jax.jit\ndef apply(p, x): return net.apply(p, x)",
        tx=optax.sgd(0.1),
        net=nn.Dense(3),
    )
    params = cell["net"].init(jax.random.key(0), X)
    assert versions(cell["step"], X) == versions(cell["apply"], params, X) == []
    cell.update(tx=optax.sgd(0.1), net=nn.Dense(3))
    assert versions(cell["step"], X) == versions(cell["apply"], params, X) == []
    cell.update(tx=optax.sgd(0.2), net=nn.Dense(3, use_bias=False))
    [step], [apply] = versions(cell["step"], X), versions(cell["apply"], params, X)
    assert [(changed.name.rpartition("step_size")[1], changed.text) for changed in step.changed] == [
        ("step_size", "-0.1")
    ]
    assert apply.changed == (ChangedName("net.use_bias", "True"),)


def test_what_a_module_of_the_users_reads_when_a_library_calls_it() -> None:
    cell = defined(
        "class Net(nn.Module):\n"
        "    @nn.compact\n"
        "    def __call__(self, x): return nn.Dense(3)(x) * k\n"
        "net = Net()\n"
        "@jax.jit\ndef fn(p, x): return net.apply(p, x)",
        nn=nn,
        k=2.0,
        __name__="__main__",
    )
    params = cell["net"].init(jax.random.key(0), X)
    assert versions(cell["fn"], params, X) == []
    cell["k"] = 3.0
    assert versions(cell["fn"], params, X)[0].changed == (ChangedName("k", "2.0"),)


def test_modules_that_are_arguments_are_traced_anew_by_their_libraries() -> None:
    class Scaled(eqx.Module):
        k: float = eqx.field(static=True)

        @eqx.filter_jit
        def __call__(self, x):
            return x * self.k

    assert versions(Scaled(2.0), X) == versions(Scaled(3.0), X) == []

    layer = nnx.Linear(4, 4, rngs=nnx.Rngs(0))
    apply = nnx.jit(lambda layer, x: layer(x))
    assert versions(apply, layer, X) == []
    layer.kernel = nnx.Param(jnp.ones((4, 4)))
    assert versions(apply, layer, X) == []


def test_nothing_is_said_where_nothing_that_counts_changed() -> None:
    cell = defined(
        "count = 0\nx = 1\nshape = 1\n"
        "@jax.jit\ndef fn(x):\n    global count\n    count += 1\n    y = x.shape\n    return jnp.sin(x) * y[0]"
    )
    assert versions(cell["fn"], X) == []
    cell.update(count=7, x=5, shape=3, y=3, other=1)
    assert versions(cell["fn"], X) == []


def test_what_changed_back_is_not_changed() -> None:
    fn, change = CASES["jit"]()
    assert versions(fn, X) == []
    change()
    assert versions(fn, X)
    fn.__wrapped__.__globals__["k"] = 2.0
    assert versions(fn, X) == []


def test_another_shape_is_another_version() -> None:
    fn, change = CASES["jit"]()
    assert versions(fn, X) == []
    change()
    assert versions(fn, X[:2]) == []
    assert versions(fn, X)[0].changed == (ChangedName("k", "2.0"),)
    assert versions(fn, X[:2]) == []


def test_every_form_says_it() -> None:
    fn, change = CASES["jit"]()
    inspect(fn, X)
    change()
    inspection = inspect(fn, X)
    [old] = inspection.program.old_versions
    assert (old.function, old.changed) == ("fn", (ChangedName("k", "2.0"),))
    sentence = version_wording.note(old)
    assert sentence in inspection.summary()["notes"] and sentence in inspection.answers.notes
    assert sentence in " ".join(repr(inspection).replace("│", " ").split())
    assert f"; {version_wording.title(old)})" in inspection.documents["python"].lines[0]
    assert sentence in inspection.to_json()


def test_no_code_of_the_users_runs() -> None:
    asked: list[str] = []

    class Refusing:
        def __refuse(self, *args: Any) -> Any:
            asked.append("a method")
            raise AssertionError("asked")

        __eq__ = __hash__ = __repr__ = __str__ = __len__ = __iter__ = __bool__ = __getattr__ = __refuse

        @property
        def value(self) -> Any:
            asked.append("a property")
            raise AssertionError("asked")

    cell = defined(
        "@jax.jit\ndef fn(x): return x if held is None else x * (1 if True else held.value)", held=Refusing()
    )
    assert versions(cell["fn"], X) == []
    cell["held"] = Refusing()
    assert versions(cell["fn"], X)[0].changed == (ChangedName("held", ""),)
    assert asked == []


def test_large_values_are_not_read_whole() -> None:
    held = {f"w{i}": np.zeros(3_000_000, np.float32) for i in range(50)}
    reached = NamedValues(defined("def fn(x): return held", held=held)["fn"]).values
    assert len(reached) == 50
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    many = defined("def fn(x): return deep, wide", deep=deep, wide=list(range(10_000_000)))["fn"]
    assert len(NamedValues(many).values) <= 201


@pytest.fixture
def no_compile_log() -> Iterator[None]:
    """The log, which an earlier test may have started, keeps some jaxprs of its newest records."""
    was_on = listening.is_on()
    listening.stop()
    LOG.clear()
    yield
    if was_on:
        listening.start()


def test_nothing_is_kept_of_a_function_that_is_gone(no_compile_log: None) -> None:
    gc.collect()
    before = len(traced_versions._known)
    fn, change = CASES["a closure"]()
    versions(fn, X)
    assert len(traced_versions._known) > before
    del fn, change
    gc.collect()
    jax.clear_caches()
    gc.collect()
    assert len(traced_versions._known) <= before
