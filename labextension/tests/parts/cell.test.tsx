// @vitest-environment happy-dom
import { render } from "preact";
import { expect, it } from "vitest";
import { Cell } from "../../src/parts/grid/cell";
import { textColumn } from "../../src/wire/tables";

function isCutAtItsStart(text: string, others: string[] = [], isLink = false): boolean {
  const host = document.createElement("div");
  render(<Cell field={textColumn("line", [text, ...others])} row={0} most={0} isFirst={false} isLink={isLink} tabIndex={-1} />, host);
  return host.querySelector(".jxs-cut-start") !== null;
}

it.each(["model/layers/attention.py:12", "In [2]:16", "params['params']['Dense_0']['kernel']", "jit(step)/jvp(Dense_0)"])(
  "%s is told by its end",
  (text) => expect(isCutAtItsStart(text)).toBe(true),
);

it.each(["In [2]:6, In [2]:8", "a.py:1, b.py:2, c.py:3", "dot_general"])("%s is told by its start", (text) =>
  expect(isCutAtItsStart(text)).toBe(false),
);

const KERNELS = ["gemm_fusion_dot_general_4", "gemm_fusion_dot_general_44", "gemm_fusion_dot_26"];

it.each([false, true])("names that begin alike keep what differs, as links too: %s", (isLink) =>
  expect(KERNELS.map((name) => isCutAtItsStart(name, KERNELS, isLink))).toEqual([true, true, true]),
);

it("names that end alike keep their beginnings", () =>
  expect(isCutAtItsStart("loop_add_fusion_of_the_step", ["loop_multiply_fusion_of_the_step"])).toBe(false));
