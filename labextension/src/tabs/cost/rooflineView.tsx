import { useEffect, useMemo, useState } from "preact/hooks";
import { counted, percent, scaled } from "../../wire/figures";
import { type Axes, type Roofline, apart, axesOf, beyond, ceilings, decades, heightOf, mostBytes, placeAt, pointAt, radius, readRoofline, toX, toY } from "./roofline";
import { type Surface, placeOf, useCanvas } from "../../parts/canvas";
import { hover, open, pick } from "./pick";
import { useDocuments, useQuestion, useSelected, useSelection } from "../../parts/hooks";
import { Tip } from "../../parts/tip";
import { Waiting } from "../../parts/waiting";
import { Said } from "../../parts/said";

const KINDS = ["compute", "memory", "interconnect", "unknown"];
const variable = (bound: string) => (bound === "unknown" ? "--jxs-fg3" : `--jxs-${bound}`);

function grid({ g, colour, font }: Surface, axes: Axes): void {
  g.strokeStyle = colour("--jxs-line");
  g.fillStyle = colour("--jxs-fg2");
  g.lineWidth = 1;
  g.font = font(11);
  g.textAlign = "center";
  for (const value of decades(axes.x, (axes.right - axes.left) / 70)) {
    line(g, toX(axes, value), axes.top, toX(axes, value), axes.bottom);
    g.fillText(power(value), toX(axes, value), axes.bottom + 14);
  }
  g.fillText("arithmetic intensity, FLOP/B", (axes.left + axes.right) / 2, axes.bottom + 29);
  g.textAlign = "right";
  for (const value of decades(axes.y, (axes.bottom - axes.top) / 26)) {
    line(g, axes.left, toY(axes, value), axes.right, toY(axes, value));
    g.fillText(scaled(value, "FLOP/s"), axes.left - 6, toY(axes, value) + 4);
  }
}

const LABEL_PX = 14;

function line(g: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  g.beginPath();
  g.moveTo(x0, y0);
  g.lineTo(x1, y1);
  g.stroke();
}

const power = (value: number) => (value >= 0.01 && value < 1e4 ? String(Number(value.toPrecision(1))) : value.toExponential(0).replace("+", ""));

/** A line for each dtype's ceiling from its ridge on; the memory's slope up to the highest. */
function roofs({ g, colour, font }: Surface, axes: Axes, roof: Roofline): void {
  const { bandwidth, caches } = roof;
  const steepest = caches ?? bandwidth;
  const tops = ceilings(roof);
  g.font = font(11);
  g.lineWidth = 1.5;
  g.textAlign = "right";
  g.strokeStyle = g.fillStyle = colour(variable("compute"));
  for (const { peak } of tops) {
    const y = toY(axes, peak);
    line(g, steepest ? Math.max(axes.left, toX(axes, peak / steepest)) : axes.left, y, axes.right, y);
  }
  const top = tops.at(-1)?.peak ?? 10 ** axes.y.to;
  if (bandwidth) slope({ g, colour }, axes, "memory", bandwidth, top);
  if (caches) slope({ g, colour }, axes, "caches", caches, top);
  g.textAlign = "right";
  const right = axes.right - 2;
  const heights = apart(tops.map(({ peak }) => toY(axes, peak)), LABEL_PX, axes.bottom - 8);
  for (const [i, { names, peak }] of tops.entries()) {
    const y = heights[i] ?? 0;
    const text = `${names} ${scaled(peak, "FLOP/s")}`;
    const width = g.measureText(text).width;
    g.fillStyle = colour("--jxs-bg");
    g.fillRect(right - width - 3, y - 6, width + 6, 12);
    g.fillStyle = colour(variable("compute"));
    g.fillText(text, right, y + 4);
  }
}

function slope({ g, colour }: Pick<Surface, "g" | "colour">, axes: Axes, name: string, bandwidth: number, top: number): void {
  g.strokeStyle = g.fillStyle = colour(variable("memory"));
  const low = 10 ** axes.x.from;
  const high = Math.min(10 ** axes.x.to, top / bandwidth);
  g.save();
  g.beginPath();
  g.rect(axes.left, axes.top, axes.right - axes.left, axes.bottom - axes.top);
  g.clip();
  line(g, toX(axes, low), toY(axes, low * bandwidth), toX(axes, high), toY(axes, high * bandwidth));
  g.restore();
  const middle = Math.max(low, 10 ** axes.y.from / bandwidth) ** 0.3 * high ** 0.7;
  const [x, y, text] = [toX(axes, middle) + 8, toY(axes, middle * bandwidth) + 12, `${name} ${scaled(bandwidth, "B/s")}`];
  g.textAlign = "left";
  g.fillStyle = colour("--jxs-bg");
  g.fillRect(x - 2, y - 10, g.measureText(text).width + 4, 12);
  g.fillStyle = colour(variable("memory"));
  g.fillText(text, x, y);
}

