/** What Python's tests/replies/record.py has written: the states and replies that the kernel really sends. */

import { fields } from "../src/wire/check";
import type { Reply } from "../src/wire/source";
import file from "./fixtures/replies.json";

export interface Recorded extends Reply {
  program: string;
  method: string;
  params: Record<string, unknown>;
}

const unpacked = (packed: string): ArrayBuffer => Uint8Array.from(atob(packed), (c) => c.charCodeAt(0)).buffer;

export const STATES: Record<string, unknown> = file.states;
export const REPLIES: Recorded[] = file.replies.map(({ buffers, ...reply }) => ({
  ...reply,
  result: fields(reply.result),
  buffers: buffers.map(unpacked),
}));

export function replyOf(method: string): Recorded {
  const reply = REPLIES.find((one) => one.method === method);
  if (!reply) throw new Error(`no reply to ${method} is recorded`);
  return reply;
}

const names = (raw: unknown): string[] => (Array.isArray(raw) ? raw.map((one) => String(fields(one).name)) : []);
const NAMED = ["columns"];
/** Objects whose keys are names of the program's own. */
const BY_NAME = ["figures", "lacks", "options", "peaks", "strings"];

/** The paths of all keys of a reply; of its columns their names. */
export function keysOf(value: unknown, path = ""): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => keysOf(one, `${path}[]`));
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const here = `${path}.${key}`;
    if (BY_NAME.includes(key)) return [here];
    const columns = NAMED.includes(key) ? names(inner).filter((name) => !name.endsWith(": why")).map((name) => `${here}:${name}`) : [];
    return [here, ...columns, ...keysOf(inner, here)];
  });
}
