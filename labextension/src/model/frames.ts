import { int32, readColumns, strings } from "../wire/columns";
import type { Reply } from "../wire/source";

export interface SourceFile {
  name: string;
  cell: string | null;
  user: boolean;
  label: string;
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

export const FRAME_COLUMNS = [
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

function readFile(raw: unknown): SourceFile {
  const file = (raw ?? {}) as Record<string, unknown>;
  const name = String(file.name ?? "");
  const cell = typeof file.cell === "string" ? file.cell : null;
  const label = typeof file.label === "string" ? file.label : (cell ?? name);
  return { name, cell, label, user: file.user !== false };
}

export async function readFrames(reply: Reply): Promise<Frames> {
  const columns = await readColumns(reply);
  const length = columns.get("line")?.length ?? 0;
  const at = Object.fromEntries(FRAME_COLUMNS.map((name) => [name, int32(columns, name, length)]));
  const files = Array.isArray(reply.result.files) ? reply.result.files.map(readFile) : [];
  return new Frames(files, strings(reply.result.functions), at as unknown as FrameColumns);
}
