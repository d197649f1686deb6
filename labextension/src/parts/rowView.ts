/** One row of code as DOM. Text only ever enters by textContent. */

import { colourStyle } from "../model/colours";
import { type Mark, written } from "../model/lane";
import { type Token, isName, nameOf } from "../model/highlight";
import { type Stretch, overlaps } from "../model/rewrite";
import { folded } from "../model/text";

export interface RowContent {
  row: number;
  /** Rows of the whole document. */
  rows: number;
  label: string;
  line: string | undefined;
  tokens: Token[];
  hidden: Stretch[];
  /** Search hits. */
  marks: Stretch[];
  fold: "none" | "open" | "closed";
  foldedRows: number;
  comment: string;
  hue: number | null;
  /** Its cost beside the costliest row's, NaN unknown; null where no measure is chosen. */
  heat?: { share: number; title: string } | null;
  /** What stands beside it, in so many characters; null where nothing is chosen. */
  lane?: { mark: Mark | null; width: number } | null;
  /** What is warned of at it; null where nothing is, undefined where no line of its document has any. */
  warning?: Mark | null | undefined;
}

export function element(tag: string, className: string, text = ""): HTMLElement {
  const node = document.createElement(tag);
  node.className = className;
  if (text) node.textContent = text;
  return node;
}

export function rowElement(content: RowContent): HTMLElement {
  const node = element("div", "jxs-row");
  node.dataset.row = String(content.row);
  node.setAttribute("role", "option");
  node.setAttribute("aria-posinset", String(content.row + 1));
  node.setAttribute("aria-setsize", String(content.rows));
  if (content.hue !== null) {
    node.classList.add("jxs-coloured");
    for (const [name, value] of Object.entries(colourStyle(content.hue))) node.style.setProperty(name, value);
  }
  node.append(gutter(content), codeElement(content));
  return node;
}

function gutter(content: RowContent): HTMLElement {
  const node = element("span", "jxs-gutter");
  if (content.warning !== undefined) node.append(warningElement(content.warning));
  if (content.heat) node.append(heatElement(content.heat));
  if (content.lane) node.append(laneElement(content.lane));
  const fold = element("span", `jxs-fold jxs-fold-${content.fold}`);
  node.append(element("span", "jxs-num", content.label), fold);
  return node;
}

function heatElement({ share, title }: NonNullable<RowContent["heat"]>): HTMLElement {
  const node = element("i", Number.isNaN(share) ? "jxs-heat jxs-heat-unknown" : "jxs-heat", Number.isNaN(share) ? "?" : "");
  node.style.setProperty("--jxs-share", `${Math.max(share > 0 ? 3 : 0, 100 * (share || 0))}%`);
  node.title = title;
  return node;
}

function laneElement({ mark, width }: NonNullable<RowContent["lane"]>): HTMLElement {
  const node = element("span", "jxs-lane", mark ? written(mark) : "");
  node.style.width = `${width}ch`;
  if (!mark) return node;
  node.dataset.kind = mark.kind;
  node.title = mark.text;
  return node;
}

const ASKED = "asked";

function warningElement(mark: Mark | null): HTMLElement {
  const node = element("span", "jxs-warning", mark ? (mark.kind === ASKED ? "⇄" : "⚠") : "");
  if (!mark) return node;
  node.dataset.kind = mark.kind;
  node.title = mark.text;
  node.setAttribute("role", "img");
  node.setAttribute("aria-label", `${mark.kind === ASKED ? "requested resharding" : mark.kind}: ${mark.text}`);
  return node;
}

function codeElement(content: RowContent): HTMLElement {
  const code = element("span", "jxs-line");
  if (content.line === undefined) code.append(element("span", "jxs-waiting", "…"));
  else code.append(...pieces(content, content.line));
  if (content.fold === "closed") code.append(element("span", "jxs-folded", `⋯ ${content.foldedRows} lines`));
  if (content.comment) code.append(element("span", "jxs-comment", content.comment));
  return code;
}

function pieces(content: RowContent, line: string): Node[] {
  const whole = content.marks.some(([start, end]) => overlaps(content.hidden, start, end));
  const hidden = whole ? [] : content.hidden;
  const nodes: Node[] = [];
  let at = 0;
  for (const token of [...content.tokens, { start: line.length, end: line.length, cls: "" }]) {
    if (token.start > at) nodes.push(...plain(line, at, token.start, hidden, content.marks));
    if (token.end > token.start) nodes.push(...tokenNodes(line, token, hidden, content.marks));
    at = Math.max(at, token.end);
  }
  return nodes;
}

/** The visible stretches of a range, each marked or not. */
function cut(start: number, end: number, hidden: Stretch[], marks: Stretch[]): [number, number, boolean][] {
  const inside = (stretches: Stretch[], at: number) => stretches.some(([from, to]) => from <= at && at < to);
  const edges = [start, end];
  for (const [from, to] of [...hidden, ...marks]) {
    if (from > start && from < end) edges.push(from);
    if (to > start && to < end) edges.push(to);
  }
  edges.sort((a, b) => a - b);
  const parts: [number, number, boolean][] = [];
  edges.slice(1).forEach((to, i) => {
    const from = edges[i] ?? to;
    if (to > from && !inside(hidden, from)) parts.push([from, to, inside(marks, from)]);
  });
  return parts;
}

function plain(line: string, start: number, end: number, hidden: Stretch[], marks: Stretch[]): Node[] {
  return cut(start, end, hidden, marks).map(([from, to, marked]) => {
    const text = line.slice(from, to);
    return marked ? element("mark", "jxs-hit", text) : document.createTextNode(text);
  });
}

function tokenNodes(line: string, token: Token, hidden: Stretch[], marks: Stretch[]): Node[] {
  return cut(token.start, token.end, hidden, marks).map(([from, to, marked]) => {
    const node = element(marked ? "mark" : "span", `jxs-t-${token.cls}${marked ? " jxs-hit" : ""}`, line.slice(from, to));
    token.drawn?.(node);
    if (isName(token)) {
      node.dataset.name = nameOf(line, token);
      if (token.def) node.classList.add("jxs-t-def");
    }
    return node;
  });
}

/** Every occurrence of the query in the line. */
export function marksIn(line: string, query: string, matchCase: boolean): Stretch[] {
  if (!query) return [];
  const text = matchCase ? line : folded(line);
  const needle = matchCase ? query : folded(query);
  const marks: Stretch[] = [];
  for (let at = text.indexOf(needle); at >= 0 && marks.length < 200; at = text.indexOf(needle, at + needle.length)) {
    marks.push([at, at + needle.length]);
  }
  return marks;
}
