import { useMemo, useState } from "preact/hooks";
import { counted, percent, scaled } from "../../wire/figures";
import { type Band, type Chart, type Layout, type Place, type Spot, bands, charts, colourOf, partsOf, processesAt, product, spelled, spots, describeSpot, transposed } from "./meshMap";
import { byName } from "../../wire/check";

const MOST_CELLS = 8192;
const CHOSEN = byName<string>({
  you: "given by you",
  "default device": "on the default device",
  "committed arguments": "where the committed arguments are",
});
const ARROWS: Record<string, [number, number]> = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** "2 shards of f32[512,512], each on 4 devices" */
function shards(layout: Layout, type: (sizes: number[]) => string): string {
  const count = partsOf(layout);
  const isKnown = layout.shard.length > 0 || !layout.shape.length;
  const one = `${count} ${count === 1 ? "shard" : "shards"}${isKnown ? ` of ${type(layout.shard)}` : ""}`;
  return (layout.copies ?? 1) > 1 ? `${one}, ${count === 1 ? "" : "each "}on ${layout.copies} devices` : one;
}

/** What is to be said of the whole value. */
function Facts({ layout }: { layout: Layout }) {
  const type = (sizes: number[]) => `${layout.dtype}[${sizes.join(",")}]`;
  const facts = [
    type(layout.shape),
    shards(layout, type),
    layout.bytes === null ? "" : `${scaled(layout.bytes, "B")} per device`,
    layout.local && `${layout.local} per process`,
    layout.sums > 1 ? `partial sums over ${layout.sums} devices, not yet reduced` : "",
    layout.own > 1 ? `${layout.own} independent values, one per device, inside shard_map` : "",
  ].filter(Boolean);
  return (
    <p class="jxs-map-facts">
      <code>{layout.spec}</code>
      {layout.chosen && <span class={`jxs-badge jxs-by-${layout.chosen}`}>{CHOSEN[layout.chosen] ?? `chosen by ${layout.chosen}`}</span>}
      <span>{facts.join(" · ")}</span>
      {(layout.padding ?? 0) > 0 && <span class="jxs-caution">uneven: {percent(layout.padding ?? 0, 1)} of the memory is padding</span>}
    </p>
  );
}

interface SheetProps {
  chart: Chart;
  layout: Layout;
  places: Place[];
  rows: number;
  columns: number;
  /** The place on each axis; those of rows and columns are not looked at. */
  fixed: number[];
}

type Size = "large" | "middle" | "small";

const WIDTH: Record<Size, string> = { large: "minmax(56px, 150px)", middle: "minmax(26px, 40px)", small: "minmax(9px, 14px)" };

interface CellProps {
  spot: Spot;
  size: Size;
  layout: Layout;
  id: (device: number) => number;
  /** Whether several devices are at one place, as in the array's own chart. */
  shared: boolean;
  /** The processes of its devices where nothing beside the grid names them. */
  processes: number[];
}

/** "process 1", "processes 0 1 …" */
const named = (processes: number[]): string => `${processes.length > 1 ? "processes" : "process"} ${processes.slice(0, 4).join(" ")}${processes.length > 4 ? " …" : ""}`;

function Label({ spot: { devices, part }, size, layout, id, shared, processes }: CellProps) {
  if (size === "small" || !devices.length) return null;
  const ids = devices.slice(0, size === "large" ? 6 : 1).map(id).join(" ");
  if (size === "middle") return <small>{shared ? devices.length : ids}</small>;
  const where = processes.length > 0 && <small class="jxs-map-where">{named(processes)}</small>;
  if (shared)
    return (
      <>
        <span>{devices.length > 6 ? `${ids} …` : ids}</span>
        {where}
      </>
    );
  return (
    <>
      <small>{ids}</small>
      {where}
      <span>{part < 0 ? "–" : spelled(layout, part)}</span>
    </>
  );
}

function styleOf(layout: Layout, { part, share }: Spot): Record<string, string> {
  const { hue, saturation } = colourOf(layout, Math.max(part, 0));
  return { "--jxs-h": String(hue), "--jxs-s": `${saturation}%`, "--jxs-share": `${100 * share}%` };
}

