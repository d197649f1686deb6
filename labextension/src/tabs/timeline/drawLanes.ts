/** The lanes as they stand still: events, their names, counters, ticks. */

import type { Surface } from "../../parts/canvas";
import { fittingText } from "../../parts/fittingText";
import type { Item } from "./laneItems";
import { ROW } from "./laneItems";
import { type Ink, type Name, type View, paintLanes, partsOf } from "./paintLanes";
import type { Axis } from "./timeAxis";
import { shareOf } from "../../parts/axis";

interface Scene extends View {
  level: number;
  axis: Axis;
  ink: Ink;
}

let kept: ImageData | null = null;

/** The pixels are used again for the next frame of the same size: a new array of megabytes each would cost time. */
function pixelsOf(width: number, height: number): ImageData {
  if (kept?.width !== width || kept.height !== height) kept = new ImageData(width, height);
  return kept;
}

export function drawLanes(s: Surface, scene: Scene): void {
  const { width, height } = s.g.canvas;
  const image = pixelsOf(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  const names = paintLanes({ pixels, width, height, scale: width / s.width }, scene, scene.ink, scene.level);
  s.g.putImageData(image, 0, 0);
  drawGrid(s, scene);
  for (const item of scene.items) drawItem(s, scene, item);
  drawNames(s, scene, names);
}

/** Under the events, which are there already. */
function drawGrid(s: Surface, { axis, span }: Scene): void {
  s.g.globalCompositeOperation = "destination-over";
  s.g.fillStyle = s.colour("--jxs-line");
  for (const { at } of axis.ticks) s.g.fillRect(Math.round(shareOf(span, at) * s.width), 0, 1, s.height);
  s.g.globalCompositeOperation = "source-over";
}

function drawItem(s: Surface, scene: Scene, item: Item): void {
  const y = item.top - scene.scroll;
  if (item.kind === "group") {
    s.g.fillStyle = s.colour("--jxs-bg2");
    s.g.fillRect(0, y, s.width, item.height - 1);
  } else if (item.lane?.counter) drawCounter(s, scene, item, y);
  else if (item.lane && item.lane.events > 0 && !partsOf(scene, scene.level, item.lane.lane).length) drawWaiting(s, y, item.height);
}

/** Nothing has come of this lane yet: it is not shown as if it were empty. */
function drawWaiting(s: Surface, y: number, height: number): void {
  s.g.fillStyle = s.colour("--jxs-fg3");
  s.g.globalAlpha = 0.25;
  for (let x = 0; x < s.width; x += 8) s.g.fillRect(x, y + Math.min(height, ROW) / 2 - 1, 3, 1);
  s.g.globalAlpha = 1;
}

function drawCounter(s: Surface, scene: Scene, item: Item, y: number): void {
  const counter = item.lane?.counter;
  if (!counter || !item.lane) return;
  const [bottom, room] = [y + item.height - 4, item.height - 8];
  const scale = room / Math.max(Number.MIN_VALUE, counter.high - counter.low);
  const perSecond = s.width / (scene.span.to - scene.span.from);
  const zero = bottom - Math.max(0, Math.min(room, (0 - counter.low) * scale));
  s.g.fillStyle = s.colour("--jxs-accent");
  s.g.globalAlpha = 0.55;
  for (const { part, from, to } of partsOf(scene, scene.level, item.lane.lane)) {
    for (let i = 0; i < part.length; i++) {
      const left = Math.max(from, part.start + (part.left[i] as number) * part.bin, scene.span.from);
      const right = Math.min(to, part.start + (part.right[i] as number) * part.bin, scene.span.to);
      if (right <= left) continue;
      const top = bottom - ((part.seconds[i] as number) - counter.low) * scale;
      s.g.fillRect((left - scene.span.from) * perSecond, Math.min(top, zero), (right - left) * perSecond, Math.max(1, Math.abs(zero - top)));
    }
  }
  s.g.globalAlpha = 1;
}

function drawNames(s: Surface, { cache, ink }: Scene, names: Name[]): void {
  s.g.font = s.font(11);
  s.g.textBaseline = "alphabetic";
  for (const faded of [false, true]) {
    s.g.fillStyle = s.colour(faded ? "--jxs-fg3" : "--jxs-fg");
    for (const { look, x, y, width } of names) {
      if (ink.faded(look) !== faded) continue;
      const text = fittingText(s.g, cache.looks[look]?.name ?? "", Math.min(width, s.width - x) - 8);
      if (text) s.g.fillText(text, x + 4, y + 12);
    }
  }
}
