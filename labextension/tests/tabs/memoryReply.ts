/** A small program's memory, as the kernel answers. */

import { gz } from "../helpers";

const column = (dtype: string, values: number[]): ArrayBuffer => {
  const typed = dtype === "f8" ? Float64Array.from(values) : dtype === "u1" ? Uint8Array.from(values) : Int32Array.from(values);
  return gz(new Uint8Array(typed.buffer));
};

/** An argument of 40 bytes throughout; 30 above it from 1 to 2; after a gap 20 from 3 to 4, of which 10 are read back. */
export const COLUMNS: [string, string, number[] | string][] = [
  ["start", "i4", [0, 1, 3]],
  ["end", "i4", [4, 2, 4]],
  ["height", "f8", [0, 40, 50]],
  ["size", "f8", [40, 30, 20]],
  ["space", "i4", [0, 0, 0]],
  ["kind", "u1", [0, 3, 4]],
  ["row", "i4", [-1, 5, 7]],
  ["line", "i4", [-1, 0, 7]],
  ["lines", "u1", "In [1]:2"],
  ["names", "u1", "w\nfusion\ndot"],
  ["order", "i4", [2, 3, 4, 5, 6]],
  ["steps", "u1", "a\nb\nc\nd\ne"],
  ["at 0", "i4", [0, 1, 3]],
  ["live 0", "f8", [40, 70, 60]],
];

export const HEAD = {
  fit: { answer: "yes", needed: 80, room: 100, text: "Fits: it needs 80 B of the 100 B." },
  spaces: [{ color: 0, name: "HBM", held: 40, reserved: 80, position: 1, peak: 70 }],
  length: 5,
  buffers: 3,
  notes: ["a note"],
  tables: { checks: { columns: [{ name: "figure", hint: "", number: false }], rows: [["peak"]], total: 1 } },
};

export const reply = (head: Record<string, unknown> = HEAD, columns = COLUMNS) => ({
  result: { ...head, columns: columns.map(([name, dtype]) => ({ name, dtype })) },
  buffers: columns.map(([, dtype, values]) => (typeof values === "string" ? gz(values) : column(dtype, values))),
});
