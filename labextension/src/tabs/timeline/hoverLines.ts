/** What is said of the event under the pointer. */

import { counted, duration, percent, scaled } from "../../wire/figures";
import type { Hit } from "./hitTest";
import type { EventDetail, Look } from "./read";
import { moment } from "./timeAxis";
import type { Span } from "../../parts/axis";

const LONGEST = 200;

const cut = (name: string): string => (name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}…` : name);

function counterLines({ item, value }: Hit): string[] {
  const unit = item.lane?.counter?.unit ?? "";
  return [item.title, `${scaled(value ?? 0, unit)}`];
}

/** `detail` is what the kernel says of the event; null until it has come. */
export function hoverLines(hit: Hit, look: Look | undefined, detail: EventDetail | null, span: Span): string[] {
  if (hit.value !== null) return counterLines(hit);
  const lines = [cut(look?.name ?? "")];
  if (hit.count > 1) {
    lines.push(`${counted(hit.count)} events too short to be told apart, busy ${percent(hit.busy, 1)}; zoom in. The longest:`);
  }
  if (detail) {
    if (hit.count > 1 && detail.name !== look?.name) lines.push(cut(detail.name));
    lines.push(`${duration(detail.seconds)}${detail.self < detail.seconds ? `, self ${duration(detail.self)}` : ""}, at ${moment(detail.start, span)}`);
  } else if (hit.count === 1) lines.push(`${duration(hit.seconds)}, at ${moment(hit.from, span)}`);
  return [...lines, ...placeLines(detail?.look ?? look, detail)].filter(Boolean);
}

function placeLines(look: Look | undefined, detail: EventDetail | null): string[] {
  if (!look) return [];
  const op = look.op && look.op !== look.name ? `%${cut(look.op)}` : "";
  const line = look.line >= 0 ? `${cut(look.label)}:${look.line}${look.inferred ? " (inferred)" : ""}` : "";
  return [[op, detail?.category ?? ""].filter(Boolean).join(" · "), line];
}
