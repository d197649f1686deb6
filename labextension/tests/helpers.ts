import { gzipSync } from "node:zlib";
import type { Rows } from "../src/wire/columns";
import { Frames, type SourceFile } from "../src/model/frames";
import type { Reply } from "../src/wire/source";

export function gz(data: Uint8Array | string): ArrayBuffer {
  const packed = gzipSync(data);
  return packed.buffer.slice(packed.byteOffset, packed.byteOffset + packed.byteLength) as ArrayBuffer;
}

export function columnsReply(columns: Record<string, number[]>, more: Record<string, unknown> = {}): Reply {
  const names = Object.keys(columns);
  return {
    result: { ...more, columns: names.map((name) => ({ name, dtype: name === "flags" ? "u1" : "i4" })) },
    buffers: names.map((name) => {
      const values = columns[name] ?? [];
      return gz(new Uint8Array((name === "flags" ? Uint8Array.from(values) : Int32Array.from(values)).buffer));
    }),
  };
}

/** [file, line, column, endLine, endColumn, parent, user] for each frame. */
export type FrameTuple = [number, number, number, number, number, number, number];

export function frames(table: FrameTuple[], files: Partial<SourceFile>[] = [{}]): Frames {
  const column = (i: number) => Int32Array.from(table.map((row) => row[i] ?? -1));
  const full = files.map((f, i) => ({ name: `f${i}`, cell: null, user: true, label: `f${i}`, library: "", path: null, cells: [], crc: null, ...f }));
  return new Frames(full, ["f"], {
    file: column(0),
    function: new Int32Array(table.length),
    line: column(1),
    column: column(2),
    end_line: column(3),
    end_column: column(4),
    parent: column(5),
    user: column(6),
  });
}

export function rows(frame: number[], more: Partial<Rows> = {}): Rows {
  const none = () => new Int32Array(frame.length).fill(-1);
  return {
    frame: Int32Array.from(frame),
    flags: new Uint8Array(frame.length),
    foldEnd: none(),
    scope: none(),
    scopes: [],
    origin: null,
    file: null,
    number: null,
    ...more,
  };
}
