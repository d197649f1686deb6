"""What is said of findings that cost compile time."""

from __future__ import annotations

from jaxstage_ext.report.text.units import plural

HAS_SHARDINGS = "its arguments have shardings of their own, which those of stacked layers would have to follow"
SCAN_IS_A_LOOP = (
    "A scan runs as a loop: XLA fuses nothing across two bodies. The parameters have to be stacked where they are "
    "made, or each call stacks them."
)


def compiled_again(function: str, count: int, why: str) -> str:
    """Compiles after the first, and what differed."""
    times = "again" if count == 1 else f"{plural(count, 'more time')}"
    return f"{function} was compiled {times} in this process, because {why}."


def advised(sentence: str, code: str) -> str:
    """The change, as the compile log gives it."""
    return f"# {sentence}\n{code}" if code else f"# {sentence}"


def unrolled(count: int, equations: int, total: int, is_loop: bool) -> str:
    """Equal bodies in the jaxpr."""
    made = "A Python loop unrolls" if is_loop else "Calls one after another make"
    return f"{made} {count:,} equal blocks, {equations:,} of the {plural(total, 'equation')} of the jaxpr."


def scan_template(count: int) -> str:
    """The change, where no diff can be written."""
    return "\n".join(
        (
            f"stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *layers)  # once, of all {count:,} layers",
            "x, _ = jax.lax.scan(lambda x, layer: (block(layer, x), None), x, stacked)  # nn.scan, nnx.scan in flax",
        )
    )
