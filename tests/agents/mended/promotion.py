import jax
import jax.numpy as jnp

positions = jnp.sin(jnp.arange(128.0 * 256).reshape(128, 256))


def embed(w, x):
    h = x + positions.astype(jnp.bfloat16)
    return jax.nn.gelu(h @ w) @ w.T


w = jax.ShapeDtypeStruct((256, 1024), jnp.bfloat16)
x = jax.ShapeDtypeStruct((32, 128, 256), jnp.bfloat16)
