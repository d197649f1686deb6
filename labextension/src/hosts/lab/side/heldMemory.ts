/** What an inspection keeps of the kernel's memory, in words: what is unknown is not counted as nothing. */

import { scaled } from "../../../wire/figures";
import type { HeldMemory, Inspected } from "./inspectionList";

/** `holds 1.2 MB`; `holds ≥ 1.2 MB` where a part is unknown. */
export function heldText({ isFreed, memory }: Inspected): string {
  if (isFreed) return "freed";
  const known = memory.filter(({ bytes }) => bytes !== null);
  if (!known.length) return "holds: unknown";
  const sum = known.reduce((total, { bytes }) => total + (bytes ?? 0), 0);
  const least = known.length < memory.length ? "≥ " : "";
  return `holds ${least}${scaled(sum, "B")}`;
}

const partText = ({ part, bytes, reason }: HeldMemory): string =>
  `${part}: ${bytes === null ? `unknown${reason ? ` (${reason})` : ""}` : scaled(bytes, "B")}`;

/** Part by part, with why a part is unknown, and the variables that hold it. */
export function heldTitle({ isFreed, memory, variables, cell }: Inspected): string {
  if (isFreed) return cell === null ? "It is gone." : "Run its cell to inspect it again.";
  const least = memory.some(({ bytes }) => bytes === null) ? ["at least, as a part is unknown:"] : [];
  const held = memory.length ? memory.map(partText) : ["the kernel gives no figure"];
  return [...least, ...held, ...(variables.length ? [`held by ${variables.join(", ")}`] : [])].join("\n");
}
