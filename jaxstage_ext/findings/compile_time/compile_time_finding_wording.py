"""What is said of findings that cost compile time."""

from __future__ import annotations

from collections.abc import Sequence

from jaxstage_ext.report.text.units import duration, plural, scaled

_MOST_NAMED = 3
EACH_CALL_COMPUTES_IT = "As an argument it is computed in every call; what is computed before the call costs neither."

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


SCAN_INSTEAD = (
    "def step(carry, x):  # one step of the recurrence, compiled once\n"
    "    carry = …\n"
    "    return carry, carry\n"
    "jax.lax.scan(step, init, xs)[1]  # in place of jax.lax.associative_scan"
)
ONE_AFTER_THE_OTHER = (
    "A scan runs its steps one after the other: faster on a CPU, and slower on a GPU or TPU where one step does not "
    "fill the device."
)


def levels(equations: int, total: int) -> str:
    """What an associative scan writes out."""
    return (
        "jax.lax.associative_scan writes its function out twice for each level, of which a sequence of n elements has "
        f"log2(n): {equations:,} of the {plural(total, 'equation')} of the jaxpr."
    )


def grows(count: int, equations: int, total: int) -> str:
    """An array that a Python loop makes longer."""
    return (
        f"A Python loop makes an array longer in each of {count:,} iterations, so that each has shapes of its own and "
        f"is traced and compiled: {equations:,} of the {plural(total, 'equation')} of the jaxpr."
    )


def write_into(count: int) -> str:
    """The change: an array of its final length."""
    return (
        f"out = jnp.zeros(({count + 1}, *x.shape), x.dtype).at[0].set(x)  # of its final length, before the loop\n"
        f"out = jax.lax.fori_loop(1, {count + 1}, lambda i, out: out.at[i].set(…), out)\n"
        "# or jax.lax.scan, which stacks what each step returns"
    )


def scan_template(count: int) -> str:
    """The change, where no diff can be written."""
    return "\n".join(
        (
            f"stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *layers)  # once, of all {count:,} layers",
            "x, _ = jax.lax.scan(lambda x, layer: (block(layer, x), None), x, stacked)  # nn.scan, nnx.scan in flax",
        )
    )


def _listed(names: Sequence[str]) -> str:
    shown = [*names[:_MOST_NAMED], *([f"{len(names) - _MOST_NAMED} more"] if len(names) > _MOST_NAMED else [])]
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))


def folded(operations: Sequence[str], names: Sequence[str], size: int, seconds: float | None) -> str:
    """Operations on captured arrays that XLA computes while it compiles."""
    of = _listed(names) if names else "a captured array"
    took = "" if seconds is None else f", in {duration(seconds)}"
    return (
        f"XLA's constant_folding computes {_listed(operations)} of {of} ({scaled(size, 'B')}) while it compiles{took}, "
        "since no argument takes part."
    )


def compute_before(names: Sequence[str]) -> str:
    """The change."""
    return "\n".join(
        (
            "# compute it once before the jitted function, and pass the result as an argument,",
            *(f"# or pass {name} as an argument" for name in names[:_MOST_NAMED] or ["the array"]),
        )
    )


def address_in_key(function: str, primitive: str) -> str:
    """A program whose cache key is another in every process."""
    of = f" for {primitive}" if primitive else ""
    return (
        f"No other process finds {function} in the persistent cache: its StableHLO holds the address of a Python "
        f"object{of}, which is another in each."
    )


def constant_in_key(function: str, constants: Sequence[tuple[str, str]], entries: int) -> str:
    """A program that is written to the persistent cache once for each value of a constant."""
    was, now = constants[0]
    more = f" and {len(constants) - 1} more" if len(constants) > 1 else ""
    return (
        f"{function} missed the persistent cache, which has {plural(entries, 'entry', 'entries')} of its name, because "
        f"it holds a value as a constant: {now}, was {was}{more}."
    )


def unreadable_entry(function: str) -> str:
    """An entry that JAX can neither read nor replace."""
    return f"The entry of {function} in the persistent cache cannot be read, and JAX never writes it anew."


WITHOUT_ADDRESS = "# use jax.shard_map in place of custom_partitioning, whose program is the same in every process"
VALUE_AS_ARGUMENT = "# pass the value to the jitted function as an argument"


def delete_entry(file: str) -> str:
    """The change: JAX writes the entry anew where there is none."""
    return f"os.remove({file!r})"
