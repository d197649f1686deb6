/** Why the kernel, or a page without one, does not answer. */

import { fields, text } from "./check";

const KINDS = ["stopped", "busy", "absent", "failed"] as const;
/** Stopped by the user; not begun, since too much else runs; not there, however often one asks; failed; no answer in time. */
export type RefusalKind = (typeof KINDS)[number] | "silent";

/** The message is one line that can be shown as it is. */
export class Refusal extends Error {
  constructor(
    message: string,
    readonly kind: RefusalKind = "failed",
    /** Whether a worker process was part of it, whose log may say more. */
    readonly hasLog = false,
  ) {
    super(message);
  }
}

/** The error of a reply; null where it has none. */
export function readRefusal(raw: unknown): Refusal | null {
  if (raw === null || typeof raw !== "object") return null;
  const { kind, message, log } = fields(raw);
  return new Refusal(text(message), KINDS.find((name) => name === kind) ?? "failed", log === true);
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
