/** Draws the map: axes, capacity, the front, the layouts; above them the own layout, the best, and what is chosen. */

import type { Surface } from "../../parts/canvas";
import { scaled } from "../../wire/figures";
import { LOOKS, type MapAxes, type Places, frontOf, isCapacityNear, marksOf, toX, toY } from "./layoutMap";
import { ESTIMATE, FAILED, type Found, TOO_LARGE, factor } from "./read";
import { OUTLINES } from "./shapes";

const RADIUS_PX = 4;
const TICK_PX = 80;

const COLOURS = 8;
export const colourName = (look: number): string => (look < COLOURS ? `--jxs-layout-${look}` : "--jxs-fg3");

function line(g: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  g.beginPath();
  g.moveTo(x0, y0);
  g.lineTo(x1, y1);
  g.stroke();
}

function grid({ g, colour, font }: Surface, axes: MapAxes, hasSeconds: boolean): void {
  const { left, right, top, bottom } = axes;
  g.strokeStyle = colour("--jxs-line");
  g.fillStyle = colour("--jxs-fg2");
  g.lineWidth = 1;
  g.font = font(11);
  g.textAlign = "center";
  for (const value of marksOf(axes.x, (right - left) / TICK_PX)) {
    const x = toX(axes, value);
    line(g, x, top, x, bottom);
    g.fillText(hasSeconds ? scaled(value, "s") : factor(value), x, bottom + 14);
  }
  g.fillText(hasSeconds ? "estimated time of one call" : "estimated cost, against the least", (left + right) / 2, bottom + 30);
  g.textAlign = "right";
  for (const value of marksOf(axes.y, (bottom - top) / 32)) {
    const y = toY(axes, value);
    line(g, left, y, right, y);
    g.fillText(scaled(value, "B"), left - 6, y + 4);
  }
  g.save();
  g.translate(11, (top + bottom) / 2);
  g.rotate(-Math.PI / 2);
  g.textAlign = "center";
  g.fillText("arguments on one device", 0, 0);
  g.restore();
}

/** Text on the ground, so that points under it do not spoil it. */
function label({ g, colour, font }: Surface, text: string, x: number, y: number, name = "--jxs-fg", align: CanvasTextAlign = "left"): void {
  g.font = font(11);
  g.textAlign = align;
  const width = g.measureText(text).width;
  const from = align === "right" ? x - width : x;
  g.globalAlpha = 0.85;
  g.fillStyle = colour("--jxs-bg");
  g.fillRect(from - 2, y - 10, width + 4, 13);
  g.globalAlpha = 1;
  g.fillStyle = colour(name);
  g.fillText(text, x, y);
}

function capacity(surface: Surface, axes: MapAxes, found: Found): void {
  if (found.capacity === null) return;
  const { g, colour } = surface;
  const said = `${found.target}: ${scaled(found.capacity, "B")}`;
  if (!isCapacityNear(found)) return label(surface, `▴ ${said}, further up`, axes.left + 4, axes.top + 12, "--jxs-fg2");
  const y = toY(axes, found.capacity);
  g.strokeStyle = colour("--jxs-bad");
  g.lineWidth = 1.5;
  g.setLineDash([6, 3]);
  line(g, axes.left, y, axes.right, y);
  g.setLineDash([]);
  label(surface, said, axes.left + 4, y - 4, "--jxs-bad");
}

/** Steps from the fastest to the smallest: nothing lies left of and below them. */
function front({ g, colour }: Surface, axes: MapAxes, found: Found, places: Places): void {
  const rows = frontOf(found.layouts);
  if (rows.length < 2) return;
  g.strokeStyle = colour("--jxs-fg3");
  g.lineWidth = 1;
  g.beginPath();
  rows.forEach((row, at) => {
    const [x, y] = [places.x[row] as number, places.y[row] as number];
    if (at) g.lineTo(x, places.y[rows[at - 1] as number] as number);
    if (at) g.lineTo(x, y);
    else g.moveTo(x, y);
  });
  g.lineTo(axes.right, places.y[rows.at(-1) as number] as number);
  g.stroke();
}

