import { useEffect, useState } from "preact/hooks";
import { type Frame, KINDS, type Memory, type Palette, type Space, bufferAt, bytes, lineOf, liveAt, outline, paint, whole } from "./read";
import { type Reach, type Span, lengthOf, moved, roundStep, shareOf, showing, ticks, valueAt, zoomed } from "../../parts/axis";
import { type Surface, useCanvas } from "../../parts/canvas";

const MOST_LIT = 2000;
/** Buffers up to which a screen's finer pixels are used. */
const MOST_FINE = 20_000;
const HINT = "Schedule runs left to right; the line shows live memory. Ctrl+wheel zooms, Shift+wheel pans.";

interface Props {
  memory: Memory;
  space: Space;
  /** The position that the table below is of. */
  position: number;
  /** A life that is pointed at elsewhere. */
  band: [number, number] | null;
  /** Buffers that came from what is selected. */
  lit: number[];
  onPosition: (position: number) => void;
  onBuffer: (buffer: number) => void;
}

/** The colours of the legend, each in three shades. */
function paletteOf(colour: Surface["colour"]): Palette {
  return KINDS.map((kind) => {
    const [r = 128, g = 128, b = 128] = (colour(`--jxs-mem-${kind}`).match(/[\d.]+/g) ?? []).map(Number);
    return [1, 0.9, 0.8].map((share) => shade(r, g, b, share));
  });
}

const shade = (r: number, g: number, b: number, share: number): number => {
  const [red, green, blue] = [r, g, b].map((part) => Math.round(part * share)) as [number, number, number];
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
};

/** The buffers as an image of as many pixels as are worth painting. */
function picture({ width, height, colour }: Surface, memory: Memory, space: Space, frame: Frame): HTMLCanvasElement {
  const layer = document.createElement("canvas");
  const scale = memory.buffers.start.length <= MOST_FINE ? globalThis.devicePixelRatio || 1 : 1;
  Object.assign(layer, { width: Math.round(width * scale), height: Math.round(height * scale) });
  const g = layer.getContext("2d") as CanvasRenderingContext2D;
  const image = g.createImageData(layer.width, layer.height);
  paint(new Uint32Array(image.data.buffer), layer.width, layer.height, memory, space, frame, paletteOf(colour));
  g.putImageData(image, 0, 0);
  return layer;
}

/** Draws what changes with the data and the frame alone. */
function drawStill(surface: Surface, memory: Memory, space: Space, frame: Frame): void {
  const { g, width, height, colour } = surface;
  g.imageSmoothingEnabled = false;
  g.drawImage(picture(surface, memory, space, frame), 0, 0, width, height);
  const y = (value: number) => height - (value / frame.top) * height;
  g.strokeStyle = colour("--jxs-fg");
  g.lineWidth = 1.5;
  g.beginPath();
  outline(space, Math.ceil(width), frame).forEach((value, column) => g.lineTo(column + 0.5, y(value)));
  g.stroke();
  const across = (value: number, dash: number[], color: string) => {
    g.strokeStyle = color;
    g.setLineDash(dash);
    g.beginPath();
    g.moveTo(0, y(value));
    g.lineTo(width, y(value));
    g.stroke();
    g.setLineDash([]);
  };
  axes(surface, frame);
  across(space.reserved, [6, 4], colour("--jxs-fg"));
  if (hasRoom(memory, space, frame)) across(memory.room as number, [], colour("--jxs-bad"));
}

const TICK_PX = 44;
const TICKS_PX = 130;

