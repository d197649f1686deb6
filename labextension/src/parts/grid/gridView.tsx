/** The one table of the panel: sorted by a click on a column's head; of a long one only the rows in sight are drawn. */

import { unquoted } from "../said";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Field, Grid } from "../../wire/tables";
import { visibleRange } from "../geometry";
import { Cell } from "./cell";
import { type Order, largest, sorted } from "./sort";
import { answersInSight, columnsOf } from "./widths";

const ROW_PX = 22;
/** Where heights may not differ. */
const TWO_LINES_PX = 38;
const OVERSCAN = 8;
/** Tables up to this length are drawn whole. */
const WHOLE = 500;
const STEPS: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };
export const AS_GIVEN: Order = { field: "", down: false };

export interface GridProps {
  grid: Grid;
  /** The rows to show, in the table's own order; all without it. */
  rows?: Uint32Array;
  label: string;
  first?: Order;
  current?: number;
  isLit?: (row: number) => boolean;
  onPick?: ((row: number) => void) | undefined;
  onOpen?: (row: number) => void;
  /** The row under the pointer or the keyboard, -1 for none. */
  onPoint?: (row: number) => void;
  /** Told what a cell or a row says to the pointer. */
  onAbout?: (about: string) => void;
  /** Pixels of a row. */
  height?: number;
  /** Lines between the rows, columns as wide as what they hold, and rows that are chosen by a link. */
  isLined?: boolean;
  rowClass?: (row: number) => string;
  rowAttributes?: (row: number) => Record<string, string | undefined>;
  /** In place of a row's figures. */
  problem?: (row: number) => string | null;
}

/** A click turns the order round, another gives back the table's own. */
function next(field: Field, order: Order): Order {
  const down = field.kind === "number" && !field.isBestSmall;
  if (order.field !== field.name) return { field: field.name, down };
  return order.down === down ? { ...order, down: !down } : AS_GIVEN;
}

const isSortable = (field: Field) => field.kind === "number" || !field.isFigure;
const SIDEWAYS: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };

/** Arrows go from head to head. */
function moveHead(event: KeyboardEvent): void {
  const step = SIDEWAYS[event.key];
  if (!step || event.ctrlKey || event.altKey || event.metaKey) return;
  const heads = [...(event.currentTarget as HTMLElement).querySelectorAll("button")];
  heads[Math.max(0, Math.min(heads.indexOf(event.target as HTMLButtonElement) + step, heads.length - 1))]?.focus();
  event.preventDefault();
  event.stopPropagation();
}

function Head({ fields, order, onOrder }: { fields: Field[]; order: Order; onOrder: (order: Order) => void }) {
  const sortable = fields.filter(isSortable).map(({ name }) => name);
  const [held, setHeld] = useState("");
  const stop = sortable.includes(held) ? held : sortable[0];
  return (
    <tr class="jxs-grid-row jxs-grid-head" role="row" aria-rowindex={1} onKeyDown={moveHead}>
      {fields.map((field) => {
        const mine = order.field === field.name;
        const isFigure = field.kind === "number" || field.isFigure;
        return (
          <th
            role="columnheader"
            scope="col"
            key={field.name}
            class={isFigure ? "jxs-number" : ""}
            data-column={field.name}
            aria-sort={!mine ? "none" : order.down ? "descending" : "ascending"}
          >
            {!isSortable(field) ? (
              <span class="jxs-grid-title jxs-cut" title={field.hint}>
                {field.title}
              </span>
            ) : (
              <button
                type="button"
                class="jxs-grid-title jxs-cut"
                data-sort={field.name}
                title={`${field.hint}; click to sort`}
                tabIndex={field.name === stop ? 0 : -1}
                onFocus={() => setHeld(field.name)}
                onClick={() => onOrder(next(field, order))}
              >
                {field.title}
                {mine && <span aria-hidden="true">{order.down ? " ▾" : " ▴"}</span>}
              </button>
            )}
          </th>
        );
      })}
    </tr>
  );
}

/** Arrows go from link to link, where the keyboard is on one, and from the heads down to the first. */
function moveFocus(event: KeyboardEvent): boolean {
  const links = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>(".jxs-grid-link")];
  const at = links.indexOf(event.target as HTMLElement);
  const step = STEPS[event.key];
  if (!links.length || !step || (at < 0 && step < 0)) return false;
  links[Math.max(0, Math.min(at + step, links.length - 1))]?.focus();
  return true;
}

/** Scrolls the list alone, never the notebook around it. `row` is drawn where rows are of several heights. */
function reveal(list: HTMLElement, at: number, height: number, row: HTMLElement | null): void {
  const head = list.querySelector("thead")?.getBoundingClientRect().height ?? 0;
  const [top, own, room] = [row ? row.offsetTop - head : at * height, row?.offsetHeight ?? height, list.clientHeight - head];
  if (top < list.scrollTop) list.scrollTop = top;
  else if (top + own > list.scrollTop + room) list.scrollTop = top + own - room;
}

/** Whether rows may take several lines. */
const isOfLines = (field: Field) => field.kind === "text" && (field.wraps || field.isAnswer) === true;

/** Scripts that are loaded later have a copy of this each. */
const PREFIX = `jxs-grid-${Math.random().toString(36).slice(2, 8)}`;
let grids = 0;

