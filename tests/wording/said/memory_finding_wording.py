"""Findings that cost memory."""

from wordings import constants

from jaxstage_ext.findings.memory import memory_finding_wording as wording

NAMES = ("w", "v", "b", "c", "d")
SIZE = 16_800_000

SAID = {
    **constants(wording),
    "captured: one": wording.captured_constants(("table",), 1, SIZE),
    "captured: many": wording.captured_constants(NAMES, 5, SIZE),
    "captured: without names": wording.captured_constants((), 2, SIZE),
    "pass as argument": wording.pass_as_argument(NAMES),
    "pass as argument: without names": wording.pass_as_argument(()),
    "not donated: one": wording.not_donated(("params",), SIZE),
    "not donated: many": wording.not_donated(NAMES, SIZE),
    "donate: one": wording.donate("jax.jit", "step", {"donate_argnames": ("params",)}),
    "donate: of a lambda's *args and **kwargs": wording.donate(
        "jax.jit", "<lambda>", {"donate_argnums": (1,), "donate_argnames": ("state",)}
    ),
    "donate: two": wording.donate("nnx.jit", "step", {"donate_argnames": ("net", "opt")}),
    "donate in equinox": wording.donate_in_equinox("all-except-first"),
    "donate in equinox: by no choice": wording.donate_in_equinox(""),
    "stacked residuals": wording.stacked_residuals(["In [2]:4"], 32, SIZE),
    "stacked residuals: of several lines": wording.stacked_residuals([f"In [2]:{n}" for n in range(3, 9)], 32, SIZE),
    "stacked residuals: of no line": wording.stacked_residuals([], 32, SIZE),
    "layer residuals": wording.layer_residuals(SIZE, 8, "block"),
    "layer residuals: without a name": wording.layer_residuals(SIZE, 8, ""),
    "checkpoint layer": wording.checkpoint_layer("block"),
    "checkpoint layer: without a name": wording.checkpoint_layer(""),
    "useless checkpoint": wording.useless_checkpoint(SIZE),
    "unread": wording.unread("table", 0.97, SIZE),
    "pass what is read": wording.pass_what_is_read("table"),
    "first key alone": wording.first_key_alone("keys", 32, "unsafe_rbg"),
    "keys of their own": wording.keys_of_their_own("keys", 32),
    "replicated state": wording.replicated_state(("params", "state"), "data", 8, SIZE),
    "shard as result": wording.shard_as_result("state", "result"),
    "shard state": wording.shard_state(("params", "state"), "data", 8),
    "unused donation: dtype": wording.unused_donation(
        ("p['w']",), "result['w']", "dtype", ("bf16[8,8]", "f32[8,8]"), SIZE
    ),
    "unused donation: sharding": wording.unused_donation(
        NAMES, "result['w']", "sharding", ("f32[8,8]", "f32[8,8]"), SIZE
    ),
    "make alike: dtype": wording.make_alike("p['w']", "result['w']", "dtype", "bf16[8,8]"),
    "make alike: layout": wording.make_alike("p['w']", "result['w']", "layout", "bf16[8,8]"),
    "index array: one-hot": wording.index_array(True, SIZE, 1_000_000),
    "index array: of a gather": wording.index_array(False, SIZE, 1_000_000),
    "whole intermediate": wording.whole_intermediate("f32[8192,32768]", 1_073_741_824, 0, 8),
    "in pieces": wording.in_pieces(1024, ("In [2]:3", "In [2]:4"), False),
    "in pieces: differentiated": wording.in_pieces(1024, ("In [2]:3",), True),
    "in pieces: no lines": wording.in_pieces(1024, (), False),
    "tile padding": wording.tile_padding("f32[100000,4,4]{1,2,0:T(4,128)}", SIZE, 1_000_000),
    "fill tiles": wording.fill_tiles(4, 128),
    "large temporaries": wording.large_temporaries("f32[60000,500,500]", 60_000_000_000, 1.2e11, 1.41),
    "map in batches": wording.map_in_batches(256),
    **{f"attention: {platform}": wording.attention(platform) for platform in ("cpu", "gpu", "tpu")},
}
