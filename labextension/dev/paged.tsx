/** A panel on a made-up document of 500,000 lines, to measure painting, scrolling and searching. Not shipped. */

import { mount } from "../src/hosts/mount";
import { Session } from "../src/model/session";
import type { Params, Reply, Source } from "../src/wire/source";
import { readState } from "../src/wire/state";
import { FullText } from "../src/model/text";

const ROWS = Number(new URLSearchParams(location.search).get("rows") ?? 500_000);
const MODE = new URLSearchParams(location.search).get("mode") ?? "paged";
const ROUND_TRIP_MS = 50;
const BLOCK = 40;
const FRAMES = 2000;

function line(row: number): string {
  const at = row % BLOCK;
  if (at === 0) return `%fused_computation.${row} (param_0.${row}: f32[8,512], param_1.${row}: f32[512]) -> f32[8,512] {`;
  if (at === BLOCK - 1) return "}";
  return `  %multiply.${row} = f32[8,512]{1,0:T(8,128)} multiply(%param_0.${row - at}, %add.${row - 1}), metadata={op_name="jit(step)/layer_${row % 32}/mul"}`;
}

const lines = (start: number, end: number): string[] => Array.from({ length: end - start }, (_, i) => line(start + i));

async function gzip(data: BlobPart): Promise<ArrayBuffer> {
  return new Response(new Blob([data]).stream().pipeThrough(new CompressionStream("gzip"))).arrayBuffer();
}

async function columns(made: Record<string, Int32Array<ArrayBuffer> | Uint8Array<ArrayBuffer>>, more = {}): Promise<Reply> {
  const names = Object.keys(made);
  const dtype = (name: string) => (made[name] instanceof Uint8Array ? "u1" : "i4");
  return {
    result: { ...more, columns: names.map((name) => ({ name, dtype: dtype(name) })) },
    buffers: await Promise.all(names.map((name) => gzip(made[name] ?? ""))),
  };
}

const int32 = (n: number, f: (i: number) => number): Int32Array<ArrayBuffer> => Int32Array.from({ length: n }, (_, i) => f(i));

const prepared = {
  columns: columns({
    frame: int32(ROWS, (i) => i % FRAMES),
    flags: new Uint8Array(ROWS).fill(1),
    fold_end: int32(ROWS, (i) => (i % BLOCK === 0 ? Math.min(ROWS, i + BLOCK) - 1 : -1)),
    scope: int32(ROWS, (i) => i % 32),
  }, { scopes: Array.from({ length: 32 }, (_, i) => `jit(step)/layer_${i}/mul`) }),
  frames: columns({
    file: int32(FRAMES, () => 0),
    function: int32(FRAMES, () => 0),
    line: int32(FRAMES, (i) => 1 + (i % 200)),
    column: int32(FRAMES, () => 1),
    end_line: int32(FRAMES, (i) => 1 + (i % 200)),
    end_column: int32(FRAMES, () => 9),
    parent: int32(FRAMES, (i) => i - 1),
    user: int32(FRAMES, (i) => i),
  }, { files: [{ name: "step.py", cell: "In [1]", user: true, label: "In [1]" }], functions: ["step"] }),
  text: MODE === "full" ? gzip(lines(0, ROWS).join("\n")) : Promise.resolve(new ArrayBuffer(0)),
};

let whole: FullText | null = null;

async function answer(method: string, params: Params): Promise<Reply> {
  if (method === "document") return { result: { mode: MODE, lines: ROWS }, buffers: [await prepared.text] };
  if (method === "page") return { result: { lines: lines(Number(params.start), Number(params.end)) }, buffers: [] };
  if (method === "columns") return prepared.columns;
  if (method === "frames") return prepared.frames;
  whole ??= new FullText(new TextEncoder().encode(lines(0, ROWS).join("\n")));
  const hits = await whole.search(String(params.query), params.case === true);
  return { result: { total: hits.total }, buffers: [hits.rows.buffer as ArrayBuffer, hits.columns.buffer as ArrayBuffer] };
}

class Made implements Source {
  state = () => readState({ calls: [{ name: "step", documents: [{ kind: "hlo", title: "HLO", lines: ROWS, bytes: 8e7 }] }] });
  onState = () => () => undefined;
  request = (method: string, params: Params): Promise<Reply> =>
    new Promise((resolve) => setTimeout(() => resolve(answer(method, params)), ROUND_TRIP_MS));
}

async function start(): Promise<void> {
  await Promise.all(Object.values(prepared));
  const parent = document.getElementById("panel");
  if (!parent) return;
  const asked = performance.now();
  const painted = new MutationObserver(() => {
    if (!parent.querySelector(".jxs-t-op")) return;
    painted.disconnect();
    requestAnimationFrame(() => requestAnimationFrame(() => Object.assign(window, { painted: performance.now() - asked })));
  });
  painted.observe(parent, { childList: true, subtree: true });
  mount(new Session(new Made()), parent);
}

void start();