export function GridView(props: GridProps) {
  const { label, first = AS_GIVEN, current = -1, isLit, isLined = false, problem, onPick, onPoint, onAbout } = props;
  const [place, setPlace] = useState({ top: 0, height: 400, width: 0 });
  const grid = useMemo(() => answersInSight(props.grid, isLined, place.width), [props.grid, isLined, place.width]);
  const rows = useMemo(() => props.rows ?? Uint32Array.from({ length: grid.length }, (_, row) => row), [grid, props.rows]);
  const [order, setOrder] = useState(first);
  const [id] = useState(() => `${PREFIX}-${grids++}`);
  const [held, setHeld] = useState(current);
  const body = useRef<HTMLDivElement>(null);
  const shown = useMemo(() => sorted(grid, rows, order), [grid, rows, order]);
  const most = useMemo(() => grid.fields.map((field) => (field.kind === "number" && !isLined ? largest(field) : 0)), [grid, isLined]);
  const style = useMemo(() => columnsOf(grid, isLined), [grid, isLined]);
  const wraps = grid.fields.some((field) => field.kind === "text" && field.wraps);
  const at = current < 0 ? -1 : shown.indexOf(current);
  const isWhole = wraps || shown.length <= WHOLE;
  const hasLines = grid.fields.some(isOfLines);
  const height = Math.max(props.height ?? ROW_PX, hasLines && !isWhole ? TWO_LINES_PX : 0);
  const [start, end] = isWhole ? [0, shown.length - 1] : visibleRange({ rowHeight: height, rows: shown.length, viewport: place.height }, place.top, OVERSCAN);
  const measure = () => body.current && setPlace({ top: body.current.scrollTop, height: body.current.clientHeight || 400, width: body.current.clientWidth });
  useEffect(() => {
    measure();
    const observer = new ResizeObserver(measure);
    if (body.current) observer.observe(body.current);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (!body.current || at < 0) return;
    reveal(body.current, at, height, hasLines && isWhole ? body.current.querySelector(`[data-row="${current}"]`) : null);
    measure();
  }, [at]);
  useEffect(() => {
    if (!body.current || order === first) return;
    body.current.scrollTop = 0;
    measure();
  }, [order]);
  const key = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const step = STEPS[event.key];
    const to = step === undefined ? undefined : shown[Math.max(0, Math.min(at + step, shown.length - 1))];
    if (moveFocus(event)) void 0;
    else if (isLined) return;
    else if (to !== undefined) {
      if (event.target !== body.current) body.current?.focus({ preventScroll: true });
      onPick?.(to);
    }
    else if (event.key === "Enter" && event.target === body.current && at >= 0) props.onOpen?.(current);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const aboutOf = (row: number, target: EventTarget | null): string => {
    const field = grid.fields[(target as HTMLElement | null)?.closest<HTMLTableCellElement>("th, td")?.cellIndex ?? 0];
    return problem?.(row) ?? (field?.kind === "number" ? field.about?.(row) : undefined) ?? props.rowAttributes?.(row).title ?? "";
  };
  const heldAt = shown.indexOf(held);
  const stop = heldAt >= start && heldAt <= end ? held : shown[start];
  const lines = [];
  for (let i = start; i <= end; i++) {
    const row = shown[i] as number;
    const why = problem?.(row) ?? null;
    const classes = ["jxs-grid-row", row === current && "jxs-current", isLit?.(row) && "jxs-lit", onPick && isLined && "jxs-chosen-by-click", props.rowClass?.(row)];
    const cells = why === null ? grid.fields : grid.fields.slice(0, 1);
    lines.push(
      <tr
        role="row"
        id={`${id}-${row}`}
        key={row}
        {...props.rowAttributes?.(row)}
        class={classes.filter(Boolean).join(" ")}
        data-row={row}
        aria-rowindex={i + 2}
        aria-selected={row === current}
        onClick={() => onPick?.(row)}
        onDblClick={() => props.onOpen?.(row)}
        onPointerEnter={() => onPoint?.(row)}
        onMouseOver={onAbout && ((event) => onAbout(aboutOf(row, event.target)))}
        onFocusIn={isLined ? (event) => (setHeld(row), onPoint?.(row), onAbout?.(aboutOf(row, event.target))) : undefined}
        onFocusOut={isLined ? () => onPoint?.(-1) : undefined}
      >
        {cells.map((field, column) => (
          <Cell key={field.name} field={field} row={row} most={most[column] ?? 0} isFirst={column === 0} isLink={isLined && column === 0 && onPick !== undefined} tabIndex={row === stop ? 0 : -1} />
        ))}
        {why !== null && (
          <td role="gridcell" class="jxs-grid-problem" title={unquoted(why)}>
            ✕ {why}
          </td>
        )}
      </tr>,
    );
  }
  return (
    <div
      class={["jxs-grid", isLined && "jxs-lined", hasLines && isWhole && "jxs-of-lines"].filter(Boolean).join(" ")}
      role="grid"
      tabIndex={isLined ? -1 : 0}
      aria-label={label}
      aria-rowcount={shown.length + 1}
      aria-activedescendant={at >= start && at <= end ? `${id}-${current}` : undefined}
      style={{ ...style, "--jxs-grid-row": `${height}px` }}
      ref={body}
      onScroll={measure}
      onKeyDown={key}
      onPointerLeave={() => (onPoint?.(-1), onAbout?.(""))}
    >
      <table role="presentation">
        <thead role="rowgroup">
          <Head fields={grid.fields} order={order} onOrder={setOrder} />
        </thead>
        <tbody role="rowgroup" style={isWhole ? {} : { height: `${shown.length * height}px`, paddingTop: `${start * height}px` }}>
          {lines}
        </tbody>
      </table>
    </div>
  );
}