/** Two axes of a chart. Cells of one colour hold the same; the one that is pointed at marks all that do. */
function Sheet({ chart, layout, places, rows, columns, fixed }: SheetProps) {
  const [at, setAt] = useState<[number, number] | null>(null);
  const [height, width] = [chart.axes[rows]?.size ?? 1, chart.axes[columns]?.size ?? 1];
  const many = height * width > MOST_CELLS;
  const sheet = useMemo(() => (many ? [] : spots(chart, layout, rows, columns, fixed)), [chart, layout, rows, columns, fixed]);
  if (many) return <p class="jxs-note">Too large to draw: {counted(height * width)} cells.</p>;
  const here = at && sheet[at[0]]?.[at[1]];
  const size: Size = width <= 8 && height <= 64 ? "large" : width > 24 || height > 64 ? "small" : "middle";
  const shared = chart.name === "array";
  const id = (device: number) => places[device]?.id ?? device;
  const several = new Set(places.map(({ host }) => host)).size > 1;
  const byColumns = several && !shared ? bands(transposed(sheet), places) : [];
  const byRows = several && !shared && !byColumns.length ? bands(sheet, places) : [];
  const isNamed = byColumns.length + byRows.length > 0;
  const heads = byColumns.length ? 2 : 1;
  const band = ({ process, from, size }: Band) => (
    <span
      class={`jxs-map-process${from ? (byRows.length ? " jxs-map-below" : " jxs-map-beside") : ""}`}
      title={`process ${process}`}
      key={`process ${from}`}
      style={byRows.length ? { gridColumn: "1", gridRow: `${from + heads + 1} / span ${size}` } : { gridColumn: `span ${size}` }}
    >
      {`process ${process}`}
    </span>
  );
  const move = (event: KeyboardEvent) => {
    const step = ARROWS[event.key];
    if (!step || event.ctrlKey || event.altKey || event.metaKey) return;
    setAt((now) => {
      const [row, column] = now ?? [0, -1];
      return [Math.max(0, Math.min(row + step[0], height - 1)), Math.max(0, Math.min(column + step[1], width - 1))];
    });
    event.preventDefault();
    event.stopPropagation();
  };
  const host = (row: number, column: number) => places[sheet[row]?.[column]?.devices[0] ?? -1]?.host;
  const parted = (row: number, column: number, row0: number, column0: number) =>
    !shared && row0 >= 0 && column0 >= 0 && host(row, column) !== host(row0, column0);
  const classOf = (spot: Spot, row: number, column: number) =>
    [
      "jxs-map-cell jxs-column",
      spot.part < 0 && "jxs-map-none",
      spot.share < 1 && "jxs-map-uneven",
      here && here.part === spot.part && spot.part >= 0 && "jxs-map-same",
      here === spot && "jxs-map-here",
      parted(row, column, row - 1, column) && "jxs-map-host-above",
      parted(row, column, row, column - 1) && "jxs-map-host-left",
    ]
      .filter(Boolean)
      .join(" ");
  const cells = sheet.flatMap((line, row) => [
    <span class="jxs-map-n" key={`row ${row}`}>
      {rows < 0 || (size === "small" && row % 8) ? "" : row}
    </span>,
    ...line.map((spot, column) => (
      <span
        key={`${row} ${column}`}
        class={classOf(spot, row, column)}
        style={styleOf(layout, spot)}
        data-part={spot.part}
        data-device={shared || !spot.devices.length ? undefined : id(spot.devices[0] as number)}
        onPointerEnter={() => setAt([row, column])}
      >
        <Label spot={spot} size={size} layout={layout} id={id} shared={shared} processes={several && !isNamed ? processesAt(spot, places) : []} />
      </span>
    )),
  ]);
  return (
    <>
      <div class="jxs-map-scroll">
        <div
          class={size === "small" ? "jxs-map-grid jxs-map-small" : "jxs-map-grid"}
          role="application"
          aria-label={`${chart.hint}: ${layout.name}; arrows move from device to device`}
          tabIndex={0}
          style={{ gridTemplateColumns: `${byRows.length ? "max-content " : ""}max-content repeat(${width}, ${WIDTH[size]})` }}
          onKeyDown={move}
          onPointerLeave={() => setAt(null)}
        >
          {byRows.length > 0 && <span style={{ gridColumn: "1", gridRow: "1" }} />}
          {byRows.map(band)}
          {byColumns.length > 0 && <span />}
          {byColumns.map(band)}
          <span class="jxs-map-corner">{rows >= 0 ? chart.axes[rows]?.name : ""}</span>
          {Array.from({ length: width }, (_, column) => (
            <span class="jxs-map-n" key={column}>
              {columns < 0 || (size === "small" && column % 8) ? "" : column}
            </span>
          ))}
          {cells}
        </div>
        <span class="jxs-map-across">{columns >= 0 ? `${chart.axes[columns]?.name} →` : ""}</span>
      </div>
      <p class="jxs-map-tip jxs-anywhere" role="status" aria-live="polite">
        {here ? describeSpot(here, layout, places, percent) : "Each colour is one slice. Hover over a cell, or use the arrow keys, to see which device holds what."}
      </p>
    </>
  );
}

