"""Cells that the browser tests run."""

SETUP = """
%load_ext jaxstage_ext
import time
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
    time.sleep(4)
    return jnp.tanh(x)

slow(x)
"""

HOSTILE = """
def f(x):
    with jax.named_scope("<script>window.pwned=1</script>"):
        return jnp.tanh(x)

f.__name__ = f.__qualname__ = '<img src=x onerror="window.pwned=1">'
jaxstage_ext.inspect(f, x)
"""
