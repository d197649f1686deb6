/** The call that a user points at in a cell: from its syntax tree, without running or importing anything. */

import type { SyntaxNode, Tree } from "@lezer/common";

const CALL = "CallExpression";

interface Span {
  from: number;
  to: number;
}

/** The call around a place, and the whole of it where it only makes the function of a further call, as jax.grad(f)(x). */
function around(tree: Tree, { from, to }: Span): SyntaxNode | null {
  let node: SyntaxNode | null = tree.resolveInner(from, from === to ? -1 : 1);
  const reaches = (outer: SyntaxNode) => outer.name === CALL && outer.from <= from && outer.to >= to;
  while (node && !reaches(node)) node = node.parent;
  if (!node && from === to) {
    node = tree.resolveInner(from, 1);
    while (node && !reaches(node)) node = node.parent;
  }
  return node && called(node);
}

/** The call whose function, or an attribute of it, this call is. */
function called(node: SyntaxNode): SyntaxNode {
  const { parent } = node;
  const isFunction = parent?.name === CALL && parent.from === node.from;
  return isFunction ? called(parent) : node;
}

/** The first of the largest calls within a selection. */
function within(tree: Tree, { from, to }: Span): Span | null {
  let found: Span | null = null;
  tree.iterate({
    from,
    to,
    enter: (node) => {
      if (found) return false;
      if (node.name === CALL && node.from >= from && node.to <= to) found = { from: node.from, to: node.to };
      return !found;
    },
  });
  return found;
}

/** The text of the call at the caret, or in the selection; null where there is none. */
export function callAt(tree: Tree, text: string, { from, to }: Span): string | null {
  const node = (from < to ? within(tree, { from, to }) : null) ?? around(tree, { from, to });
  return node && text.slice(node.from, node.to);
}
