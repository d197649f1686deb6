import jax
import jax.numpy as jnp


def run(x):
    def body(x, _):
        x = jnp.sin(x)
        jax.debug.callback(print, x.sum())
        return x, None

    return jax.lax.scan(body, x, length=500)[0]


x = jax.ShapeDtypeStruct((1024,), jnp.float32)
