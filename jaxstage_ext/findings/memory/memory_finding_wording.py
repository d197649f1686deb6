"""What is said of findings that cost memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jaxstage_ext.report.text.units import plural, scaled, share

_MOST_NAMED = 3


def _named(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    listed = ", ".join(names[:_MOST_NAMED])
    return f"{listed} and {more} more" if more > 0 else listed


def captured_constants(names: Sequence[str], count: int, size: int) -> str:
    """Arrays that the function closes over."""
    who = _named(names) or plural(count, "array")
    verb, what = ("is", "a constant") if count < 2 else ("are", "constants")
    return (
        f"{who} {verb} captured as {what} of {scaled(size, 'B')}: XLA compiles the values into the program, beside the "
        "memory that the caller holds, and folds what is computed of them."
    )


def pass_as_argument(names: Sequence[str]) -> str:
    """The change, where no diff can be written."""
    return "\n".join(f"# pass {name} to the function as an argument" for name in names[:_MOST_NAMED] or ["the array"])


CALLED_WITH_IT = "Every call has to pass it then."


def not_donated(names: Sequence[str], size: int) -> str:
    """Arguments whose memory their new values could take."""
    verb, its = ("is", "its new value is a result") if len(names) < 2 else ("are", "their new values are results")
    return f"{_named(names)} {verb} not donated, and {its}: {scaled(size, 'B')} are held twice while the program runs."


def donate(jit: str, function: str, options: Mapping[str, tuple[str | int, ...]]) -> str:
    """The change, where no diff can be written."""
    listed = ", ".join(f"{option}={given!r}" for option, given in options.items())
    name, of = (f"{function} = ", function) if function.isidentifier() else ("", "…")
    return f"{name}{jit}({of}, {listed})"


def donate_in_equinox(which: str) -> str:
    """The change to a function that equinox jits; `which` is "" where none of its choices donates these alone."""
    return f'@eqx.filter_jit(donate="{which}")' if which else _EQUINOX_ORDER


_EQUINOX_ORDER = (
    '# make what is still needed after the call the first argument, then @eqx.filter_jit(donate="all-except-first")'
)
DONATED_IS_GONE = "A donated array cannot be used after the call: let the caller go on with the result."


def stacked_residuals(lines: Sequence[str], length: int, size: int) -> str:
    """What a scan keeps for its backward pass; `lines` are those of its body that compute it."""
    verb = "computes" if len(lines) == 1 else "compute"
    what = f"what {_named(lines)} {verb} in each" if lines else "what each"
    return (
        f"The backward pass of a scan reads {what} of {length} iterations{'' if lines else ' computes'}, which are "
        f"stacked: {scaled(size, 'B')}."
    )


CHECKPOINT_BODY = "jax.lax.scan(jax.checkpoint(body, prevent_cse=False), …)"
BODY_TWICE = "The backward pass then computes the body once more in each iteration."


def unread(name: str, part: float, size: int) -> str:
    """An argument of which a part is never read."""
    return f"Nothing reads {share(part)} of {name}: {scaled(size, 'B')} are passed in vain."


def pass_what_is_read(name: str) -> str:
    """The change."""
    return f"# slice {name} before the call, and pass the part that is read"


A_BATCH = "a batch of keys"


def first_key_alone(name: str, count: int, generator: str) -> str:
    """Keys of a batch that change nothing."""
    return (
        f"Of the {count} keys in {name} the first alone is read: {generator} draws all rows of a batch from its first "
        f"key, so the others change nothing."
    )


def keys_of_their_own(name: str, count: int) -> str:
    """The change."""
    return f'{name} = jax.random.split(jax.random.key(seed, impl="threefry2x32"), {count})'


def replicated_state(names: Sequence[str], axis: str, count: int, size: int) -> str:
    """State of which each device holds a whole copy."""
    verb = "is" if len(names) < 2 else "are"
    return (
        f"{_named(names)} {verb} replicated over the {count} devices of axis {axis}, over which the batch is sharded: "
        f"{scaled(size, 'B')} per device."
    )


def shard_state(names: Sequence[str], axis: str, count: int) -> str:
    """The change."""
    return "\n".join(
        [
            "def over(x):  # what lies on other axes of the mesh stays there",
            "    spec = [*getattr(x.sharding, 'spec', ()), *[None] * x.ndim][: x.ndim]",
            f"    free = [d for d in range(x.ndim) if spec[d] is None and x.shape[d] % {count} == 0]",
            "    if free:",
            f"        spec[max(free, key=lambda d: x.shape[d])] = {axis!r}",
            "    return NamedSharding(mesh, P(*spec))",
            *(f"{name} = jax.device_put({name}, jax.tree.map(over, {name}))" for name in names[:_MOST_NAMED]),
            "# and the same shardings as out_shardings of jax.jit, so that the new values stay so",
        ]
    )


OTHER_COLLECTIVES = (
    "The collectives become others, as each device gathers the parameters where it uses them: trying it shows the "
    "bytes sent."
)


def unused_donation(names: Sequence[str], result: str, differs: str, types: tuple[str, str], size: int) -> str:
    """Donated arguments whose memory no result takes; `types` are those of the largest and of its result."""
    verb = "is" if len(names) < 2 else "are"
    given, made = types
    detail = f" ({given} and {made})" if given != made else f" ({given})"
    return (
        f"{_named(names)} {verb} donated, and {result} does not take the memory because its {differs} is another"
        f"{detail}: {scaled(size, 'B')} of results have memory of their own."
    )


def shard_as_result(argument: str, result: str) -> str:
    """The change, where a device holds less of the result."""
    return f"# shard {argument} as {result} is, from the first call on: each device then holds its part alone"


def make_alike(name: str, result: str, differs: str, given: str) -> str:
    """The change."""
    if differs == "dtype":
        return f"# return {result} as {given.partition('[')[0]}, the dtype of {name}"
    return f"# return {result} with the {differs} of {name}"


def index_array(is_one_hot: bool, size: int, data: int) -> str:
    """An array of indices, or of ones at indices, that is larger than the data."""
    what = "A one-hot array" if is_one_hot else "The indices of a gather, written out,"
    verb = "takes" if is_one_hot else "take"
    return f"{what} {verb} {scaled(size, 'B')}, and the data {scaled(data, 'B')}."


TAKE_ROWS = "table[ids]  # instead of jax.nn.one_hot(ids, n) @ table"
ONE_INDEX = (
    "# one index an element: x.reshape(-1)[flat], or jnp.take(x, idx, axis) where all positions share their indices"
)
NOT_COMPILED = "It was not compiled, so that XLA writes the indices out is concluded from the jaxpr."


def useless_checkpoint(size: int) -> str:
    """A checkpoint around all that is differentiated."""
    return (
        f"jax.checkpoint is around all that is differentiated, so the backward pass begins by computing all of it "
        f"again, and {scaled(size, 'B')} are live at once as without it."
    )


MEMORY_TOO = "Trying it shows what it does to the memory needed too."
CHECKPOINT_EACH = "# take jax.checkpoint away here, or put it around each layer, one after another"


def whole_intermediate(shape: str, size: int, dimension: int, count: int) -> str:
    """A value that pieces of would do."""
    return (
        f"{shape}, {scaled(size, 'B')}, is in memory whole, made of smaller arrays and reduced to smaller ones: in "
        f"{count} pieces along dimension {dimension}, one after another, a piece takes {scaled(size / count, 'B')}."
    )


def in_pieces(batch: int, lines: Sequence[str], is_backward: bool) -> str:
    """The change, where no diff can be written."""
    where = f" ({_named(lines)})" if lines else ""
    function = "jax.checkpoint(f)" if is_backward else "f"
    size = f", batch_size={batch}" if batch > 1 else ""
    return f"# f: what is computed of one row{where}\njax.lax.map({function}, xs{size})"


ONE_PIECE_AFTER_ANOTHER = "The pieces run one after another, which takes longer where one does not fill the device."
FORWARD_AGAIN = " With jax.checkpoint the backward pass computes each piece once more."
AN_ARRAY = "An array"


def tile_padding(shape: str, size: int, data: int) -> str:
    """An array that fills its tiles in part."""
    return f"{shape} takes {scaled(size, 'B')} for {scaled(data, 'B')} of data, as its tiles are filled in part."


def fill_tiles(size: int, to: int) -> str:
    """The change."""
    return f"# the dimension of {size} takes the place of {to}: let it be a multiple, or put a larger one in its place"


def large_temporaries(shape: str, size: int, temporaries: float, part: float) -> str:
    """A program whose temporaries take most of the device's memory."""
    return (
        f"{shape}, {scaled(size, 'B')}, is the largest of the temporaries, which take {scaled(temporaries, 'B')}; the "
        f"program needs {share(part)} of the device's memory."
    )


