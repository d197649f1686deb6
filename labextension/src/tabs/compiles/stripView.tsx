import { textIn } from "../../wire/texts";
import { useState } from "preact/hooks";
import { type Surface, placeOf, useCanvas } from "../../parts/canvas";
import { Tip } from "../../parts/tip";
import { duration } from "../../wire/figures";
import { type Causes, type Compiles } from "./read";
import { type Bar, type Kind, type Strip, barAt, extent, left } from "./strip";

const LANE_PX = 12;
const FOOT_PX = 15;
const LABEL_GAP_PX = 6;
const COLOURS: Record<Kind, string> = { failed: "--jxs-bad", mendable: "--jxs-warn", loaded: "--jxs-good", compiled: "--jxs-accent", ours: "--jxs-line" };
/** Told apart by height too, not by colour alone. */
const HEIGHTS: Record<Kind, number> = { failed: 1, mendable: 1, loaded: 0.5, compiled: 0.7, ours: 0.3 };
const WORDS: [kind: Kind, word: string][] = [
  ["mendable", "avoidable"],
  ["failed", "failed"],
  ["compiled", "compiled"],
  ["loaded", "loaded from the persistent cache"],
  ["ours", "by JAXStage"],
];

interface Props {
  compiles: Compiles;
  causes: Causes | null;
  causeRow: Int32Array;
  strip: Strip;
  /** The rows of the list in the order of the strip. */
  rows: number[];
  current: number;
  onPick: (row: number) => void;
}

function drawBar({ g, width, colour }: Surface, bar: Bar): void {
  const height = HEIGHTS[bar.kind] * (LANE_PX - 2);
  g.fillStyle = colour(COLOURS[bar.kind]);
  g.fillRect(left(bar, width), bar.lane * LANE_PX + LANE_PX - 1 - height, extent(bar, width), height);
}

function draw(surface: Surface, strip: Strip, current: number, over: number): void {
  const { g, width, colour, font } = surface;
  const floor = strip.lanes * LANE_PX;
  g.fillStyle = colour("--jxs-line");
  g.fillRect(0, floor, width, 1);
  for (const { at } of strip.pauses) g.fillRect(Math.round(at * width), 0, 1, floor);
  for (const bar of strip.bars) drawBar(surface, bar);
  g.fillStyle = colour("--jxs-fg2");
  g.font = font(10);
  let free = 0;
  for (const { at, label } of strip.cells) {
    const x = Math.round(at * width);
    g.fillRect(x, floor, 1, 3);
    const room = g.measureText(label).width;
    const from = Math.min(x, width - room);
    if (from < free) continue;
    g.fillText(label, from, floor + 13);
    free = from + room + LABEL_GAP_PX;
  }
  for (const bar of strip.bars) {
    if (bar.row !== current && bar.row !== over) continue;
    g.strokeStyle = colour(bar.row === current ? "--jxs-fg" : "--jxs-fg2");
    g.lineWidth = bar.row === current ? 2 : 1;
    g.strokeRect(left(bar, width) - 1, bar.lane * LANE_PX + 0.5, extent(bar, width) + 2, LANE_PX - 1);
  }
}

function aboutOf({ compiles, causes, causeRow }: Pick<Props, "compiles" | "causes" | "causeRow">, row: number): string[] {
  const why = causes ? textIn(causes.why, causeRow[row] ?? -1) : "";
  const place = [textIn(compiles.cell, row), textIn(compiles.line, row)].filter(Boolean).join(", ");
  return [`#${compiles.number[row]} ${textIn(compiles.function, row)}: ${duration(compiles.own[row] ?? 0)}`, place, why].filter(Boolean);
}

/** The kernel's life in compiles: a click chooses one, arrows go from one to the next. */
export function StripView(props: Props) {
  const { compiles, strip, rows, current, onPick } = props;
  const [over, setOver] = useState<{ x: number; y: number; width: number; row: number } | null>(null);
  const canvas = useCanvas((surface) => draw(surface, strip, current, over?.row ?? -1), [strip, current, over?.row]);
  const hit = (event: MouseEvent) => {
    const { x, y } = placeOf(event);
    const width = (event.currentTarget as HTMLElement).clientWidth;
    const bar = barAt(strip, x, Math.floor(y / LANE_PX), width);
    return bar ? { x, y, width, row: bar.row } : null;
  };
  const key = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, PageDown: 20, PageUp: -20, Home: -Infinity, End: Infinity }[event.key];
    if (!step || !rows.length || event.ctrlKey || event.altKey || event.metaKey) return;
    onPick(rows[Math.max(0, Math.min(rows.indexOf(current) + step, rows.length - 1))] as number);
    event.preventDefault();
    event.stopPropagation();
  };
  const kinds = new Set(strip.bars.map(({ kind }) => kind));
  const spoken = current >= 0 ? aboutOf(props, current).join(", ") : "none chosen";
  return (
    <div class="jxs-co-life">
      <div
        class="jxs-co-strip"
        style={{ height: `${strip.lanes * LANE_PX + FOOT_PX}px` }}
        tabIndex={0}
        role="slider"
        aria-label={`${rows.length.toLocaleString("en-US")} compiles over time; arrows go from one to the next`}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, rows.length - 1)}
        aria-valuenow={Math.max(0, rows.indexOf(current))}
        aria-valuetext={spoken}
        onMouseMove={(event) => setOver(hit(event))}
        onMouseLeave={() => setOver(null)}
        onClick={(event) => {
          const found = hit(event);
          if (found) onPick(found.row);
        }}
        onKeyDown={key}
      >
        <canvas ref={canvas} />
        {over && <Tip x={over.x} y={over.y} width={over.width} lines={aboutOf(props, over.row)} />}
      </div>
      <p class="jxs-co-legend jxs-dim">
        {WORDS.filter(([kind]) => kinds.has(kind)).map(([kind, word]) => (
          <span key={kind}>
            <i data-kind={kind} aria-hidden="true" />
            {word}
          </span>
        ))}
        {strip.pauses.length > 0 && <span>times without a compile are shortened</span>}
        <span class="jxs-hidden">{compiles.length} records</span>
      </p>
    </div>
  );
}
