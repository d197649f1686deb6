"""Writes tests/fixtures/loss.json: what the offline page of a small function embeds."""

import json
import re
from pathlib import Path

import jax
import jax.numpy as jnp

import jaxstage_ext

HERE = Path(__file__).resolve().parent


def loss(w, x):
    h = jnp.tanh(x @ w)
    with jax.named_scope("head"):
        p = jax.nn.softmax(h)
    return jnp.sum(p * p)


def main() -> None:
    page = HERE / "page.html"
    jaxstage_ext.inspect(jax.grad(loss), jnp.ones((4, 8)), jnp.ones((2, 4))).to_html(page)
    found = re.search(r'id="jaxstage-data">(.*?)</script>', page.read_text(), re.DOTALL)
    assert found
    page.unlink()
    data = json.loads(found[1].replace(str(HERE), "/home/me"))
    (HERE.parent / "tests" / "fixtures" / "loss.json").write_text(json.dumps(data, indent=1) + "\n")


if __name__ == "__main__":
    main()
