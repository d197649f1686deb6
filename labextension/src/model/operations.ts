/** The operation on a line of an IR, and what operations do. */

import { entries, text } from "../wire/check";
import type { Reply } from "../wire/source";
import type { Doc } from "./document";
import { tokenise } from "./highlight";

const KINDS = ["jaxpr", "stablehlo", "hlo"];
const MOST = 3000;

/** As the line writes it; "" where it has none. */
export function operationOn(doc: Doc, row: number): string {
  const line = (KINDS.includes(doc.kind) && doc.text?.line(row)) || "";
  const token = tokenise(doc.kind, line).find(({ cls }) => cls === "op");
  return token ? line.slice(token.start, token.end) : "";
}

/** Without its dialect and the function that it calls, as sentences are named. */
export const plainOperation = (name: string): string => (name.replace(/^\w+\.|:.*/g, "")).replaceAll("-", "_");

/** The pytree paths of the arguments that a line of HLO names; its text has XLA's names of them. */
export const argumentsOn = (doc: Doc, row: number): string =>
  (doc.text?.line(row)?.match(/%[\w.-]+/g) ?? []).flatMap((name) => doc.help.get(name) ?? []).join(", ");

export const readOperations = ({ result }: Reply): Map<string, string> =>
  new Map(entries(result.sentences, MOST).map(([name, sentence]) => [name, text(sentence)]));
