import jax
import jax.numpy as jnp


@jax.jit(donate_argnames=('params',))
def step(params, batch):
    def loss(p):
        return (jnp.tanh(batch @ p) ** 2).sum()

    return params - 0.1 * jax.grad(loss)(params)


params = jax.ShapeDtypeStruct((4096, 4096), jnp.float32)
batch = jax.ShapeDtypeStruct((64, 4096), jnp.float32)
