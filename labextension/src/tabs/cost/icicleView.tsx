import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Costs, numbersOf, readCosts } from "./read";
import { counted, percent, scaled } from "../../wire/figures";
import type { TextField } from "../../wire/tables";
import { cellText } from "../../parts/grid/sort";
import { type Step, type Tree, type Window, grow, neighbour, tileAt, visible, windowOf } from "./icicle";
import { colourOfName } from "../../model/colours";
import { type Surface, placeOf, useCanvas } from "../../parts/canvas";
import { fittingText } from "../../parts/fittingText";
import { hover, open, pick } from "./pick";
import { useDoc, useDocuments, useKeptState, useQuestion, useSelected, useSelection } from "../../parts/hooks";
import { Tip } from "../../parts/tip";
import { Waiting } from "../../parts/waiting";
import type { Documents } from "../../model/documents";

const LANE_PX = 20;
const LEAST_TEXT_PX = 28;
const ARROWS = new Set(["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"]);

export const SHAPES = [
  ["scope", "by scope"],
  ["line", "by line"],
] as const;
export const MEASURES = [
  ["bytes", "bytes", "B"],
  ["FLOPs", "FLOPs", "FLOP"],
] as const;

/** An instruction's name scopes, or the lines that called each other until it was made; the outermost first. */
function pathOf(documents: Documents, costs: Costs, shape: string): (item: number) => Step[] {
  if (shape === "scope") {
    const { codes, strings } = costs.grid.fields.find(({ name }) => name === "scope") as TextField;
    const steps = strings.map((scope) => scope.split("/").map((name) => ({ name })));
    return (item) => steps[codes[item] ?? -1] ?? [{ name: "no name scope" }];
  }
  const [rows, frames] = [documents.loaded("hlo")?.rows, documents.frames()];
  const known = new Map<number, Step[]>();
  return (item) => {
    const frame = rows?.frame[costs.row[item] ?? -1] ?? -1;
    const found = known.get(frame);
    if (found) return found;
    const stack = frames && frame >= 0 ? frames.stack(frame).reverse().filter((f) => frames.fileOf(f)?.user) : [];
    const steps = stack.map((f): Step => {
      const [file, line] = [frames?.at.file[f] ?? -1, frames?.at.line[f] ?? 0];
      return { name: `${frames?.fileOf(f)?.label ?? "?"}:${line} ${frames?.functionOf(f) ?? ""}`, line: [file, line] };
    });
    const path = steps.length ? steps : [{ name: "source unknown" }];
    known.set(frame, path);
    return path;
  };
}

function text(s: Surface, name: string, x: number, y: number, width: number): void {
  if (width < LEAST_TEXT_PX) return;
  s.g.fillText(fittingText(s.g, name, width - 8), Math.max(x, 0) + 4, y + 14);
}

/** Tiles of one name have one colour, wherever they are. */
function colours(documents: Documents, tree: Tree): Uint32Array {
  const known = new Map<string, number>();
  return Uint32Array.from(tree.names, (name, tile) => {
    const line = tree.line[tile];
    const found = (line && documents.colourOf(...line)) ?? known.get(name) ?? colourOfName(name);
    if (!line) known.set(name, found);
    return colourOf(found, tree.leaf[tile] === 1);
  });
}

