import { Columns, strings } from "../wire/columns";
import { number, textOrNull, texts } from "../wire/check";
import type { Reply } from "../wire/source";

export interface SourceFile {
  name: string;
  cell: string | null;
  user: boolean;
  label: string;
  /** Its absolute path on the kernel's machine, where the kernel lives and the file is the user's own; else null. */
  path: string | null;
  /** The notebook's cells whose text it is, by id, and the text's CRC-32 as it ran; null where that is not known. */
  cells: string[];
  crc: number | null;
  /** The installed package that it belongs to, such as "flax"; "" for the user's own files. */
  library: string;
}

/** Stands for all libraries where the name of one may be given. */
export const EVERYTHING = "*";
const MOST_CELLS = 100;
const INSTALLED = /^(?:.*[/\\])?(?:site|dist)-packages[/\\]/;

function libraryOf(name: string): string {
  const inside = name.replace(INSTALLED, "");
  return inside === name ? "Python" : (inside.split(/[/\\]/)[0] ?? "").replace(/\.py$/, "");
}

interface FrameColumns {
  file: Int32Array;
  function: Int32Array;
  line: Int32Array;
  column: Int32Array;
  end_line: Int32Array;
  end_column: Int32Array;
  parent: Int32Array;
  user: Int32Array;
}

const FRAME_COLUMNS = [
  "file",
  "function",
  "line",
  "column",
  "end_line",
  "end_column",
  "parent",
  "user",
] as const;

/** The call stacks of one call, and which of them point at the same place. */
export class Frames {
  readonly length: number;
  /** The user's frame that a frame stands for, or the frame itself where there is none. */
  readonly anchor: Int32Array;
  /** Equal for frames whose anchors are the same expression. */
  readonly span: Int32Array;
  /** Equal for frames whose anchors begin on the same line of the same file. */
  readonly place: Int32Array;

  constructor(
    readonly files: SourceFile[],
    readonly functions: string[],
    readonly at: FrameColumns,
  ) {
    this.length = at.line.length;
    this.anchor = at.user.map((user, frame) => (user >= 0 && user < this.length ? user : frame));
    this.span = numbered(this.anchor, (f) => [this.where(f), at.column[f], at.end_line[f], at.end_column[f]].join());
    this.place = numbered(this.anchor, (f) => this.where(f));
  }

  private where(frame: number): string {
    return `${this.at.file[frame]},${this.at.line[frame]}`;
  }

  linked(frame: number): boolean {
    return (this.at.user[frame] ?? -1) >= 0;
  }

  endLine(frame: number): number {
    return Math.max(this.at.line[frame] ?? 0, this.at.end_line[frame] ?? 0);
  }

  covers(frame: number, file: number, line: number): boolean {
    return this.at.file[frame] === file && (this.at.line[frame] ?? 0) <= line && line <= this.endLine(frame);
  }

  fileOf(frame: number): SourceFile | undefined {
    return this.files[this.at.file[frame] ?? -1];
  }

  functionOf(frame: number): string {
    return this.functions[this.at.function[frame] ?? -1] ?? "";
  }

  /** Whether any frame has a caller. */
  get hasCalls(): boolean {
    return this.at.parent.some((parent) => parent >= 0);
  }

  /** The libraries that frames are in, those with most frames first. */
  get libraries(): string[] {
    const counts = new Map<string, number>();
    for (const file of this.at.file) {
      const library = this.files[file]?.library;
      if (library) counts.set(library, (counts.get(library) ?? 0) + 1);
    }
    return [...counts].sort((a, b) => b[1] - a[1]).map(([library]) => library);
  }

  /** The same frames, where the lines of a library count as the user's own do; `EVERYTHING` names all. */
  counting(library: string): Frames {
    if (!library) return this;
    const counts = this.files.map((file) => file.user || library === EVERYTHING || file.library === library);
    const user = this.at.user.slice();
    const own = (frame: number) => frame >= 0 && counts[this.at.file[frame] ?? -1] === true;
    for (let frame = 0; frame < user.length; frame++) {
      const parent = this.at.parent[frame] ?? -1;
      const nearest = own(frame) ? frame : parent >= 0 ? (user[parent] ?? -1) : -1;
      if (own(nearest)) user[frame] = nearest;
    }
    return new Frames(this.files, this.functions, { ...this.at, user });
  }

  /** The frame and its callers, innermost first. */
  stack(frame: number): number[] {
    const chain: number[] = [];
    while (frame >= 0 && frame < this.length && chain.length < 1000) {
      chain.push(frame);
      frame = this.at.parent[frame] ?? -1;
    }
    return chain;
  }
}

function numbered(frames: Int32Array, key: (frame: number) => string): Int32Array {
  const ids = new Map<string, number>();
  return frames.map((frame) => {
    const name = key(frame);
    const id = ids.get(name) ?? ids.size;
    ids.set(name, id);
    return id;
  });
}

export function readFile(raw: unknown): SourceFile {
  const file = (raw ?? {}) as Record<string, unknown>;
  const name = String(file.name ?? "");
  const cell = typeof file.cell === "string" ? file.cell : null;
  const user = file.user !== false;
  const label = typeof file.label === "string" ? file.label : (cell ?? (user ? name : name.replace(INSTALLED, "")));
  const known = { path: textOrNull(file.path), cells: texts(file.cells, MOST_CELLS), crc: number(file.crc) };
  return { name, cell, label, user, library: user ? "" : libraryOf(name), ...known };
}

export async function readFrames(reply: Reply): Promise<Frames> {
  const columns = await Columns.of(reply);
  const length = columns.lengthOf("line");
  const at = Object.fromEntries(FRAME_COLUMNS.map((name) => [name, columns.ints(name, length)]));
  const files = Array.isArray(reply.result.files) ? reply.result.files.map(readFile) : [];
  return new Frames(files, strings(reply.result.functions), at as unknown as FrameColumns);
}
