"""The names of JAX's own stages, as `STAGES` of `stage_list.py` has them."""

TRACE, LOWER, COMPILE = "trace", "lower", "compile"
