/** The display that a notebook saves, `application/vnd.jaxstage.v1+json`. Untrusted: a notebook may come from anyone. */

import { count, fields, list, sentences, textOrNull } from "./check";
import { Refusal } from "./errors";
import { TooLarge, gunzip } from "./gzip";
import { isBounded } from "./jsonBounds";

export const PAYLOAD_TYPE = "application/vnd.jaxstage.v1+json";

const VERSION = 1;
/** Of the base64 text, which has 500 kB unless a user asked for more. */
const MOST_PACKED = 32_000_000;
const USUAL = 500_000;
const MB = 1024 * 1024;
const MOST_ID = 100;
const MOST_SENTENCES = 20;
const DAMAGED = "This saved output is damaged; run the cell again.";
const TOO_LARGE = "This saved output unpacks to more than can be shown; run the cell again.";

export interface Payload {
  /** The live panel that it was saved of. */
  model: string | null;
  /** Base64 of gzipped JSON, "" where no report was saved. */
  reports: string;
  /** Sentences that say what was not saved. */
  leftOut: string[];
}

/** Throws a Refusal, whose message says what is needed to read it. */
export function readPayload(raw: unknown): Payload {
  const { version, model, reports, left_out: leftOut } = fields(raw);
  if (typeof version !== "number" || !Number.isInteger(version)) throw new Refusal(DAMAGED);
  if (version > VERSION) throw new Refusal(`A newer JAXStage saved this output (format ${count(version)}): update jaxstage-ext to see it.`);
  if (version < VERSION) throw new Refusal(`An older JAXStage saved this output (format ${count(version)}): run the cell again.`);
  if (typeof reports === "string" && reports.length > MOST_PACKED) throw new Refusal("This saved output is too large to show; run the cell again.");
  const id = textOrNull(model);
  return {
    model: id && id.length <= MOST_ID ? id : null,
    reports: typeof reports === "string" ? reports : "",
    leftOut: sentences(list(leftOut), MOST_SENTENCES),
  };
}

/** As much as a usual output may have, or as much more as this one is larger. */
const scaled = (packed: string, usual: number): number => usual * Math.max(1, packed.length / USUAL);

/** Bytes that the documents and replies of reports may unpack to, all together. */
export const mostUnpacked = (packed: string): number => Math.min(scaled(packed, 64 * MB), 512 * MB);

/** The list of saved reports. Rejects with a Refusal where it is damaged or unpacks to too much. */
export async function readReports(packed: string): Promise<unknown> {
  const json = await unpackedJson(packed);
  if (!isBounded(json, scaled(packed, 1_000_000))) throw new Refusal(TOO_LARGE);
  try {
    return JSON.parse(new TextDecoder().decode(json));
  } catch {
    throw new Refusal(DAMAGED);
  }
}

async function unpackedJson(packed: string): Promise<Uint8Array> {
  const limit = Math.min(scaled(packed, 16 * MB), 128 * MB);
  try {
    const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
    return await gunzip(bytes.buffer, limit);
  } catch (error) {
    throw new Refusal(error instanceof TooLarge ? TOO_LARGE : DAMAGED);
  }
}
