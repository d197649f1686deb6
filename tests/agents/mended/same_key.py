import jax


def sample(key):
    key, own = jax.random.split(key)
    a = jax.random.normal(key, (1024,))
    b = jax.random.uniform(own, (1024,))
    return a + b


key = jax.random.key(0)
