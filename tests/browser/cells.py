"""Cells that the browser tests run."""

from pathlib import Path

SETUP = """
%load_ext jaxstage_ext
import os, time
import jax
import jax.numpy as jnp
import jaxstage_ext
w, x = jnp.ones((128, 512)), jnp.ones((8, 128))
"""

LOSS = """
%%compile -o ins
def loss(w, x):
    h = jnp.tanh(x @ w)
    p = jax.nn.softmax(h)
    return jnp.sum(p * p)

loss(w, x)
"""

HELPERS = """
def scaled(q, k):
    return q @ k.T / jnp.sqrt(k.shape[-1])

def attention(q, k, v):
    with jax.named_scope("scores"):
        weights = jax.nn.softmax(
            scaled(q, k),
            axis=-1,
        )
    return jax.lax.fori_loop(0, 3, lambda i, acc: acc + weights @ v, jnp.zeros_like(v))

q = jnp.ones((16, 8))
"""

ATTENTION = "%compile attention(q, q, q)"

SHAPES_DO_NOT_FIT = """
%%compile
def broken(w, x):
    h = jnp.tanh(w)
    return h @ x

broken(w, x)
"""

SLOW_TO_TRACE = """
%%compile
def slow(x):
    while not os.path.exists({until!r}):
        time.sleep(0.05)
    return jnp.tanh(x)

slow(x)
"""


def slow_to_trace(until: Path) -> str:
    """A cell that traces until there is a file."""
    return SLOW_TO_TRACE.format(until=str(until))


HOSTILE = """
def f(x):
    with jax.named_scope("<script>window.pwned=1</script>"):
        return jnp.tanh(x)

f.__name__ = f.__qualname__ = '<img src=x onerror="window.pwned=1">'
jaxstage_ext.inspect(f, x)
"""

KERNEL = """
%load_ext jaxstage_ext
import functools, tempfile
import jax, jax.numpy as jnp
jax.config.update("jax_compilation_cache_dir", tempfile.mkdtemp())
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
x = jnp.ones((4, 4))
"""
WITH_EFFECTS = """
%%compile
@functools.partial(jax.jit, compiler_options={"xla_cpu_enable_fast_math": True})
def prints(x):
    jax.debug.print("x {}", x[0, 0])
    return jnp.tanh(x @ x.T).sum()

prints(x)
"""
AGAIN = "for n in (4, 5, 6): jax.jit(lambda x: x @ x)(jnp.ones((n, n)))"
