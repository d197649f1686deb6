"""The private names of jax and jaxlib that the rest relies on, one file for each topic. Nothing else imports any.

Checked with jax 0.10.2, 0.11.2 and 0.12.0.1.
"""