IN_BATCHES = "The batches are computed one after the other."
RECOMPUTE_OR_SPLIT = (
    "# jax.checkpoint around what computes it, so that the backward pass computes it again,\n"
    "# or a smaller batch: sum the gradients of several"
)
IN_PARTS = "# compute it in parts, one after the other: jax.lax.map(f, xs, batch_size=…) over its first dimension"


def map_in_batches(size: int) -> str:
    """The change of a vmap."""
    return f"jax.lax.map(f, xs, batch_size={size})  # in place of jax.vmap(f)(xs), which computes all at once"


def attention(platform: str) -> str:
    """The change of attention whose scores are written out."""
    if platform == "gpu":
        return (
            'jax.nn.dot_product_attention(q, k, v, implementation="cudnn")  # bf16 or f16: no scores in memory\n'
            "# or block by block of queries, with jax.checkpoint around each block"
        )
    return (
        "# attention without the scores in memory: block by block of queries, with jax.checkpoint around each block\n"
        "# on a TPU also jax.experimental.pallas.ops.tpu.flash_attention"
    )


def layer_residuals(size: int, count: int, layer: str) -> str:
    """What the backward pass reads of an unrolled forward pass."""
    where = f", most of it of {layer}" if layer else ""
    return (
        f"The backward pass reads {scaled(size, 'B')} of the forward pass{where}; with a checkpoint around each of "
        f"{count} parts of it, one part after another is computed again."
    )


def checkpoint_layer(layer: str) -> str:
    """The change, where no diff can be written."""
    return f"jax.checkpoint({layer or 'layer'})  # around each layer; flax has nn.remat and nnx.remat"


FORWARD_TWICE = "The forward pass is computed twice then, about a third more FLOPs."
