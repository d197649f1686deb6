import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


@jax.grad
def gradient(w, x):
    return jnp.mean(jax.nn.relu(x @ w) ** 2)


w = jax.ShapeDtypeStruct((512, 512), jnp.float32)
x = jax.ShapeDtypeStruct((65_536, 512), jnp.float32)
specs = {"w": P(), "x": P("data")}