/** Bytes up the left edge, positions of the schedule along the bottom. */
function axes({ g, width, height, colour, font }: Surface, frame: Frame): void {
  g.font = font(10);
  const label = (text: string, x: number, y: number) => {
    g.fillStyle = colour("--jxs-bg");
    g.globalAlpha = 0.8;
    g.fillRect(x - 2, y - 9, g.measureText(text).width + 4, 12);
    g.globalAlpha = 1;
    g.fillStyle = colour("--jxs-fg2");
    g.fillText(text, x, y);
  };
  g.textAlign = "left";
  for (const value of ticks({ from: 0, to: frame.top }, roundStep((frame.top * TICK_PX) / Math.max(TICK_PX, height)))) {
    const y = height - (value / frame.top) * height;
    if (value === 0 || y < LABEL_PX) continue;
    g.fillStyle = colour("--jxs-fg3");
    g.fillRect(0, y, 5, 1);
    label(bytes(value), 8, y + 4);
  }
  for (const at of ticks(frame, roundStep((lengthOf(frame) * TICKS_PX) / Math.max(TICKS_PX, width)))) {
    const x = shareOf(frame, at) * width;
    if (!Number.isInteger(at) || x > width - 30) continue;
    g.fillStyle = colour("--jxs-fg3");
    g.fillRect(x, height - 5, 1, 5);
    if (x > 0) label(String(at), x + 3, height - 3);
  }
}

const LABEL_PX = 26;

const hasRoom = (memory: Memory, space: Space, frame: Frame): boolean =>
  space.color === 0 && memory.room !== null && memory.room < frame.top;

interface Drawn extends Pick<Props, "memory" | "position" | "band" | "lit"> {
  frame: Frame;
  over: number;
  cursor: number | null;
}

/** Draws what follows the pointer. */
function drawMoving({ g, width, height, colour }: Surface, drawn: Drawn): void {
  const { memory, frame, position, band, lit, over, cursor } = drawn;
  const { start, end, height: base, size } = memory.buffers;
  const x = (at: number) => shareOf(frame, at) * width;
  const y = (value: number) => height - (value / frame.top) * height;
  const life: [number, number] | null = over >= 0 ? [start[over] as number, end[over] as number] : band;
  g.strokeStyle = g.fillStyle = colour("--jxs-accent");
  if (life) {
    g.globalAlpha = 0.18;
    g.fillRect(x(life[0]), 0, Math.max(1, x(life[1] + 1) - x(life[0])), height);
    g.globalAlpha = 1;
  }
  g.lineWidth = 2;
  g.beginPath();
  for (const i of [...lit.slice(0, MOST_LIT), over]) {
    if (i < 0) continue;
    const [left, bottom] = [x(start[i] as number), y(base[i] as number)];
    const top = y((base[i] as number) + (size[i] as number));
    g.rect(left, top, Math.max(2, x((end[i] as number) + 1) - left), Math.max(2, bottom - top));
  }
  g.stroke();
  g.fillRect(x(position + 0.5), 0, 1, height);
  if (cursor === null || cursor === position) return;
  g.fillStyle = colour("--jxs-fg");
  g.fillRect(x(cursor + 0.5), 0, 1, height);
}

/** What the pointer is on, in one line. */
function about(memory: Memory, space: Space, over: number, cursor: number | null): string {
  if (cursor === null) return "";
  const step = memory.steps[cursor] ?? "";
  const moment = `${bytes(liveAt(space, cursor))} live at ${cursor}${step && `, while ${step} runs`}`;
  if (over < 0) return moment;
  const { start, end, size, kind, names } = memory.buffers;
  const [line, life] = [lineOf(memory, over), `${start[over]} to ${end[over]}`];
  const what = `${names[over] ?? ""}: ${bytes(size[over] as number)}, ${KINDS[kind[over] as number]}`;
  return `${what}${line && `, allocated at ${line}`}, live from ${life} · ${moment}`;
}

