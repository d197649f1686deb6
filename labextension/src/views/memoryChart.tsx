import { useEffect, useRef, useState } from "preact/hooks";
import {
  type Frame,
  KINDS,
  type Memory,
  type Palette,
  type Space,
  bufferAt,
  bytes,
  liveAt,
  outline,
  paint,
  whole,
  zoomed,
} from "../memory";

const HEIGHT = 150;
const MOST_LIT = 2000;
/** Buffers up to which a screen's finer pixels are used. */
const MOST_FINE = 20_000;
const HINT = "Left to right the schedule; buffers lie as XLA laid them; the line is what lives. Ctrl and the wheel zoom.";

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

/** The colours of the legend, as the theme has them now. */
function paletteOf(root: HTMLElement): Palette {
  return KINDS.map((kind) => {
    const swatch = root.querySelector(`[data-kind="${kind}"]`);
    const [r = 128, g = 128, b = 128] = (swatch ? getComputedStyle(swatch).color.match(/[\d.]+/g) ?? [] : []).map(Number);
    return [1, 0.9, 0.8].map((share) => shade(r, g, b, share));
  });
}

const shade = (r: number, g: number, b: number, share: number): number => {
  const [red, green, blue] = [r, g, b].map((part) => Math.round(part * share)) as [number, number, number];
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
};

/** Draws what changes with the data and the frame alone. */
function drawStill(canvas: HTMLCanvasElement, root: HTMLElement, memory: Memory, space: Space, frame: Frame): void {
  const context = canvas.getContext("2d");
  if (!context || !canvas.width) return;
  const { width, height } = canvas;
  const image = context.createImageData(width, height);
  paint(new Uint32Array(image.data.buffer), width, height, memory, space, frame, paletteOf(root));
  context.putImageData(image, 0, 0);
  const ink = getComputedStyle(root).color;
  const y = (value: number) => height - (value / frame.top) * height;
  const scale = height / HEIGHT;
  context.strokeStyle = ink;
  context.lineWidth = 1.5 * scale;
  context.beginPath();
  outline(space, width, frame).forEach((value, column) => context.lineTo(column + 0.5, y(value)));
  context.stroke();
  const line = (value: number, dash: number[], color: string) => {
    context.strokeStyle = color;
    context.setLineDash(dash.map((part) => part * scale));
    context.beginPath();
    context.moveTo(0, y(value));
    context.lineTo(width, y(value));
    context.stroke();
    context.setLineDash([]);
  };
  line(space.reserved, [6, 4], ink);
  if (space.color === 0 && memory.room !== null && memory.room < frame.top) {
    line(memory.room, [], getComputedStyle(root.querySelector(".jxs-mem-room") ?? root).color);
  }
}

interface Drawn extends Pick<Props, "memory" | "position" | "band" | "lit"> {
  frame: Frame;
  over: number;
  cursor: number | null;
}

/** Draws what follows the pointer. */
function drawMoving(canvas: HTMLCanvasElement, root: HTMLElement, drawn: Drawn): void {
  const context = canvas.getContext("2d");
  if (!context || !canvas.width) return;
  const { memory, frame, position, band, lit, over, cursor } = drawn;
  const { width, height } = canvas;
  const { start, end, height: base, size } = memory.buffers;
  const x = (at: number) => ((at - frame.from) / (frame.to - frame.from)) * width;
  const y = (value: number) => height - (value / frame.top) * height;
  const accent = getComputedStyle(root.querySelector(".jxs-mem-accent") ?? root).color;
  context.clearRect(0, 0, width, height);
  const life: [number, number] | null = over >= 0 ? [start[over] as number, end[over] as number] : band;
  if (life) {
    context.globalAlpha = 0.18;
    context.fillStyle = accent;
    context.fillRect(x(life[0]), 0, Math.max(1, x(life[1] + 1) - x(life[0])), height);
    context.globalAlpha = 1;
  }
  context.strokeStyle = accent;
  context.lineWidth = (2 * height) / HEIGHT;
  context.beginPath();
  for (const i of [...lit.slice(0, MOST_LIT), over]) {
    if (i < 0) continue;
    const [left, bottom] = [x(start[i] as number), y(base[i] as number)];
    const top = y((base[i] as number) + (size[i] as number));
    context.rect(left, top, Math.max(2, x((end[i] as number) + 1) - left), Math.max(2, bottom - top));
  }
  context.stroke();
  for (const at of [position, cursor]) {
    if (at === null) continue;
    context.fillStyle = at === position ? accent : getComputedStyle(root).color;
    context.fillRect(x(at + 0.5), 0, Math.max(1, height / HEIGHT), height);
  }
}