type Outline = (g: CanvasRenderingContext2D, x: number, y: number, r: number) => void;
const circle: Outline = (g, x, y, r) => g.arc(x, y, r, 0, 2 * Math.PI);

/** Each as large as a circle of the radius. */
const OUTLINES: Record<string, Outline> = {
  memory: (g, x, y, r) => g.rect(x - 0.886 * r, y - 0.886 * r, 1.772 * r, 1.772 * r),
  interconnect: (g, x, y, r) => {
    const half = 1.253 * r;
    g.moveTo(x, y - half);
    for (const [dx, dy] of [[half, 0], [0, half], [-half, 0]] as const) g.lineTo(x + dx, y + dy);
    g.closePath();
  },
};

function points({ g, colour }: Surface, axes: Axes, roof: Roofline, most: number, marked: Set<number>): void {
  for (const kind of KINDS) {
    g.fillStyle = g.strokeStyle = colour(variable(kind));
    for (let i = roof.length - 1; i >= 0; i--) {
      if (roof.bound(i) !== kind) continue;
      g.beginPath();
      const place = placeAt(axes, roof.intensity[i] as number, roof.attainable[i] as number);
      (OUTLINES[kind] ?? circle)(g, ...place, radius(roof.bytes[i] as number, most));
      g.globalAlpha = kind === "unknown" ? 0 : 0.4;
      g.fill();
      g.globalAlpha = 1;
      g.stroke();
    }
  }
  measured({ g, colour }, axes, roof);
  g.strokeStyle = colour("--jxs-fg");
  g.lineWidth = 2.5;
  for (const i of marked) {
    g.beginPath();
    g.arc(...placeAt(axes, roof.intensity[i] as number, heightOf(roof, i)), radius(roof.bytes[i] as number, most) + 2, 0, 2 * Math.PI);
    g.stroke();
  }
}

const CROSS_PX = 4;

/** A cross where a profile measured an instruction, and a line from there up to what is attainable. */
function measured({ g, colour }: Pick<Surface, "g" | "colour">, axes: Axes, roof: Roofline): void {
  g.strokeStyle = colour("--jxs-fg");
  for (let i = 0; i < roof.length; i++) {
    const achieved = roof.achieved[i] ?? Number.NaN;
    if (!(achieved > 0)) continue;
    const [x, y] = placeAt(axes, roof.intensity[i] as number, achieved);
    g.lineWidth = 2;
    line(g, x - CROSS_PX, y - CROSS_PX, x + CROSS_PX, y + CROSS_PX);
    line(g, x - CROSS_PX, y + CROSS_PX, x + CROSS_PX, y - CROSS_PX);
    if (!Number.isFinite(roof.attainable[i] ?? Number.NaN)) continue;
    g.lineWidth = 1;
    line(g, x, y, x, placeAt(axes, roof.intensity[i] as number, roof.attainable[i] as number)[1]);
  }
}

/** How many points lie beyond an edge, at which they are drawn. */
function outside({ g, colour, font }: Surface, axes: Axes, roof: Roofline): void {
  const { left, right, below } = beyond(roof, axes);
  g.font = font(11);
  g.fillStyle = colour("--jxs-fg2");
  g.textAlign = "left";
  if (left) g.fillText(`◂ ${counted(left)} further left`, axes.left + 4, axes.top + 10);
  if (below) g.fillText(`▾ ${counted(below)} lower`, axes.left + 4, axes.bottom - 6);
  g.textAlign = "right";
  if (right) g.fillText(`${counted(right)} further right ▸`, axes.right - 4, axes.bottom - 6);
}

const some = (value: number | undefined, unit: string, what: string) => (value ? ` (${scaled(value, unit)} of it ${what})` : "");

const tipLines = (roof: Roofline, i: number): string[] => [
  roof.names[i] ?? "?",
  roof.line(i) || "source unknown",
  `${scaled(roof.flops[i] as number, "FLOP")}, ${scaled(roof.bytes[i] as number, "B")}${some(roof.near[i], "B", "on the chip")}, ${Number((roof.intensity[i] as number).toPrecision(3))} FLOP/B`,
  Number.isFinite(roof.seconds[i] ?? Number.NaN)
    ? `at least ${scaled(roof.seconds[i] as number, "s")}${some(roof.hidden[i], "s", "hidden")}, bound by ${roof.bound(i)}; unit: ${roof.unit(i) || "unknown"}`
    : "its least time is unknown",
  ...speed(roof, i),
];