/** From what the arguments take up to what XLA allocates, of a layout that was compiled. */
function whiskers({ g, colour }: Surface, axes: MapAxes, found: Found, places: Places, isShown: (row: number) => boolean): void {
  const { layouts } = found;
  for (let row = 0; row < layouts.length; row++) {
    const needed = layouts.needed[row] as number;
    if (!(needed > 0) || Number.isNaN(places.x[row]) || !isShown(row)) continue;
    const [x, y] = [places.x[row] as number, toY(axes, needed)];
    g.strokeStyle = colour(layouts.state[row] === TOO_LARGE ? "--jxs-bad" : "--jxs-fg2");
    g.lineWidth = 1.5;
    line(g, x, places.y[row] as number, x, y);
    line(g, x - 4, y, x + 4, y);
  }
}

/** Hollow while it is an estimate, filled once it was compiled, crossed out where that failed or does not fit. */
function points({ g, colour }: Surface, found: Found, places: Places, looks: Int32Array, rows: number[]): void {
  const { layouts } = found;
  const colours = Array.from({ length: LOOKS + 1 }, (_, look) => colour(colourName(look)));
  const ground = colour("--jxs-bg");
  g.lineWidth = 1.2;
  for (const row of rows) {
    const look = looks[layouts.kind[row] as number] ?? LOOKS;
    const [x, y, state] = [places.x[row] as number, places.y[row] as number, layouts.state[row]];
    g.strokeStyle = colours[look] as string;
    g.fillStyle = state === ESTIMATE ? ground : (colours[look] as string);
    g.beginPath();
    OUTLINES[look]?.(g, x, y, RADIUS_PX);
    g.globalAlpha = state === ESTIMATE ? 0.55 : 1;
    g.fill();
    g.globalAlpha = 1;
    g.stroke();
    if (state === TOO_LARGE || state === FAILED) line(g, x - 7, y + 7, x + 7, y - 7);
  }
}

export interface Drawn {
  found: Found;
  axes: MapAxes;
  places: Places;
  looks: Int32Array;
  rows: number[];
  isShown: (row: number) => boolean;
}

/** All that stays while the pointer moves. */
export function paintMap(surface: Surface, { found, axes, places, looks, rows, isShown }: Drawn): void {
  grid(surface, axes, found.hasSeconds);
  front(surface, axes, found, places);
  points(surface, found, places, looks, rows);
  whiskers(surface, axes, found, places, isShown);
  capacity(surface, axes, found);
}

function ring({ g, colour }: Surface, places: Places, row: number, radius: number, width: number, name = "--jxs-fg"): void {
  g.strokeStyle = colour(name);
  g.lineWidth = width;
  g.beginPath();
  g.arc(places.x[row] as number, places.y[row] as number, radius, 0, 2 * Math.PI);
  g.stroke();
}

const isThere = (places: Places, row: number) => row >= 0 && !Number.isNaN(places.x[row] ?? Number.NaN);

/** A text beside a point, on the side where there is room. */
function beside(surface: Surface, axes: MapAxes, places: Places, row: number, text: string, down: number): void {
  const [x, y] = [places.x[row] as number, places.y[row] as number];
  const isLeft = x > (axes.left + axes.right) / 2;
  label(surface, text, x + (isLeft ? -12 : 12), y + down, "--jxs-fg", isLeft ? "right" : "left");
}

/** What is drawn anew as the pointer moves: the own layout and the best with their names, and what is chosen. */
export function paintMarks(surface: Surface, { found, axes, places }: Drawn, chosen: number, pointed: number): void {
  const { own, best, ownSaid } = found;
  if (isThere(places, own)) {
    ring(surface, places, own, 9, 2, "--jxs-accent");
    ring(surface, places, own, 12, 1, "--jxs-accent");
    beside(surface, axes, places, own, ownSaid, 18);
  }
  if (isThere(places, best) && best !== own) {
    ring(surface, places, best, 8, 1.5);
    beside(surface, axes, places, best, "best", -8);
  }
  if (isThere(places, chosen)) ring(surface, places, chosen, 7, 3);
  if (isThere(places, pointed)) ring(surface, places, pointed, 7, 2);
}