/** A tile's colour as 0xAABBGGRR: hsl(hue 60% 50%), thinner where there is more inside. */
function colourOf(hue: number, leaf: boolean): number {
  const channel = (n: number) => {
    const k = (n + hue / 30) % 12;
    return Math.round(255 * (0.5 - 0.3 * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return (((leaf ? 51 : 87) << 24) | (channel(4) << 16) | (channel(8) << 8) | channel(0)) >>> 0;
}

/** The lanes as pixels: of a lane one row is filled and the others are copies of it. */
function painted(tree: Tree, colour: Uint32Array, view: Window, width: number, lane: number): ImageData {
  const image = new ImageData(width, Math.max(1, tree.lanes.length * lane));
  const pixels = new Uint32Array(image.data.buffer);
  for (let depth = 0; depth < tree.lanes.length; depth++) {
    const row = depth * lane * width;
    visible(tree, depth, view, width, (tile, x, w) => {
      const [left, right] = [Math.floor(x), Math.max(Math.floor(x) + 1, Math.floor(x + w))];
      pixels.fill(tile === 0 ? 0 : (colour[tile] as number), row + left, row + Math.min(width, right - Number(right - left > 3)));
    });
    for (let y = 1; y < lane - 1; y++) pixels.copyWithin(row + y * width, row, row + width);
  }
  return image;
}

/** All tiles and their names: drawn anew for another window alone, not for what is pointed at. */
function picture(s: Surface, tree: Tree, colour: Uint32Array, focus: number): HTMLCanvasElement {
  const layer = document.createElement("canvas");
  const scale = globalThis.devicePixelRatio || 1;
  Object.assign(layer, { width: Math.round(s.width * scale), height: Math.round(s.height * scale) });
  const g = layer.getContext("2d") as CanvasRenderingContext2D;
  const view = windowOf(tree, focus);
  g.putImageData(painted(tree, colour, view, layer.width, Math.round(LANE_PX * scale)), 0, 0);
  g.scale(scale, scale);
  g.font = s.font(11);
  g.fillStyle = s.colour("--jxs-bg2");
  if (view.from === 0 && view.to >= tree.total) g.fillRect(0, 0, s.width, LANE_PX - 1);
  g.fillStyle = s.colour("--jxs-fg");
  const inside = { ...s, g };
  for (let depth = 0; depth < tree.lanes.length; depth++) {
    visible(tree, depth, view, s.width, (tile, x, w) => text(inside, tree.names[tile] ?? "", x, depth * LANE_PX, w));
  }
  return layer;
}

const MOST_SAID = 3;

/** The widest tiles of the outermost lane, in words. */
function outermost({ names, value, depth, total }: Tree): string {
  const tiles = [...names.keys()].filter((tile) => depth[tile] === 1).sort((a, b) => (value[b] ?? 0) - (value[a] ?? 0));
  return tiles.slice(0, MOST_SAID).map((tile) => `${names[tile]} ${percent(value[tile] ?? 0, total)}`).join(", ");
}

interface Layer {
  of: unknown[];
  image: HTMLCanvasElement;
}

function draw(s: Surface, tree: Tree, colour: Uint32Array, focus: number, marked: Set<number>, known: { current: Layer | null }): void {
  const ink = s.colour("--jxs-fg");
  const of = [tree, focus, s.width, s.height, ink, globalThis.devicePixelRatio];
  if (!known.current || of.some((value, i) => value !== known.current?.of[i])) known.current = { of, image: picture(s, tree, colour, focus) };
  const { from, to } = windowOf(tree, focus);
  s.g.drawImage(known.current.image, 0, 0, s.width, s.height);
  s.g.strokeStyle = ink;
  s.g.lineWidth = 2;
  for (const tile of marked) {
    const [start, end] = [tree.start[tile] as number, (tree.start[tile] as number) + (tree.value[tile] as number)];
    const [left, right] = [Math.max(0, ((start - from) / (to - from)) * s.width), Math.min(s.width, ((end - from) / (to - from)) * s.width)];
    if (right > left) s.g.strokeRect(left + 1, (tree.depth[tile] as number) * LANE_PX + 1, Math.max(1, right - left - 3), LANE_PX - 3);
  }
}

interface ChartProps {
  costs: Costs;
  tree: Tree;
  unit: string;
  title: string;
}

function Chart({ costs, tree, unit, title }: ChartProps) {
  const documents = useDocuments();
  const selection = useSelection();
  const selected = useSelected((s) => s.selected);
  const [focus, setFocus] = useState(0);
  const [at, setAt] = useState(-1);
  const colour = useMemo(() => colours(documents, tree), [tree]);
  const own = useMemo(() => {
    const item = selected?.doc === "hlo" ? costs.row.indexOf(selected.row) : -1;
    return item < 0 ? -1 : tree.item.findIndex((of, tile) => of === item && tree.leaf[tile] === 1);
  }, [tree, selected]);
  const marked = new Set([own, at].filter((tile) => tile >= 0));
  const known = useRef<Layer | null>(null);
  const canvas = useCanvas((surface) => draw(surface, tree, colour, focus, marked, known), [tree, focus, own, at]);
  const width = canvas.current?.clientWidth ?? 0;
  const view = windowOf(tree, focus);
  const under = (event: MouseEvent) => {
    const { x, y } = placeOf(event);
    const share = x / Math.max(1, canvas.current?.clientWidth ?? 0);
    return tileAt(tree, Math.floor(y / LANE_PX), view.from + (view.to - view.from) * share);
  };
  useEffect(() => hover(selection, at < 0 || !tree.leaf[at] ? -1 : (costs.row[tree.item[at] ?? -1] ?? -1)), [at]);
  const choose = (tile: number) => {
    if (tile < 0) return;
    setAt(tile);
    const [line, row] = [tree.line[tile], costs.row[tree.item[tile] ?? -1] ?? -1];
    const source = line ? documents.sourceRow(...line) : -1;
    if (source >= 0) selection.select("python", source, "cost");
    else if (tile > 0) pick(documents, selection, row);
  };
  const zoom = (tile: number) => tile >= 0 && !tree.leaf[tile] && setFocus(tile);
  const key = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (ARROWS.has(event.key)) choose(at < 0 ? focus : neighbour(tree, at, event.key));
    else if (event.key === "Enter" && at >= 0) tree.leaf[at] ? open(documents, selection, costs.row[tree.item[at] ?? -1] ?? -1) : zoom(at);
    else if (event.key === "Escape" && focus > 0) setFocus(Math.max(0, tree.parent[focus] ?? 0));
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const lines = at < 0 ? [] : [tree.names[at] ?? "", `${scaled(tree.value[at] as number, unit)}, ${percent(tree.value[at] as number, tree.total)} of all ${title}`];
  const middle = at < 0 ? 0 : (((tree.start[at] as number) + (tree.value[at] as number) / 2 - view.from) / (view.to - view.from)) * width;
  return (
    <>
      {focus > 0 && (
        <p class="jxs-legend">
          <button type="button" class="jxs-button jxs-boxed" onClick={() => setFocus(0)}>
            Whole program
          </button>
          <code>{tree.names[focus]}</code>
        </p>
      )}
      <div class="jxs-icicle">
        <canvas
          ref={canvas}
          style={{ height: `${tree.lanes.length * LANE_PX}px` }}
          tabIndex={0}
          role="application"
          aria-label={`${title} as nested tiles, ${counted(tree.length)} of them; in all ${scaled(tree.total, unit)}: ${outermost(tree)}. Arrows move, Enter goes inside, Escape out.`}
          onPointerMove={(event) => setAt(under(event))}
          onPointerLeave={() => setAt(-1)}
          onClick={(event) => (choose(under(event)), zoom(under(event)))}
          onDblClick={(event) => tree.leaf[under(event)] && open(documents, selection, costs.row[tree.item[under(event)] ?? -1] ?? -1)}
          onKeyDown={key}
        />
        <Tip x={Math.max(0, Math.min(width, middle))} y={(tree.depth[at] ?? 0) * LANE_PX + 8} width={width} lines={lines} />
      </div>
    </>
  );
}

function Grown({ costs }: { costs: Costs }) {
  const documents = useDocuments();
  const [shape, setShape] = useKeptState("icicle shape", "scope");
  const [measure, setMeasure] = useKeptState("icicle measure", "bytes");
  const hlo = documents.doc("hlo");
  useDoc(hlo);
  const ready = shape === "scope" || hlo?.rows != null;
  const [, title, unit] = MEASURES.find(([name]) => name === measure) ?? MEASURES[0];
  const tree = useMemo(() => {
    const [names] = costs.grid.fields as [TextField];
    return grow(`all ${title}`, numbersOf(costs, measure).values, pathOf(documents, costs, shape), (item) => cellText(names, item));
  }, [costs, shape, measure, hlo?.rows]);
  return (
    <>
      <div class="jxs-filter-bar jxs-strip jxs-cost-bar">
        <Choice name="nested" all={SHAPES} now={shape} onPick={setShape} />
        <Choice name="width" all={MEASURES} now={measure} onPick={setMeasure} />
        {tree.unknown > 0 && (
          <span class="jxs-cost-unknown">
            {counted(tree.unknown)} {tree.unknown === 1 ? "instruction with unknown FLOPs is not drawn" : "instructions with unknown FLOPs are not drawn"}
          </span>
        )}
      </div>
      {!ready ? (
        <p class="jxs-note">{hlo?.problem ?? "Loading…"}</p>
      ) : tree.total > 0 ? (
        <Chart costs={costs} tree={tree} unit={unit} title={title} key={`${shape} ${measure}`} />
      ) : (
        <p class="jxs-note">No {title} to show.</p>
      )}
    </>
  );
}

interface ChoiceProps {
  name: string;
  all: readonly (readonly [string, string, ...string[]])[];
  now: string;
  onPick: (name: string) => void;
}

function Choice({ name, all, now, onPick }: ChoiceProps) {
  return (
    <span class="jxs-group" role="group" aria-label={name}>
      {all.map(([value, title]) => (
        <button type="button" class="jxs-toggle" key={value} data-choice={value} aria-pressed={value === now} onClick={() => onPick(value)}>
          {title}
        </button>
      ))}
    </span>
  );
}

/** Bytes or FLOPs as tiles within tiles, by name scope or by the lines that call each other. */
export function IcicleView() {
  const question = useQuestion("cost_parts", {}, readCosts);
  if (!question.value) return <Waiting question={question} what="Listing the instructions" />;
  return <Grown costs={question.value} />;
}
