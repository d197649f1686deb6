"""Whether JAX still runs what the code says."""
