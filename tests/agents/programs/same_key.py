import jax


def sample(key):
    a = jax.random.normal(key, (1024,))
    b = jax.random.uniform(key, (1024,))
    return a + b


key = jax.random.key(0)
