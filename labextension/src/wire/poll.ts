/** Asking for what takes the kernel long: it answers "pending" until it is done. */

import { Refusal } from "./errors";
import type { Reply } from "./source";

export interface Progress {
  /** Seconds since the kernel began. */
  elapsed: number;
  /** What it is at, in its own words. */
  text: string | null;
}

const FIRST_MS = 40;
const LONGEST_MS = 1000;
const GROWTH = 1.5;
const MAX_TEXT = 500;

/** What a reply says of a job under way; null for an answer. */
export function pendingOf(reply: Reply): Progress | null {
  const raw = reply.result.pending;
  if (raw === null || typeof raw !== "object") return null;
  const { elapsed, progress } = raw as Record<string, unknown>;
  return {
    elapsed: typeof elapsed === "number" && Number.isFinite(elapsed) ? Math.max(0, elapsed) : 0,
    text: typeof progress === "string" ? progress.slice(0, MAX_TEXT) : null,
  };
}

/** Rejects with the signal's reason as soon as it aborts. */
function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** What is said of a kernel that will begin once it has done something else; throws any other error again. */
function busy(error: unknown): string {
  if (error instanceof Refusal && error.kind === "busy") return error.message;
  throw error;
}

/** The first reply that is an answer; asks again at once, and up to a second later each time. */
export async function poll(
  ask: () => Promise<Reply>,
  onProgress: (progress: Progress) => void = () => undefined,
  signal?: AbortSignal,
): Promise<Reply> {
  const since = Date.now();
  for (let wait = FIRST_MS; ; wait = Math.min(LONGEST_MS, wait * GROWTH)) {
    signal?.throwIfAborted();
    const reply = await ask().catch(busy);
    signal?.throwIfAborted();
    const pending = typeof reply === "string" ? { elapsed: (Date.now() - since) / 1000, text: reply } : pendingOf(reply);
    if (typeof reply !== "string" && !pending) return reply;
    if (pending) onProgress(pending);
    await pause(wait, signal);
  }
}
