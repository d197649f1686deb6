"""Ten programs with one fault each, and what a reader edits where the product's change is no diff."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Fault:
    """A file of `programs/`, the call in it that is looked at, and how the change that is found becomes an edit.

    `edits` are pieces of the program and what they become; `taken` are the pieces of those that the reader has from
    the outputs, which the test looks for there. Without edits the change is a diff.
    """

    name: str
    call: str
    target: str
    kind: str
    edits: tuple[tuple[str, str], ...] = ()
    taken: tuple[str, ...] = ()
    mesh: str = ""
    call_after: str = ""
    asked: str = "notebook"
    """How the reader asks: in a notebook, by tools, or on a command line."""

    @property
    def program(self) -> Path:
        return FOLDER / "programs" / f"{self.name}.py"

    @property
    def mended(self) -> Path:
        return FOLDER / "mended" / f"{self.name}.py"

    @property
    def transcript(self) -> Path:
        return FOLDER / "transcripts" / f"{self.name}.md"


FAULTS = (
    Fault("promotion", "embed(w, x)", "v5e:1x1", "operand that forces a promotion",
          (("x + positions", "x + positions.astype(jnp.bfloat16)"),), ("positions.astype(jnp.bfloat16)",)),
    Fault("undonated_state", "step(params, batch)", "h100", "missing donation", asked="command line"),
    Fault("gathered_rows", "layer(w, x)", "v5e:2x2", "collective",
          (("jax.lax.with_sharding_constraint(x @ w, P(None, None))", "x @ w"),),
          ("leave out the constraint to P(None, None)",), mesh="data=4", asked="tools"),
    Fault("repeated_batch", "gradient(w, x)", "v5e:2x2", "more FLOPs than the jaxpr has",
          (('"x": P()', '"x": P("data")'),), ("x = jax.device_put(x,", "P('data')"), mesh="data=4"),
    Fault("whole_sort", "best(scores)", "h100", "cheaper form of an operation",
          (("return jnp.argsort(scores)[-8:]",
            "values, indices = jax.lax.top_k(scores, 8)\n    return indices[::-1]"),),
          ("values, indices = jax.lax.top_k(", ", 8)", "largest first"), asked="tools"),
    Fault("widened_product", "forward(w, x)", "h100", "precision above what is needed",
          (("x.astype(jnp.float32) @ w.astype(jnp.float32)",
            'jnp.einsum("ij,jk->ik", x, w, preferred_element_type=jnp.float32)'),),
          ("jnp.einsum(", "preferred_element_type=jnp.float32)")),
    Fault("repeated_factor", "run(a, xs)", "h100", "the same work in every iteration",
          (("    def body", "    factor = jnp.linalg.cholesky(a @ a.T + jnp.eye(256))\n\n    def body"),
           ("total, x):\n        factor = jnp.linalg.cholesky(a @ a.T + jnp.eye(256))\n", "total, x):\n")),
          ("cholesky", "compute it once before the loop"), asked="tools"),
    Fault("captured_table", "embed(ids)", "local", "large captured constant", call_after="embed(ids, table)",
          asked="command line"),
    Fault("same_key", "sample(key)", "local", "random key used twice",
          (("    a = jax", "    key, own = jax.random.split(key)\n    a = jax"), ("uniform(key,", "uniform(own,")),
          ("key, own = jax.random.split(key)", "before tests/agents/programs/same_key.py:5", "give own to uniform")),
    Fault("host_callback", "run(x)", "local", "transfers to and from the host",
          (("        jax.debug.callback(print, x.sum())\n        return x, None",
            "        return x, x.sum()"),
           ("    return jax.lax.scan(body, x, length=500)[0]",
            "    x, sums = jax.lax.scan(body, x, length=500)\n    jax.debug.callback(print, sums)\n    return x")),
          ("return the values from the loop and print them once after it",)),
)  # fmt: skip