/** What the pointer is on, in one line. */
function about(memory: Memory, space: Space, over: number, cursor: number | null): string {
  if (cursor === null) return "";
  const step = memory.steps[cursor] ?? "";
  const moment = `${bytes(liveAt(space, cursor))} live at ${cursor}${step && `, while ${step} runs`}`;
  if (over < 0) return moment;
  const { start, end, size, kind, names } = memory.buffers;
  const life = `${start[over]} to ${end[over]}`;
  return `${names[over] ?? ""}: ${bytes(size[over] as number)}, ${KINDS[kind[over] as number]}, lives from ${life} · ${moment}`;
}

function useSize(root: HTMLElement | null, canvases: (HTMLCanvasElement | null)[], fine: boolean): number {
  const [size, setSize] = useState(0);
  useEffect(() => {
    if (!root) return undefined;
    const fit = () => {
      const ratio = fine ? window.devicePixelRatio || 1 : 1;
      for (const canvas of canvases) {
        if (!canvas) continue;
        canvas.width = Math.round(root.clientWidth * ratio);
        canvas.height = Math.round(HEIGHT * ratio);
      }
      setSize(root.clientWidth * ratio);
    };
    const observer = new ResizeObserver(fit);
    observer.observe(root);
    fit();
    return () => observer.disconnect();
  }, [root, fine]);
  return size;
}

/** Buffers where XLA laid them, over the schedule, with the live bytes as a line. */
export function MemoryChart({ memory, space, position, band, lit, onPosition, onBuffer }: Props) {
  const root = useRef<HTMLDivElement>(null);
  const still = useRef<HTMLCanvasElement>(null);
  const moving = useRef<HTMLCanvasElement>(null);
  const [ready, setReady] = useState<HTMLDivElement | null>(null);
  const [frame, setFrame] = useState<Frame>(() => whole(memory, space));
  const [over, setOver] = useState(-1);
  const [cursor, setCursor] = useState<number | null>(null);
  const [theme, setTheme] = useState(0);
  const size = useSize(ready, [still.current, moving.current], memory.buffers.start.length <= MOST_FINE);
  useEffect(() => setReady(root.current), []);
  useEffect(() => setFrame(whole(memory, space)), [memory, space]);
  useEffect(() => {
    const again = () => setTheme((n) => n + 1);
    const observer = new MutationObserver(again);
    observer.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "class"] });
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (still.current && root.current) drawStill(still.current, root.current, memory, space, frame);
  }, [memory, space, frame, size, theme]);
  useEffect(() => {
    const drawn = { memory, frame, position, band, lit, over, cursor };
    if (moving.current && root.current) drawMoving(moving.current, root.current, drawn);
  }, [memory, space, frame, size, theme, position, band, lit, over, cursor]);

  const placeOf = (event: MouseEvent): [number, number] => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const at = frame.from + ((event.clientX - box.left) / Math.max(1, box.width)) * (frame.to - frame.from);
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
  const zoom = (factor: number, around: number) => setFrame(zoomed(frame, factor, around, Math.max(4, memory.length)));
  const wheel = (event: WheelEvent) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.25 : 0.8, placeOf(event)[0]);
  };
  const key = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, PageDown: 20, PageUp: -20, Home: -Infinity, End: Infinity }[event.key];
    const factor = { "+": 0.5, "=": 0.5, "-": 2, "0": Infinity }[event.key];
    if ((!step && !factor) || event.ctrlKey || event.altKey || event.metaKey) return;
    if (step) onPosition(Math.max(0, Math.min(memory.length - 1, position + step)));
    if (factor) zoom(factor, position);
    event.preventDefault();
    event.stopPropagation();
  };
  const hasRoom = space.color === 0 && memory.room !== null && memory.room < frame.top;
  const label = `${space.name}: ${bytes(space.peak)} live at most, ${bytes(space.reserved)} reserved; arrows move, + and - zoom`;
  return (
    <div class="jxs-mem-chart" ref={root}>
      <div class="jxs-mem-scale jxs-dim" aria-hidden="true">
        <span style={{ bottom: `${(100 * space.reserved) / frame.top}%` }}>reserved {bytes(space.reserved)}</span>
        {hasRoom && (
          <span class="jxs-mem-room" style={{ bottom: `${(100 * (memory.room ?? 0)) / frame.top}%` }}>
            the device has {bytes(memory.room ?? 0)}
          </span>
        )}
      </div>
      <i class="jxs-mem-accent" hidden />
      <div
        class="jxs-mem-canvas"
        style={{ height: `${HEIGHT}px` }}
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
        <p class="jxs-mem-about" aria-hidden="true">
          {about(memory, space, over, cursor) || <span class="jxs-dim">{HINT}</span>}
        </p>
        <p class="jxs-mem-legend">
          {KINDS.map((kind) => (
            <span key={kind} title={kind === "residual" ? "kept for the backward pass" : kind}>
              <i data-kind={kind} aria-hidden="true" />
              {kind}
            </span>
          ))}
        </p>
      </div>
    </div>
  );
}
