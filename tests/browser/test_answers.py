"""A newcomer's walk: an unmodified flax transformer step on a TPU slice and on GPUs that are not here.

Five questions, answered on one tab in words; each number shown is that of the Python API, which is held against XLA's
own where XLA has one.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import compiled_once
import pytest
from absent import needs

from tests.browser.legible import defects
from tests.browser.notebook_page import settle

if TYPE_CHECKING:
    from tests.browser.conftest import Opener
    from tests.browser.notebook_page import NotebookPage, PanelOnPage
    from tests.browser.servers import Server

MINUTES = 10 * 60_000
"""For the compilers, on a machine that has other things to do. The looking takes none of it."""

MODEL = """
%load_ext jaxstage_ext
import flax.linen as nn
import jax, jax.numpy as jnp, optax
from jax.sharding import PartitionSpec as P

WORDS, WIDTH, HEADS, LAYERS = 512, 128, 4, 1

class Block(nn.Module):
    @nn.compact
    def __call__(self, x):
        h = nn.LayerNorm()(x)
        x = x + nn.MultiHeadDotProductAttention(HEADS)(h, mask=nn.make_causal_mask(x[..., 0]))
        h = nn.Dense(4 * WIDTH)(nn.LayerNorm()(x))
        return x + nn.Dense(WIDTH)(nn.gelu(h))

class Transformer(nn.Module):
    @nn.compact
    def __call__(self, tokens):
        embed = nn.Embed(WORDS, WIDTH)
        x = embed(tokens)
        for _ in range(LAYERS):
            x = Block()(x)
        return embed.attend(nn.LayerNorm()(x))

model, adam = Transformer(), optax.adamw(1e-3)

def loss(params, tokens):
    logits = model.apply(params, tokens)[:, :-1]
    return optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:]).mean()

@jax.jit
def step(params, state, tokens):
    value, gradients = jax.value_and_grad(loss)(params, tokens)
    updates, state = adam.update(gradients, state, params)
    return optax.apply_updates(params, updates), state, value

tokens = jax.ShapeDtypeStruct((256, 512), jnp.int32)
params = jax.eval_shape(model.init, jax.random.key(0), tokens)
state = jax.eval_shape(adam.init, params)
cut = lambda leaf: P(*[None] * (leaf.ndim - 1), "model") if leaf.ndim > 1 else P()
by_model, by_model_too = jax.tree.map(cut, params), jax.tree.map(cut, state)
"""
LOOK = """
%%compile -o ins -t {target} --mesh "{mesh}" --in-spec "by_model, by_model_too, P('data')"
step(params, state, tokens)
"""
TOLD = """
import json
from jaxstage_ext.program.questions.collectives import count
roof, found, first = ins.cost.roofline, ins.memory, next(ins.collectives.table.rows())
print("TOLD", json.dumps(dict(
    bound=roof.bounded_by, fits=found.fit.text, differ=next(found.checks.rows())["note"],
    lines=[line for line in ins.answers["line"]], kind=first["collective"], collectives=ins.collectives.headline,
    count=count(ins.program), rows=len(ins.collectives),
)))
"""
TARGETS = {"v5e:4x4": "data=4,model=4", "h100:8": "data=2,model=4"}


def opened(open_notebook: Opener, lab: Server, target: str) -> NotebookPage:
    needs(target)
    from_the_folder = f"%config JAXStage.cache_dir = {str(compiled_once.folder())!r}"
    page = open_notebook(
        lab, [MODEL, from_the_folder, LOOK.format(target=target, mesh=TARGETS[target]), TOLD], width=1400, height=1000
    )
    page.page.set_default_timeout(MINUTES)
    return page


def answered(panel: PanelOnPage) -> dict[str, str]:
    """The answers on the tab, once all five are there."""
    panel.tab("answers").click()
    panel.root.locator(".jxs-answer").nth(4).wait_for()
    return {
        str(section.get_attribute("data-question")): section.inner_text()
        for section in panel.root.locator(".jxs-question").all()
    }


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("target", sorted(TARGETS))
def test_five_questions_of_a_newcomer(open_notebook: Opener, lab: Server, target: str) -> None:
    page = opened(open_notebook, lab, target)
    page.run_all()
    said = answered(page.panel())
    told = printed(page)
    name = target.replace(":", "-")
    hidden: list[str] = []
    for theme in ("Light", "Dark"):
        page.theme(theme)
        for view in ("answers", "cost", "memory", "shardings", "collectives", "dtypes"):
            page.panel().tab(view).click()
            settle(page.panel().root)
            page.screenshot(f"newcomer {name} {view} {theme}")
            hidden += [f"{view} {theme}: {defect}" for defect in defects(page.panel().root)]
    page.theme("Light")
    assert f"Bound by {told['bound']}" in said["bound"]
    assert f"✓ {told['fits']}" in said["fit"]
    assert all(
        line in said[name]
        for name, line in zip(("bound", "fit", "memory", "collective", "time"), told["lines"], strict=True)
    )
    assert told["collectives"] in said["collective"] and f"{told['kind']}" in said["collective"]
    assert told["count"] == told["rows"], "the header counts what the tab lists, also where a TPU does one in pieces"
    assert told["differ"] == "", "what is reserved is XLA's own figure"
    assert "MultiHeadDotProductAttention" in said["memory"]
    assert not hidden, "\n".join(hidden)


def printed(page: NotebookPage) -> dict[str, Any]:
    text = page.page.locator(".jp-OutputArea-output", has_text="TOLD").last.inner_text()
    found = re.search(r"TOLD (\{.*\})", text, re.DOTALL)
    assert found, text
    told: dict[str, Any] = json.loads(found[1])
    return told
