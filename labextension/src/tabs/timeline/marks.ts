/** What moves over the lanes: outlines, the chosen stretch of time, the pointer's moment, arrows, bookmarks. */

import { duration } from "../../wire/figures";
import type { Surface } from "../../parts/canvas";
import { type Item, ROW, topOf } from "./laneItems";
import type { Bookmark } from "./model";
import type { EventDetail, EventPlace } from "./read";
import type { Span } from "../../parts/axis";

export interface Marks {
  span: Span;
  items: readonly Item[];
  scroll: number;
  pointer: number | null;
  hovered: { from: number; to: number; top: number } | null;
  detail: EventDetail | null;
  range: Span | null;
  bookmarks: readonly Bookmark[];
}

type At = (seconds: number) => number;

function box(s: Surface, left: number, right: number, top: number, width: number): void {
  s.g.lineWidth = width;
  const [x, end] = [Math.max(-4, left), Math.min(s.width + 4, Math.max(right, left + 2))];
  s.g.strokeRect(x + width / 2, top + width / 2, Math.max(1, end - x - width), ROW - 2 - width);
}

export function drawMarks(s: Surface, marks: Marks): void {
  const perSecond = s.width / (marks.span.to - marks.span.from);
  const at: At = (seconds) => (seconds - marks.span.from) * perSecond;
  if (marks.range) drawRange(s, at, marks.range);
  for (const { at: place } of marks.bookmarks) drawLine(s, at(place.from), "--jxs-warn");
  if (marks.detail) drawSelected(s, at, marks, marks.detail);
  s.g.strokeStyle = s.colour("--jxs-fg");
  if (marks.hovered) box(s, at(marks.hovered.from), at(marks.hovered.to), marks.hovered.top, 1.5);
  if (marks.pointer !== null) drawLine(s, at(marks.pointer), "--jxs-fg3");
}

function drawLine(s: Surface, x: number, colour: string): void {
  s.g.fillStyle = s.colour(colour);
  s.g.fillRect(Math.round(x), 0, 1, s.height);
}

function drawRange(s: Surface, at: At, range: Span): void {
  const [left, right] = [at(range.from), at(range.to)];
  s.g.fillStyle = s.colour("--jxs-accent-bg");
  s.g.fillRect(left, 0, right - left, s.height);
  drawLine(s, left, "--jxs-accent");
  drawLine(s, right, "--jxs-accent");
  const text = duration(range.to - range.from);
  s.g.font = s.font(11);
  const width = s.g.measureText(text).width + 10;
  const x = Math.max(2, Math.min(s.width - width - 2, (left + right - width) / 2));
  s.g.fillStyle = s.colour("--jxs-bg");
  s.g.fillRect(x, 3, width, 17);
  s.g.fillStyle = s.colour("--jxs-accent-fg");
  s.g.fillText(text, x + 5, 15);
}

/** The selected event, and an arrow to each event that it started or that started it. */
function drawSelected(s: Surface, at: At, marks: Marks, detail: EventDetail): void {
  s.g.strokeStyle = s.colour("--jxs-accent");
  const top = place(marks, detail);
  if (top === null) return;
  box(s, at(detail.start), at(detail.start + detail.seconds), top, 2);
  for (const partner of detail.partners) {
    const other = place(marks, partner);
    if (other === null) continue;
    const [first, last] = detail.start <= partner.start ? [detail, partner] : [partner, detail];
    const [y1, y2] = first === detail ? [top, other] : [other, top];
    arrow(s, at(Math.min(first.start + first.seconds, last.start)), y1 + ROW / 2, at(last.start), y2 + ROW / 2);
    box(s, at(partner.start), at(partner.start + partner.seconds), other, 1.5);
  }
}

function place({ items, scroll }: Marks, event: EventPlace): number | null {
  const top = topOf(items, event.lane, event.row);
  return top === null ? null : top - scroll;
}

function arrow({ g, colour }: Surface, x1: number, y1: number, x2: number, y2: number): void {
  const bend = Math.max(14, Math.abs(x2 - x1) / 3);
  g.lineWidth = 1.5;
  g.beginPath();
  g.moveTo(x1, y1);
  g.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2, y2);
  g.stroke();
  g.fillStyle = colour("--jxs-accent");
  g.beginPath();
  g.moveTo(x2, y2);
  g.lineTo(x2 - 6, y2 - 3.5);
  g.lineTo(x2 - 6, y2 + 3.5);
  g.fill();
}
