/** The targets of a call side by side, as its first target's summary holds them. Read from untrusted JSON, so checked. */

export interface Cell {
  /** What rows are sorted by; null where it is not known. */
  value: number | null;
  text: string;
  reason: string | null;
  note: string | null;
  mark: "best" | "worst" | "";
}

export interface Column {
  name: string;
  title: string;
  hint: string;
}

export interface Row {
  /** The place among the call's targets, however the rows are sorted. */
  at: number;
  target: string;
  device: string;
  cells: Map<string, Cell>;
  error: string | null;
}

export interface Compare {
  /** The row of this target. */
  row: number;
  columns: Column[];
  rows: Row[];
}

export interface Order {
  column: string;
  down: boolean;
}

const MAX_ROWS = 200;
const MAX_COLUMNS = 40;
const MAX_TEXT = 500;

type Fields = Record<string, unknown>;

const fields = (raw: unknown): Fields => (raw !== null && typeof raw === "object" ? (raw as Fields) : {});
const list = (raw: unknown, most: number): Fields[] => (Array.isArray(raw) ? raw.slice(0, most).map(fields) : []);
const orNull = (raw: unknown): string | null => (typeof raw === "string" && raw ? raw.slice(0, MAX_TEXT) : null);
const text = (raw: unknown): string => orNull(raw) ?? "";

function readCell(raw: unknown): Cell {
  const cell = fields(raw);
  const value = typeof cell.value === "boolean" ? Number(cell.value) : cell.value;
  return {
    value: typeof value === "number" && Number.isFinite(value) ? value : null,
    text: text(cell.text) || "unknown",
    reason: orNull(cell.reason),
    note: orNull(cell.note),
    mark: cell.mark === "best" || cell.mark === "worst" ? cell.mark : "",
  };
}

export function readCompare(raw: unknown): Compare | null {
  if (raw === null || typeof raw !== "object") return null;
  const table = fields(raw);
  const columns = list(table.columns, MAX_COLUMNS).map((c) => ({
    name: text(c.name),
    title: text(c.title) || text(c.name),
    hint: text(c.hint),
  }));
  const rows = list(table.rows, MAX_ROWS).map((row, at) => ({
    at,
    target: text(row.target),
    device: text(row.device),
    cells: new Map(columns.map(({ name }) => [name, readCell(fields(row.cells)[name])])),
    error: orNull(row.error),
  }));
  const row = typeof table.row === "number" && Number.isInteger(table.row) && table.row >= 0 ? table.row : 0;
  return { row, columns, rows };
}

/** The rows by a column's values, what is not known last; without an order as they were given. */
export function sorted(rows: Row[], order: Order | null): Row[] {
  if (!order) return rows;
  const value = (row: Row) => row.cells.get(order.column)?.value ?? null;
  return [...rows].sort((a, b) => {
    const [x, y] = [value(a), value(b)];
    if (x === null || y === null) return Number(x === null) - Number(y === null) || a.at - b.at;
    return (order.down ? y - x : x - y) || a.at - b.at;
  });
}
