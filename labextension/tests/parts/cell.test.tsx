// @vitest-environment happy-dom
import { render } from "preact";
import { expect, it } from "vitest";
import { Cell } from "../../src/parts/grid/cell";
import { textColumn } from "../../src/wire/tables";

function isCutAtItsStart(text: string): boolean {
  const host = document.createElement("div");
  render(<Cell field={textColumn("line", [text])} row={0} most={0} isFirst={false} isLink={false} tabIndex={-1} />, host);
  return host.querySelector(".jxs-cut-start") !== null;
}

it.each(["model/layers/attention.py:12", "In [2]:16", "params['params']['Dense_0']['kernel']", "jit(step)/jvp(Dense_0)"])(
  "%s is told by its end",
  (text) => expect(isCutAtItsStart(text)).toBe(true),
);

it.each(["In [2]:6, In [2]:8", "a.py:1, b.py:2, c.py:3", "dot_general"])("%s is told by its start", (text) =>
  expect(isCutAtItsStart(text)).toBe(false),
);
