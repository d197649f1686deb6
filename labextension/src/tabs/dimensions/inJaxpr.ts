/** The sizes in the jaxpr in the colours of their dimensions, which the code view shows once they are known. */

import type { Token } from "../../model/highlight";
import type { Marker, Selection } from "../../model/selection";
import { styleOf } from "./chips";
import type { AxisInText, Dimension, Dimensions } from "./read";

/** The tokens with each size as one of its own. */
export function withAxes(tokens: Token[], axes: AxisInText[], dimensions: Dimension[]): Token[] {
  return tokens.flatMap((token) => {
    const inside = axes.filter(({ start, end }) => start >= token.start && end <= token.end);
    const parts: Token[] = [];
    let at = token.start;
    for (const { start, end, place } of inside) {
      parts.push({ ...token, start: at, end: start }, { start, end, cls: "axis", drawn: (node) => draw(node, place, dimensions[place]?.name ?? "") });
      at = end;
    }
    return inside.length ? [...parts, { ...token, start: at }] : [token];
  });
}

function draw(node: HTMLElement, place: number, name: string): void {
  for (const [property, value] of Object.entries(styleOf(place))) node.style.setProperty(property, value);
  node.title = name;
}

const marks = new WeakMap<Dimensions, Marker>();

/** Lets the panes of the jaxpr show them. */
export function markJaxpr(selection: Selection, call: number, found: Dimensions): void {
  const { marked } = selection.get();
  const mark = marks.get(found) ?? ((kind, row, tokens) => (kind === "jaxpr" ? withAxes(tokens, found.inJaxpr.get(row) ?? [], found.dimensions) : tokens));
  marks.set(found, mark);
  if (marked.get(call) !== mark) selection.set({ marked: new Map([...marked, [call, mark]]) });
}
