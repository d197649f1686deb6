/** Saved reports: what an inspection's `to_json` writes, and what an offline page holds a list of. */

import { type Fields, capped, entries, fields, list, text, textOrNull, texts } from "./check";
import { Refusal } from "./errors";
import { gunzip } from "./gzip";
import type { Params, Reply, Source } from "./source";
import { type PanelState, readState } from "./state";
import { UnpackBudget } from "./unpackBudget";

const NEWEST = 4;
const MOST_TARGETS = 256;
const MOST_FILES = 1_000_000;
const MOST_LINES = 4_000_000;
const LONGEST_LINE = 4000;
const HEAD = 2000;
const TAIL = 500;

/** Rejects with a Refusal where these unpack to too much. */
type Check = (buffers: ArrayBuffer[]) => Promise<void>;

/** The value of that name, unless it is inherited. */
const own = (raw: unknown, name: string): unknown => (Object.hasOwn(fields(raw), name) ? fields(raw)[name] : undefined);

/** How a target's replies are named: by the method and the parameters without the call, sorted. */
export function replyKey(method: string, params: Params): string {
  const sorted = Object.entries(params).sort(([a], [b]) => (a < b ? -1 : 1));
  return `${method} ${JSON.stringify(Object.fromEntries(sorted.filter(([name]) => name !== "call")))}`;
}

/** What a report holds of each target, in the order they are shown. */
function targetsOf(raw: unknown): Fields[] {
  const report = fields(raw);
  const version = report.jaxstage;
  if (typeof version !== "number" || !(version >= 1 && version <= NEWEST)) {
    throw new Refusal(`This report has format ${capped(String(version), 40)}; formats 1 to ${NEWEST} can be read.`);
  }
  const main = textOrNull(report.target) ?? "local";
  const names = new Set([...texts(report.order, MOST_TARGETS), main]);
  return [...names].map((name) => fields(name === main ? report : own(report.others, name)));
}

function fromBase64(raw: unknown): ArrayBuffer {
  return Uint8Array.from(atob(typeof raw === "string" ? raw : ""), (c) => c.charCodeAt(0)).buffer;
}

function columns(raw: unknown, more: Fields): Reply {
  const packed = entries(raw).map(([name, column]) => ({ name, ...fields(column) }) as Fields);
  const described = packed.map(({ name, dtype }) => ({ name, dtype }));
  return { result: { ...more, columns: described }, buffers: packed.map(({ data }) => fromBase64(data)) };
}

/** As Python's `elide`: by characters, of which some are two in a text of JavaScript. */
export function elided(line: string): string {
  const all = line.length <= LONGEST_LINE ? [] : [...line];
  if (all.length <= LONGEST_LINE) return line;
  return `${all.slice(0, HEAD).join("")}… [${(all.length - HEAD - TAIL).toLocaleString("en")} characters elided] …${all.slice(-TAIL).join("")}`;
}

async function compressed(content: string): Promise<ArrayBuffer> {
  return new Response(new Blob([content]).stream().pipeThrough(new CompressionStream("deflate"))).arrayBuffer();
}

/** Throws a Refusal where there are far more lines than any document has. */
function hasLongLine(content: string): boolean {
  let hasLong = false;
  let lines = 0;
  for (let start = 0, end = 0; end < content.length; start = end + 1) {
    end = content.indexOf("\n", start);
    if (end < 0) end = content.length;
    hasLong ||= end - start > LONGEST_LINE;
    if (++lines > MOST_LINES) throw new Refusal(`This document is not shown: it has more than ${MOST_LINES.toLocaleString("en")} lines.`);
  }
  return hasLong;
}

/** The text as panes show it: of long lines the ends. Packed again only where that changes it; plain in formats 1 and 2. */
async function documentText(raw: unknown, check: Check): Promise<ArrayBuffer> {
  const packed = typeof raw === "string" ? null : fromBase64(fields(raw).data);
  if (packed) await check([packed]);
  const content = typeof raw === "string" ? raw : new TextDecoder().decode(await gunzip(packed ?? new ArrayBuffer(0)));
  const hasLong = hasLongLine(content);
  return packed && !hasLong ? packed : compressed(hasLong ? content.split("\n").map(elided).join("\n") : content);
}

/** What the target's documents and call stacks answer; null for any other request. */
async function answered(target: Fields, method: string, params: Params, check: Check): Promise<Reply | null> {
  if (method === "frames" && target.frames) {
    const { files, functions, columns: packed } = fields(target.frames);
    const named = list(files, MOST_FILES).map((file) => list(file)).map(([name, cell, user, cells, crc]) => ({ name, cell, user, cells, crc }));
    return columns(packed, { files: named, functions });
  }
  const kind = text(params.doc);
  const document = own(target.documents, kind);
  if (!document) return null;
  if (method === "columns") return columns(own(document, "columns"), { scopes: own(document, "scopes") });
  return method === "document" ? { result: { kind, mode: "full" }, buffers: [await documentText(own(document, "text"), check)] } : null;
}

/** The reply that was saved for just this request; null where there is none. */
function kept(target: Fields, method: string, params: Params): Reply | null {
  const reply = own(target.replies, replyKey(method, params));
  return reply === undefined ? null : { result: fields(fields(reply).result), buffers: list(fields(reply).buffers).map(fromBase64) };
}

/** Answers from saved reports; the calls are their targets, one report after another. */
export class SavedSource implements Source {
  readonly isSaved = true;
  private targets: Fields[];
  private now: PanelState;

  private budget: UnpackBudget | null;

  /** `mostUnpacked` bounds reports of strangers. Throws a Refusal for a report of a format that is not known. */
  constructor(reports: unknown, mostUnpacked?: number) {
    this.budget = mostUnpacked === undefined ? null : new UnpackBudget(mostUnpacked);
    this.targets = list(reports).flatMap(targetsOf);
    this.now = readState({ calls: this.targets.map(({ summary, head }) => ({ ...fields(summary), ...fields(head) })), busy: false });
  }

  state(): PanelState {
    return this.now;
  }

  onState(): () => void {
    return () => undefined;
  }

  async request(method: string, params: Params): Promise<Reply> {
    const target = this.targets[typeof params.call === "number" ? params.call : -1] ?? {};
    const check: Check = async (buffers) => this.budget?.check(`${params.call} ${replyKey(method, params)}`, buffers);
    const reply = kept(target, method, params) ?? (await answered(target, method, params, check));
    if (!reply) throw new Refusal("This was not saved with the report; run the cell to see it.", "absent");
    await check(reply.buffers);
    return reply;
  }
}
