import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Field, type Grid, type Order, cellText, largest, sorted } from "./grid";
import { visibleRange } from "./geometry";

const ROW_PX = 22;
const OVERSCAN = 8;
/** Tables up to this length are drawn whole. */
const WHOLE = 500;
const BARS = new Set(["flops", "bytes"]);
/** Paths, lines, leaves of a tree: where room lacks, their beginning goes. */
const TELLS_AT_ITS_END = /[/:]|'\]$/;

interface Props {
  grid: Grid;
  /** The rows to show, in the table's own order. */
  rows: Uint32Array;
  label: string;
  first: Order;
  current: number;
  isLit: (row: number) => boolean;
  onPick: (row: number) => void;
  onOpen: (row: number) => void;
  onPoint: (row: number) => void;
}

function Head({ fields, order, onOrder }: { fields: Field[]; order: Order; onOrder: (order: Order) => void }) {
  const next = ({ name, kind }: Field): Order =>
    order.field === name ? { field: name, down: !order.down } : { field: name, down: kind === "number" };
  return (
    <div class="jxs-grid-row jxs-grid-head" role="row" aria-rowindex={1}>
      {fields.map((field) => {
        const mine = order.field === field.name;
        return (
          <span
            role="columnheader"
            key={field.name}
            class={field.kind === "number" ? "jxs-grid-n" : undefined}
            aria-sort={!mine ? "none" : order.down ? "descending" : "ascending"}
          >
            <button type="button" class="jxs-grid-sort" data-sort={field.name} title={`${field.hint}; click to sort`} onClick={() => onOrder(next(field))}>
              {field.title}
              {mine && (order.down ? " ▾" : " ▴")}
            </button>
          </span>
        );
      })}
    </div>
  );
}

function Cell({ field, row, most }: { field: Field; row: number; most: number }) {
  const text = cellText(field, row);
  if (field.kind === "text") {
    const classes = ["jxs-grid-t", !field.strings[field.codes[row] ?? -1] && "jxs-grid-lack", TELLS_AT_ITS_END.test(text) && "jxs-grid-end"];
    return (
      <span role="gridcell" class={classes.filter(Boolean).join(" ")} title={text}>
        <bdi>{text}</bdi>
      </span>
    );
  }
  const value = field.values[row] ?? Number.NaN;
  const known = Number.isFinite(value);
  const why = known ? (field.isLeast?.(row) ? "at least this: of a part it is not known" : "") : (field.why?.(row) ?? "not known");
  const style = known && most > 0 && BARS.has(field.name) ? { "--jxs-share": `${(100 * value) / most}%` } : undefined;
  return (
    <span role="gridcell" class={`jxs-grid-n${known ? "" : " jxs-grid-lack"}${style ? " jxs-grid-bar" : ""}`} style={style} title={why || undefined}>
      {text}
      {!known && why && <span class="jxs-hidden">: {why}</span>}
    </span>
  );
}

let grids = 0;
const STEPS: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };

/** Sorted by a click on a column's head; above 500 rows only those in sight are drawn. Arrows move, Enter opens. */
export function GridView({ grid, rows, label, first, current, isLit, onPick, onOpen, onPoint }: Props) {
  const [order, setOrder] = useState(first);
  const [id] = useState(() => `jxs-grid-${grids++}`);
  const [place, setPlace] = useState({ top: 0, height: 400 });
  const body = useRef<HTMLDivElement>(null);
  const shown = useMemo(() => sorted(grid, rows, order), [grid, rows, order]);
  const most = useMemo(() => grid.fields.map((field) => (field.kind === "number" ? largest(field) : 0)), [grid]);
  const at = current < 0 ? -1 : shown.indexOf(current);
  const geometry = { rowHeight: ROW_PX, rows: shown.length, viewport: place.height };
  const [start, end] = shown.length <= WHOLE ? [0, shown.length - 1] : visibleRange(geometry, place.top, OVERSCAN);
  const measure = () => body.current && setPlace({ top: body.current.scrollTop, height: body.current.clientHeight || 400 });
  useEffect(() => {
    measure();
    const observer = new ResizeObserver(measure);
    if (body.current) observer.observe(body.current);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (!body.current || at < 0) return;
    reveal(body.current, at);
    measure();
  }, [at]);
  const key = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const step = STEPS[event.key];
    const to = step === undefined ? undefined : shown[Math.max(0, Math.min(at + step, shown.length - 1))];
    if (to !== undefined) onPick(to);
    else if (event.key === "Enter" && event.target === body.current && at >= 0) onOpen(current);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const style = columnsOf(grid.fields);
  const lines = [];
  for (let i = start; i <= end; i++) {
    const row = shown[i] as number;
    const classes = ["jxs-grid-row", row === current && "jxs-current", isLit(row) && "jxs-lit"].filter(Boolean).join(" ");
    lines.push(
      <div
        role="row"
        id={`${id}-${row}`}
        key={row}
        class={classes}
        data-row={row}
        aria-rowindex={i + 2}
        aria-selected={row === current}
        onClick={() => onPick(row)}
        onDblClick={() => onOpen(row)}
        onPointerEnter={() => onPoint(row)}
      >
        {grid.fields.map((field, column) => (
          <Cell key={field.name} field={field} row={row} most={most[column] ?? 0} />
        ))}
      </div>,
    );
  }
  return (
    <div
      class="jxs-grid"
      role="grid"
      tabIndex={0}
      aria-label={label}
      aria-rowcount={shown.length + 1}
      aria-activedescendant={at >= start && at <= end ? `${id}-${current}` : undefined}
      style={style}
      ref={body}
      onScroll={measure}
      onKeyDown={key}
      onPointerLeave={() => onPoint(-1)}
    >
      <Head fields={grid.fields} order={order} onOrder={setOrder} />
      <div class="jxs-grid-space" role="presentation" style={{ height: `${shown.length * ROW_PX}px` }}>
        <div role="presentation" style={{ transform: `translateY(${start * ROW_PX}px)` }}>
          {lines}
        </div>
      </div>
    </div>
  );
}

const USUAL: Record<string, number> = { opcode: 96, dtype: 54, flops: 104 };

/** Each row is a grid of its own, so that no width may depend on what a cell holds. */
function columnsOf(fields: Field[]): Record<string, string> {
  const least = fields.map((field) => field.least ?? USUAL[field.name] ?? (field.kind === "number" ? 84 : 180));
  const grows = fields.map((field) => field.kind === "text" && field.least !== undefined);
  return {
    "--jxs-columns": least.map((size, i) => (grows[i] ? `minmax(${size}px, ${size}fr)` : `${size}px`)).join(" "),
    "--jxs-least": `${least.reduce((all, size) => all + size + 8, 12)}px`,
  };
}

/** Scrolls the list alone, never the notebook around it. */
function reveal(list: HTMLElement, at: number): void {
  const head = list.firstElementChild?.getBoundingClientRect().height ?? 0;
  const [top, room] = [at * ROW_PX, list.clientHeight - head];
  if (top < list.scrollTop) list.scrollTop = top;
  else if (top + ROW_PX > list.scrollTop + room) list.scrollTop = top + ROW_PX - room;
}
