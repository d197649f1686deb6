"""What is said of findings that cost operations."""

from __future__ import annotations

from collections.abc import Sequence

from jaxstage_ext.core.promotion.promotion_values import SourceKind
from jaxstage_ext.report.text.units import duration, plural, scaled, share

_MOST_NAMED = 3
AN_ARGUMENT = "an argument"
A_CAPTURED_ARRAY = "a captured array"


def _named(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    listed = ", ".join(names[:_MOST_NAMED])
    return f"{listed} and {more} more" if more > 0 else listed


def scalar(value: float) -> str:
    """A NumPy or JAX scalar with a dtype of its own."""
    return f"the scalar {value:g}"


def made_by(primitive: str, line: str) -> str:
    """An operand without a name."""
    return f"the result of {primitive} in {line}" if line else f"the result of {primitive}"


def promoted(names: Sequence[str], narrow: str, wide: str, count: int, products: int) -> str:
    """What an operand makes wider."""
    verb = "is" if len(names) < 2 else "are"
    among = f", {plural(products, 'matrix product')} among them" if products else ""
    said = f"{_named(names)} {verb} {wide}, which makes {plural(count, 'value')} {wide} that would be {narrow}{among}."
    return said[0].upper() + said[1:] if said.startswith(("the ", "an ", "a ")) else said


def narrow_it(name: str, kind: SourceKind, dtype: str) -> str:
    """The change: the operand in the narrow dtype."""
    if kind is SourceKind.LITERAL and name.isidentifier():
        return f"float({name})  # a Python number, which takes the dtype of the array, or jnp.{dtype}({name})"
    if kind is SourceKind.LITERAL:
        number = name.removeprefix("the scalar ")
        return f"{number}  # a Python number, which takes the dtype of the array, or jnp.{dtype}({number})"
    if kind is SourceKind.MADE:
        return f"# {name}: make it with dtype=jnp.{dtype}, or .astype(jnp.{dtype}) before it is used"
    return f"{name}.astype(jnp.{dtype})"


def is_narrow_enough(narrow: str, wide: str, is_emulated: bool) -> str:
    """What to look at before the change."""
    emulated = f" XLA computes {narrow} in {wide} on a CPU, where the change may save nothing." if is_emulated else ""
    return f"Whether {narrow} is precise enough for these values is not known.{emulated}"


LATENCY = "A loop waits between its iterations, which no lower bound has."
COPIES_TO_INDEX = (
    "Indexing whole rows, x.at[jnp.arange(n), start], needs no loop, but a TPU copies all of x for it unless the last "
    "two dimensions of x fill its tiles of 8 x 128."
)
_INDEXED = (
    "# index whole rows instead of slices that start at an index:\n"
    "x.at[jnp.arange(n), start].set(rows)      # for jax.vmap of dynamic_update_slice\n"
    "x[jnp.arange(n)[:, None], start[:, None] + jnp.arange(size)]  # for jax.vmap of dynamic_slice or jnp.roll"
)


def became_loop(primitive: str, trips: int | None) -> str:
    """A loop that stands for one operation."""
    times = f"{trips:,} iterations" if trips is not None else "an unknown number of iterations"
    return f"The compiler makes {primitive} a loop of {times}, one after the other."


def without_loop(primitive: str) -> str:
    """The change."""
    if primitive.startswith(("scatter", "gather", "dynamic_")):
        return _INDEXED
    return f"# {primitive} over fewer or other dimensions; no other form of it is known"


def slow_convolution(count: int) -> str:
    """A convolution that XLA for CPU emits as plain loops."""
    what = "A convolution" if count == 1 else f"{count} convolutions"
    verb = "is" if count == 1 else "are"
    return (
        f"{what} in a loop {verb} not channels-last, and XLA for CPU brings only those outside of loops into the form "
        "that its library takes: it runs as plain code, tens of times slower."
    )


def canonical(is_of_derivative: bool) -> str:
    """The change."""
    if is_of_derivative:
        return "# differentiation makes it: unroll the loop (unroll=True), or take the step outside of it"
    return (
        'jax.lax.conv_general_dilated(x, kernel, strides, padding, dimension_numbers=("NHWC", "HWIO", "NHWC"))\n'
        "# with x and kernel in these orders, or transposed before and after; or unroll the loop"
    )


ONE_AFTER_THE_OTHER = (
    "lax.map runs its elements one after the other, which is slower where one of them does not fill the device; how "
    "often each branch is taken is known only in a run."
)


def all_branches(count: int, batch: int, flops: Sequence[float]) -> str:
    """A conditional under vmap."""
    which = "both branches run" if count == 2 else f"all {count} branches run"
    each = ", ".join(scaled(one, "FLOP") for one in flops[:_MOST_NAMED])
    return f"Under vmap {which} for each of {batch:,} elements, and a select takes one result: {each}."


def one_branch() -> str:
    """The change."""
    return (
        "# where the condition is the same for all elements, take it out of jax.vmap:\n"
        "jax.lax.cond(condition, jax.vmap(first), jax.vmap(second), xs)\n"
        "# else, where one element is work enough: jax.lax.map(f, xs), with batch_size=1"
    )


KEPT_IN_MEMORY = "What is computed before the loop is kept in memory while it runs."
ALSO_WITHOUT_BRANCH = (
    " It is computed once then, even where no iteration takes the branch of jax.lax.cond that reads it."
)


def repeated(names: Sequence[str], trips: int | None, is_in_branch: bool = False) -> str:
    """What a loop repeats."""
    times = f"all {trips:,} iterations" if trips is not None else "each iteration"
    times = "the iterations that take a branch" if is_in_branch else times
    return f"{_named(tuple(dict.fromkeys(names)))}: the same in {times} of a loop, as nothing changes of what is read."


def before_the_loop(lines: Sequence[str]) -> str:
    """The change."""
    where = f" ({_named(lines)})" if lines else ""
    return f"# compute it once before the loop{where}, and use the result in its body"


TAKES_MEMORY = "Without jax.checkpoint the residuals stay in memory until the backward pass; try it, or a policy."


def masked(count: int, hidden: float) -> str:
    """Products that a causal mask hides a part of."""
    what = "a matrix product" if count == 1 else f"{count} matrix products"
    return f"A causal mask hides {share(hidden)} of what {what} of attention compute{'s' if count == 1 else ''}."


def without_masked(platform: str) -> str:
    """The change."""
    blocks = "# or block by block of queries, each with the keys up to its end: k[:, :end], v[:, :end]"
    if platform == "gpu":
        first = 'jax.nn.dot_product_attention(q, k, v, is_causal=True, implementation="cudnn")  # bf16 or f16'
    elif platform == "tpu":
        first = "# jax.experimental.pallas.ops.tpu.splash_attention, which leaves hidden blocks out"
    else:
        return blocks.replace("# or ", "# ")
    return f"{first}\n{blocks}"


NOT_THE_SAME_BITS = "The last bits of the result differ."
TIES = "Among equal elements other indices may be given, and NaN counts as the largest."


def inverse_of_product(size: int, count: int) -> str:
    """An inverse that is only multiplied."""
    products = "a product" if count == 1 else f"{count} products"
    return (
        f"The inverse of a matrix of {size:,} x {size:,} is computed for {products} alone: to solve the linear system "
        "takes fewer FLOPs and is more precise."
    )


def solve(matrix: str) -> str:
    """The change."""
    return (
        f"jnp.linalg.solve({matrix}, b)  # in place of jnp.linalg.inv({matrix}) @ b; "
        f"of y @ inv({matrix}) it is solve({matrix}.T, y)\n"
        f"# where {matrix} is symmetric and positive definite: "
        f"jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor({matrix}), b)"
    )


def sorted_for_few(size: int, count: int) -> str:
    """A sort of which only a few elements at an end are read."""
    return f"{size:,} elements are sorted, and {plural(count, 'of them is', 'of them are')} read."


def top_k(count: int, is_last: bool) -> str:
    """The change."""
    if is_last:
        return f"values, indices = jax.lax.top_k(x, {count})  # the largest, largest first, without sorting"
    return (
        f"values, indices = jax.lax.top_k(-x, {count})  # the smallest, smallest first, without sorting\n"
        "values = -values"
    )


def cumulative(operation: str, shape: str, axis: int) -> str:
    """A cumulative sum on a CPU."""
    return (
        f"XLA for CPU computes {operation} of {shape} over axis {axis} in windows, so that each element is "
        "read and combined many times; a scan over that axis takes each once."
    )


def as_scan(operation: str, axis: int) -> str:
    """The change."""
    rows = "x" if axis == 0 else f"jnp.moveaxis(x, {axis}, 0)"
    combined, start = {
        "cumsum": ("so_far + row", "jnp.zeros_like(rows[0])"),
        "cumprod": ("so_far * row", "jnp.ones_like(rows[0])"),
        "cummax": ("jnp.maximum(so_far, row)", "rows[0]"),
        "cummin": ("jnp.minimum(so_far, row)", "rows[0]"),
    }[operation]
    made = f"jax.lax.scan(lambda so_far, row: ({combined},) * 2, {start}, rows)[1]"
    result = f"result = {made}" if axis == 0 else f"result = jnp.moveaxis({made}, 0, {axis})"
    return f"rows = {rows}\n{result}"


def jacobian(is_reverse: bool, passes: int, others: int) -> str:
    """A Jacobian in the mode that takes more derivatives."""
    if is_reverse:
        return (
            f"jax.jacrev runs the backward pass once for each of {plural(passes, 'result')}, and the arguments have "
            f"{plural(others, 'element')}: forward mode takes as many derivatives as there are elements of arguments."
        )
    return (
        f"jax.jacfwd takes a derivative for each of {plural(passes, 'element')} of the arguments, and there "
        f"{'is' if others == 1 else 'are'} {plural(others, 'result')}: reverse mode takes one for each result."
    )


def other_mode(is_reverse: bool, name: str) -> str:
    """The change."""
    if is_reverse:
        return f"jax.jacfwd({name})  # in place of jax.jacrev({name}), with the same options"
    return f"jax.jacrev({name})  # in place of jax.jacfwd({name}), with the same options; jax.grad of one number"


def recomputed(part: float, filled: float) -> str:
    """What checkpoints compute once more, though there is memory."""
    return (
        f"jax.checkpoint recomputes {share(part)} of the FLOPs in the backward pass, and the program takes "
        f"{share(filled)} of the device's memory."
    )


def without_checkpoint() -> str:
    """The change."""
    return (
        "# leave jax.checkpoint out, or let it save the products:\n"
        "jax.checkpoint(f, policy=jax.checkpoint_policies.dots_with_no_batch_dims_saveable)"
    )


def widened(count: int, narrow: str) -> str:
    """Products of converted operands."""
    what = "A matrix product has" if count == 1 else f"{count} matrix products have"
    each = "its" if count == 1 else "their"
    return (
        f"{what} f32 operands that are {narrow} values converted: a product of {narrow} that accumulates in f32 gives "
        f"the same, on the units for {narrow} and without {each} copies."
    )


def accumulate() -> str:
    """The change."""
    return "jnp.einsum(spec, a, b, preferred_element_type=jnp.float32)  # a and b without astype(jnp.float32)"


def narrow_sum(narrow: str, steps: int) -> str:
    """A sum that a scan carries."""
    return (
        f"A scan adds up {steps:,} values in {narrow}, of which the later ones change the sum little or not at all: "
        "its precision is used up."
    )


def wider_sum() -> str:
    """The change."""
    return "jnp.zeros(shape, jnp.float32)  # as the sum's start, and .astype after the scan"


def small_kernels(launches: int, bound: float, here: int) -> str:
    """Many kernels that compute little."""
    where = "" if here >= launches else f", {here:,} of them here"
    return (
        f"A run launches {launches:,} kernels{where}, and its lower bound is {duration(bound)}: that is less than a "
        "GPU takes to launch them, at 1 µs or more each."
    )


def unroll(steps: int, is_scan: bool) -> str:
    """The change of a loop."""
    if is_scan:
        return f"unroll={steps}  # for jax.lax.scan or fori_loop: XLA fuses across the iterations"
    return "# fewer iterations with more work in each: jax.vmap over what is independent"


def batched_map(size: int) -> str:
    """The change of a map."""
    return (
        f"jax.lax.map(f, xs, batch_size={size})  # elements computed together, one batch after the other\n"
        "# or jax.vmap(f)(xs), where the memory suffices for all at once"
    )


def stacked() -> str:
    """The change of many arrays."""
    return "# stack arrays of one shape, and apply jax.vmap, or one operation, to all of them"


DEFAULT_PRECISION = (
    "A product of f32 takes fewer bits by default on such a unit; precision=jax.lax.Precision.HIGHEST keeps them."
)


def written_out(count: int, flops: float) -> str:
    """Products and sums that are matrix products."""
    what = "A sum of a product of broadcast arrays is a matrix product"
    what = what if count == 1 else f"{count} sums of products of broadcast arrays are matrix products"
    return f"{what} of {scaled(flops, 'FLOP')}, which vector units compute while the matrix unit is idle."


def as_dot() -> str:
    """The change."""
    return 'jnp.einsum("mk,kn->mn", a, b)  # in place of jnp.sum(a[:, :, None] * b[None], axis=1)'


BARRIER_ON_PURPOSE = "A barrier may be there for its rounding or its order."


def barrier(count: int, size: float) -> str:
    """Barriers within what would be one fusion."""
    what = "An optimization_barrier keeps" if count == 1 else f"{count} optimization_barriers keep"
    return f"{what} elementwise operations from being fused: {scaled(size, 'B')} are written to memory and read back."


def without_barrier() -> str:
    """The change."""
    return "# leave jax.lax.optimization_barrier out"


NEEDS_A_BATCH = "It helps where the work is on rows that do not need each other, as those of a batch."


def idle_axis(axis: str, devices: int) -> str:
    """A mesh axis over which nothing is sharded."""
    return f"Nothing is sharded over {axis}: its {devices:,} devices all compute the same."


def shard_batch(name: str, axis: str) -> str:
    """The change."""
    if not name:
        return f"# shard rows of the batch, or columns of the weights, over {axis} too, or make the mesh without it"
    return f"{name} = jax.device_put({name}, jax.NamedSharding(mesh, jax.P({axis!r})))  # its rows over {axis}"
