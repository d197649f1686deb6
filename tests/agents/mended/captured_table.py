import jax
import jax.numpy as jnp

table = jax.random.normal(jax.random.key(0), (200_000, 32))


@jax.jit
def embed(ids, table):
    return jnp.asarray(table)[ids].sum(-1)


ids = jax.ShapeDtypeStruct((64,), jnp.int32)