/** The first two axes that have places to show. */
function usual({ axes }: Chart): [number, number] {
  const large = axes.map((_, i) => i).filter((i) => (axes[i]?.size ?? 1) > 1);
  if (large.length === 0) return [axes.length > 1 ? 0 : -1, axes.length > 1 ? 1 : axes.length - 1];
  return large.length === 1 ? [-1, large[0] as number] : [large[0] as number, large[1] as number];
}

function Drawn({ chart, layout, places }: { chart: Chart; layout: Layout; places: Place[] }) {
  const [[rows, columns], setAxes] = useState(() => usual(chart));
  const [fixed, setFixed] = useState<number[]>([]);
  const large = chart.axes.map((_, i) => i).filter((i) => (chart.axes[i]?.size ?? 1) > 1);
  const others = large.filter((i) => i !== rows && i !== columns);
  const choose = (which: 0 | 1, axis: number) => {
    const now: [number, number] = [rows, columns];
    if (now[1 - which] === axis) now[1 - which] = now[which] as number;
    now[which] = axis;
    setAxes(now);
  };
  const picker = (which: 0 | 1, label: string) => (
    <label>
      {label}
      <select value={[rows, columns][which]} onChange={(event) => choose(which, Number((event.target as HTMLSelectElement).value))}>
        {large.map((axis) => (
          <option value={axis} key={axis}>
            {chart.axes[axis]?.name}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <>
      {(large.length > 2 || (chart.axes[columns]?.size ?? 1) > 24) && (
        <div class="jxs-map-axes">
          {picker(0, "rows")}
          {picker(1, "columns")}
          {others.map((axis) => (
            <label key={axis}>
              {chart.axes[axis]?.name} = {fixed[axis] ?? 0}
              <input
                type="range"
                min={0}
                max={(chart.axes[axis]?.size ?? 1) - 1}
                value={fixed[axis] ?? 0}
                data-axis={chart.axes[axis]?.name}
                onInput={(event) => {
                  const next = chart.axes.map((_, i) => fixed[i] ?? 0);
                  next[axis] = Number((event.target as HTMLInputElement).value);
                  setFixed(next);
                }}
              />
            </label>
          ))}
        </div>
      )}
      <Sheet chart={chart} layout={layout} places={places} rows={rows} columns={columns} fixed={fixed} />
    </>
  );
}

/** Which device holds which slice of one value. */
export function MeshMapView({ layout, places, first, onChart }: { layout: Layout; places: Place[]; first: string; onChart: (name: string) => void }) {
  const ways = useMemo(() => (layout.problem ? [] : charts(layout, places)), [layout, places]);
  const chart = ways.find(({ name }) => name === first) ?? ways[0];
  return (
    <section class="jxs-map" aria-label={`devices of ${layout.name}`}>
      <div class="jxs-map-head">
        <b title={layout.name}>{layout.name}</b>
        <span class="jxs-grow" />
        {ways.length > 1 && (
          <span class="jxs-group" role="group" aria-label="arrange by">
            {ways.map(({ name, title, hint }) => (
              <button type="button" class="jxs-toggle" key={name} data-chart={name} title={hint} aria-pressed={name === chart?.name} onClick={() => onChart(name)}>
                {title}
              </button>
            ))}
          </span>
        )}
      </div>
      {layout.problem ? (
        <p class="jxs-note">Which device holds what is unknown: {layout.problem}.</p>
      ) : (
        <>
          <Facts layout={layout} />
          {chart && product(chart.axes.map(({ size }) => size)) > 0 && <Drawn chart={chart} layout={layout} places={places} key={`${chart.name} ${layout.name}`} />}
        </>
      )}
    </section>
  );
}