const speed = (roof: Roofline, i: number): string[] => {
  const [achieved, attainable] = [roof.achieved[i] ?? Number.NaN, roof.attainable[i] ?? Number.NaN];
  if (!(achieved > 0)) return [];
  const share = attainable > 0 ? `, ${percent(achieved, attainable)} of what is attainable` : "";
  return [`measured: ${scaled(achieved, "FLOP/s")}${share}`];
};

const MOST_SAID = 3;

/** The points in words, for those who do not see them. */
const longest = (roof: Roofline): string =>
  [...roof.names.slice(0, MOST_SAID).keys()].map((i) => `${roof.names[i] ?? "?"}, ${tipLines(roof, i)[3]}`).join("; ");

const STEPS: Record<string, number> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity };

function Chart({ roof }: { roof: Roofline }) {
  const documents = useDocuments();
  const selection = useSelection();
  const selected = useSelected((s) => s.selected);
  const [at, setAt] = useState(-1);
  const most = useMemo(() => mostBytes(roof), [roof]);
  const marked = useMemo(() => {
    const own = selected?.doc === "hlo" ? roof.row.indexOf(selected.row) : -1;
    return new Set([at, own].filter((i) => i >= 0));
  }, [selected, at, roof]);
  const canvas = useCanvas(
    (surface) => {
      const axes = axesOf(roof, surface.width, surface.height);
      grid(surface, axes);
      points(surface, axes, roof, most, marked);
      roofs(surface, axes, roof);
      outside(surface, axes, roof);
    },
    [roof, marked],
  );
  useEffect(() => hover(selection, at < 0 ? -1 : (roof.row[at] ?? -1)), [at]);
  const axes = () => axesOf(roof, canvas.current?.clientWidth ?? 0, canvas.current?.clientHeight ?? 0);
  const under = (event: MouseEvent) => pointAt(roof, axes(), placeOf(event).x, placeOf(event).y, most);
  const choose = (i: number) => {
    setAt(i);
    if (i >= 0) pick(documents, selection, roof.row[i] ?? -1);
  };
  const key = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (step !== undefined) choose(Math.max(0, Math.min(at + step, roof.length - 1)));
    else if (event.key === "Enter" && at >= 0) open(documents, selection, roof.row[at] ?? -1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const shown = axes();
  const [tipX, tipY] = at < 0 ? [0, 0] : placeAt(shown, roof.intensity[at] as number, heightOf(roof, at));
  const label = `Roofline of ${roof.device}, ${counted(roof.length)} instructions, first ${longest(roof)}. Arrows go from the longest to the shortest, Enter opens the code.`;
  return (
    <div class="jxs-chart">
      <canvas
        ref={canvas}
        tabIndex={0}
        role="application"
        aria-label={label}
        onPointerMove={(event) => setAt(under(event))}
        onPointerLeave={() => setAt(-1)}
        onClick={(event) => choose(under(event))}
        onDblClick={(event) => open(documents, selection, roof.row[under(event)] ?? -1)}
        onKeyDown={key}
      />
      <Tip
        x={tipX}
        y={tipY}
        width={canvas.current?.clientWidth ?? 0}
        lines={at < 0 ? [] : tipLines(roof, at)}
      />
    </div>
  );
}

function Legend({ roof }: { roof: Roofline }) {
  return (
    <p class="jxs-legend">
      {KINDS.filter((kind) => [...Array(roof.length).keys()].some((i) => roof.bound(i) === kind)).map((kind) => (
        <span key={kind} data-bound={kind}>
          <i aria-hidden="true" /> bound {kind === "unknown" ? "unknown" : `by ${kind}`}
        </span>
      ))}
      {roof.achieved.some((rate) => rate > 0) && <span>× measured</span>}
      <span class="jxs-dim">area: bytes · height: attainable FLOP/s on {roof.device}</span>
      {roof.notes.map((note) => (
        <span class="jxs-dim" key={note}>
          <Said text={note} />
        </span>
      ))}
    </p>
  );
}

/** One point an instruction, under the roof of the target. */
export function RooflineView() {
  const question = useQuestion("roofline", {}, readRoofline);
  const roof = question.value;
  if (!roof) return <Waiting question={question} what="Placing the instructions" />;
  if (!roof.length) {
    const why = roof.peaks.length || roof.bandwidth ? "" : `No peak rates on file for ${roof.device}, so there is no roofline. Compile for a known device, for example h100; jaxstage_ext.measure_ceilings() measures this kernel's own.`;
    return (
      <div class="jxs-ledger">
        <p class="jxs-note">{why || "No instruction can be placed on the chart."}</p>
        {roof.notes.map((note) => (
          <p class="jxs-note" key={note}>
            <Said text={note} />
          </p>
        ))}
      </div>
    );
  }
  return (
    <>
      <Chart roof={roof} />
      <Legend roof={roof} />
    </>
  );
}