/** Buffers where XLA laid them, over the schedule, with the live bytes as a line. */
export function MemoryChart({ memory, space, position, band, lit, onPosition, onBuffer }: Props) {
  const [frame, setFrame] = useState<Frame>(() => whole(memory, space));
  const [over, setOver] = useState(-1);
  const [cursor, setCursor] = useState<number | null>(null);
  useEffect(() => setFrame(whole(memory, space)), [memory, space]);
  const drawn = { memory, frame, position, band, lit, over, cursor };
  const still = useCanvas((surface) => drawStill(surface, memory, space, frame), [memory, space, frame]);
  const moving = useCanvas((surface) => drawMoving(surface, drawn), Object.values(drawn));

  const placeOf = (event: MouseEvent): [number, number] => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const at = valueAt(frame, (event.clientX - box.left) / Math.max(1, box.width));
    const value = (1 - (event.clientY - box.top) / Math.max(1, box.height)) * frame.top;
    return [Math.max(0, Math.min(memory.length - 1, at)), value];
  };
  const move = (event: MouseEvent) => {
    const [at, value] = placeOf(event);
    setCursor(Math.floor(at));
    setOver(bufferAt(memory, space, at, value));
  };
  const pick = (event: MouseEvent) => {
    const [at, value] = placeOf(event);
    onPosition(Math.floor(at));
    const found = bufferAt(memory, space, at, value);
    if (found >= 0) onBuffer(found);
  };
  const all: Reach = { from: 0, to: Math.max(4, memory.length), least: 4, room: 0, margin: 0 };
  const see = (span: Span) => setFrame({ ...frame, ...span });
  const zoom = (factor: number, around: number) => see(zoomed(frame, factor, around, all));
  const wheel = (event: WheelEvent) => {
    const along = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
    if (event.ctrlKey || event.metaKey) zoom(event.deltaY > 0 ? 1.25 : 0.8, placeOf(event)[0]);
    else if (along && lengthOf(frame) < all.to) see(moved(frame, (along / 500) * lengthOf(frame), all));
    else return;
    event.preventDefault();
  };
  const go = (to: number) => {
    const inside = Math.max(0, Math.min(memory.length - 1, to));
    see(showing(frame, { from: inside, to: inside }, all));
    onPosition(inside);
  };
  const key = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, PageDown: 20, PageUp: -20, Home: -Infinity, End: Infinity }[event.key];
    const factor = { "+": 0.5, "=": 0.5, "-": 2, "0": Infinity }[event.key];
    if ((!step && !factor) || event.ctrlKey || event.altKey || event.metaKey) return;
    if (step) go(position + step);
    if (factor) zoom(factor, position);
    event.preventDefault();
    event.stopPropagation();
  };
  const label = `${space.name}: ${bytes(space.peak)} peak, ${bytes(space.reserved)} reserved; arrows move, + and - zoom`;
  return (
    <div class="jxs-mem-chart">
      <div class="jxs-mem-scale jxs-dim" aria-hidden="true">
        <span style={{ bottom: `${(100 * space.reserved) / frame.top}%` }}>reserved {bytes(space.reserved)}</span>
        {hasRoom(memory, space, frame) && (
          <span class="jxs-mem-room" style={{ bottom: `${(100 * (memory.room ?? 0)) / frame.top}%` }}>
            the device has {bytes(memory.room ?? 0)}
          </span>
        )}
      </div>
      <div
        class="jxs-mem-canvas"
        tabIndex={0}
        role="slider"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, memory.length - 1)}
        aria-valuenow={position}
        aria-valuetext={about(memory, space, -1, position)}
        onMouseMove={move}
        onMouseLeave={() => {
          setCursor(null);
          setOver(-1);
        }}
        onClick={pick}
        onDblClick={() => setFrame(whole(memory, space))}
        onWheel={wheel}
        onKeyDown={key}
      >
        <canvas ref={still} />
        <canvas ref={moving} />
      </div>
      <div class="jxs-mem-foot">
        <p class="jxs-mem-about jxs-cut" aria-hidden="true">
          {about(memory, space, over, cursor) || <span class="jxs-dim">{HINT}</span>}
        </p>
        <p class="jxs-mem-legend">
          {KINDS.map((kind) => (
            <span key={kind} title={kind === "residual" ? "saved for the backward pass" : kind}>
              <i data-kind={kind} aria-hidden="true" />
              {kind}
            </span>
          ))}
        </p>
      </div>
    </div>
  );
}
