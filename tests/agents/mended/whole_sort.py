import jax
import jax.numpy as jnp


def best(scores):
    values, indices = jax.lax.top_k(scores, 8)
    return indices[::-1]


scores = jax.ShapeDtypeStruct((200_000,), jnp.float32)
