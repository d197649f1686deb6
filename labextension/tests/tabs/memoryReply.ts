/** A small program's memory, as the kernel answers. */

import type { Reply } from "../../src/wire/source";
import { type Column, type TableColumn, joined, packed, tableReply } from "./tableReply";

/** An argument of 40 bytes throughout; 30 above it from 1 to 2; after a gap 20 from 3 to 4, of which 10 are read back. */
export const COLUMNS: Record<string, Column> = {
  start: ["i4", [0, 1, 3]],
  end: ["i4", [4, 2, 4]],
  height: ["f8", [0, 40, 50]],
  size: ["f8", [40, 30, 20]],
  space: ["i4", [0, 0, 0]],
  kind: ["u1", [0, 3, 4]],
  row: ["i4", [-1, 5, 7]],
  line: ["i4", [-1, 0, 7]],
  names: ["text", ["w", "fusion", "dot"]],
  order: ["i4", [2, 3, 4, 5, 6]],
  steps: ["text", ["a", "b", "c", "d", "e"]],
  "at 0": ["i4", [0, 1, 3]],
  "live 0": ["f8", [40, 70, 60]],
};

/** A table of written texts: "size" has figures. */
export function written(columns: Record<string, (string | null)[]>, more: Record<string, unknown> = {}, places: Record<string, number[]> = {}): Reply {
  const shown = Object.entries(columns).map(([name, cells]): [string, TableColumn] => [name, { title: name, cells, isFigure: name === "size" }]);
  const beside = Object.entries(places).map(([name, cells]): [string, TableColumn] => [name, { cells }]);
  return tableReply(Object.fromEntries([...shown, ...beside]), { total: Object.values(columns)[0]?.length, ...more });
}

export const HEAD = {
  fit: { answer: "yes", needed: 80, room: 100, text: "Fits: it needs 80 B of the 100 B." },
  spaces: [{ color: 0, name: "HBM", held: 40, reserved: 80, position: 1, peak: 70 }],
  buffers: 3,
  notes: ["a note"],
  strings: { line: ["In [1]:2"] },
};

export const CHECKS = { checks: written({ figure: ["peak"] }) };

export function reply(head: Record<string, unknown> = HEAD, columns = COLUMNS, tables: Record<string, Reply> = CHECKS): Reply {
  const made = packed(columns, head);
  const { result, buffers } = joined(tables, made.buffers.length);
  return { result: { ...made.result, tables: result }, buffers: [...made.buffers, ...buffers] };
}
