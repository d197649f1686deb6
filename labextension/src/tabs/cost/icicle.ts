/** A tree of costs as lanes of tiles, each as wide as its share: built once, then drawn and searched by place. */

/** A step of a path: what it is called, and whatever its tile leads to. */
export interface Step {
  name: string;
  /** The source line that it stands for, if it is one. */
  line?: readonly [file: number, line: number];
}

export interface Tree {
  length: number;
  names: string[];
  parent: Int32Array;
  depth: Uint16Array;
  /** Where the tile begins, and how much it is, in the measure's own unit. */
  start: Float64Array;
  value: Float64Array;
  /** The item of a tile: its own, or the largest one inside. */
  item: Int32Array;
  /** Whether a tile is an item itself. */
  leaf: Uint8Array;
  line: (readonly [number, number] | undefined)[];
  /** The tiles of each depth, from left to right. */
  lanes: Int32Array[];
  total: number;
  /** Items whose value is not known: they have no tile. */
  unknown: number;
}

const DEEPEST = 60;

interface Building {
  name: string;
  line: Step["line"];
  parent: number;
  value: number;
  item: number;
  best: number;
  leaf: boolean;
  children: Map<string, number> | null;
  order: number[];
}

/** `path(i)` leads to item i, outermost first; what is equal from the root on is one tile. */
export function grow(root: string, values: ArrayLike<number>, path: (item: number) => Step[], name: (item: number) => string): Tree {
  const nodes: Building[] = [];
  const add = (step: Step, parent: number, leaf: boolean): number => {
    nodes.push({ name: step.name, line: step.line, parent, value: 0, item: -1, best: -1, leaf, children: leaf ? null : new Map(), order: [] });
    if (parent >= 0) nodes[parent]?.order.push(nodes.length - 1);
    return nodes.length - 1;
  };
  add({ name: root }, -1, false);
  let unknown = 0;
  for (let item = 0; item < values.length; item++) {
    const value = values[item] as number;
    if (Number.isNaN(value)) unknown++;
    if (!(value > 0) || !Number.isFinite(value)) continue;
    let at = 0;
    for (const step of path(item).slice(0, DEEPEST)) {
      const { children } = nodes[at] as Building;
      const found = children?.get(step.name);
      const next = found ?? add(step, at, false);
      if (found === undefined) children?.set(step.name, next);
      at = next;
    }
    const own = add({ name: name(item) }, at, true);
    for (let up = own; up >= 0; up = (nodes[up] as Building).parent) {
      const node = nodes[up] as Building;
      node.value += value;
      if (value > node.best) Object.assign(node, { best: value, item });
    }
  }
  return laidOut(nodes, unknown);
}

/** The innermost of the tiles that are one inside another, of one name and as wide: they would repeat a level. */
function innermost(nodes: Building[], from: number): Building {
  let node = nodes[from] as Building;
  for (;;) {
    const child = node.order.length === 1 ? nodes[node.order[0] as number] : undefined;
    if (!child || child.leaf || child.name !== node.name) return node;
    node = child;
  }
}

/** Depth first, the largest child first, so that every lane comes out from left to right. */
function laidOut(nodes: Building[], unknown: number): Tree {
  const n = nodes.length;
  const tree: Tree = {
    length: n,
    names: [],
    parent: new Int32Array(n),
    depth: new Uint16Array(n),
    start: new Float64Array(n),
    value: new Float64Array(n),
    item: new Int32Array(n),
    leaf: new Uint8Array(n),
    line: [],
    lanes: [],
    total: nodes[0]?.value ?? 0,
    unknown,
  };
  const lanes: number[][] = [];
  const stack: [node: number, parent: number, depth: number, start: number][] = [[0, -1, 0, 0]];
  let id = 0;
  for (let next = stack.pop(); next; next = stack.pop()) {
    const [from, parent, depth, start] = next;
    const node = innermost(nodes, from);
    const at = id++;
    tree.names[at] = node.name;
    tree.line[at] = node.line;
    tree.parent[at] = parent;
    tree.depth[at] = depth;
    tree.start[at] = start;
    tree.value[at] = node.value;
    tree.item[at] = node.item;
    tree.leaf[at] = Number(node.leaf);
    (lanes[depth] ??= []).push(at);
    node.order.sort((a, b) => (nodes[b] as Building).value - (nodes[a] as Building).value || a - b);
    let end = start + node.value;
    for (const child of [...node.order].reverse()) {
      end -= (nodes[child] as Building).value;
      stack.push([child, at, depth + 1, Math.max(start, end)]);
    }
  }
  tree.length = id;
  tree.lanes = lanes.map((lane) => Int32Array.from(lane));
  return tree;
}

/** What is in sight: a tile, and all that is inside of it. */
export interface Window {
  from: number;
  to: number;
}

export const windowOf = (tree: Tree, focus: number): Window => ({
  from: tree.start[focus] ?? 0,
  to: (tree.start[focus] ?? 0) + (tree.value[focus] ?? tree.total),
});

/** The place in a lane of the last tile that begins at or before a position; 0 where none does. */
function before(tree: Tree, lane: Int32Array, position: number): number {
  let [low, high] = [0, lane.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((tree.start[lane[middle] as number] as number) <= position) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * Calls `draw` for the tiles of a lane that are in sight, in pixels of `width`. Of tiles thinner than a pixel one
 * stands for all that share it, so that the work is bounded by pixels, not by tiles.
 */
export function visible(tree: Tree, depth: number, { from, to }: Window, width: number, draw: (tile: number, x: number, w: number) => void): void {
  const lane = tree.lanes[depth];
  if (!lane?.length || !(to > from)) return;
  const scale = width / (to - from);
  for (let place = before(tree, lane, from); place < lane.length; ) {
    const tile = lane[place] as number;
    const [start, value] = [tree.start[tile] as number, tree.value[tile] as number];
    if (start >= to) break;
    const [left, right] = [Math.max(0, (start - from) * scale), Math.min(width, (start + value - from) * scale)];
    if (right > left) draw(tile, left, right - left);
    if (right - left >= 1) place++;
    else place = Math.max(place + 1, before(tree, lane, from + (Math.floor(left) + 1) / scale));
  }
}

/** The tile at a position of a lane, or -1. */
export function tileAt(tree: Tree, depth: number, position: number): number {
  const lane = tree.lanes[depth];
  if (!lane?.length) return -1;
  const tile = lane[before(tree, lane, position)] as number;
  const start = tree.start[tile] as number;
  return start <= position && position < start + (tree.value[tile] as number) ? tile : -1;
}

/** The next tile from one, by an arrow: inwards, outwards, or along its lane; the tile itself where there is none. */
export function neighbour(tree: Tree, tile: number, key: string): number {
  const depth = tree.depth[tile] ?? 0;
  if (key === "ArrowUp") return Math.max(0, tree.parent[tile] ?? 0);
  if (key === "ArrowDown") {
    const child = tileAt(tree, depth + 1, tree.start[tile] ?? 0);
    return child >= 0 && tree.parent[child] === tile ? child : tile;
  }
  const lane = tree.lanes[depth] ?? new Int32Array(0);
  const place = before(tree, lane, tree.start[tile] ?? 0) + (key === "ArrowRight" ? 1 : -1);
  return lane[place] ?? tile;
}
