/** The colours of events: those of their source line, of what they do, or of their name. */

import { colourOfName } from "../../model/colours";
import type { Colouring } from "./model";
import type { Look } from "./read";
import type { Documents } from "../../model/documents";

export type Rgb = [r: number, g: number, b: number];

/** Told apart by people who see few colours. */
const DISTINCT: Rgb[] = [
  [61, 76, 119],
  [218, 105, 11],
  [82, 207, 157],
  [148, 56, 77],
  [163, 186, 255],
  [166, 10, 0],
  [201, 188, 102],
  [39, 122, 202],
];
const PLAIN: Rgb = [128, 136, 148];

/** "rgb(1, 2, 3)" and "color(srgb 0.1 0.2 0.3)", as a browser computes a colour. */
export function rgbOf(css: string): Rgb {
  const parts = css.match(/[\d.]+(?:e-?\d+)?/g)?.slice(0, 3).map(Number) ?? [];
  const scale = css.startsWith("color(") ? 255 : 1;
  return [0, 1, 2].map((i) => Math.round((parts[i] ?? 128) * scale)) as Rgb;
}

/** A colour as `nthColour` writes it; the darker tone is darker here too. */
function rgbOfHue(colour: number): Rgb {
  const [hue, light] = [colour % 360, colour >= 360 ? 0.36 : 0.52];
  const channel = (n: number) => {
    const k = (n + hue / 30) % 12;
    return Math.round(255 * (light - 0.62 * Math.min(light, 1 - light) * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return [channel(0), channel(8), channel(4)];
}

/** The colour of the n-th group, the one that takes the most time first. */
export const groupColour = (group: number): Rgb => DISTINCT[group] ?? PLAIN;

/** "fusion.12" and "fusion.7" have one name. */
const stem = (name: string): string => name.replace(/[.\d]+$/, "") || name;

/** The colour of a source line, as the panes of code have it; null for what no line made. */
function lineColour(documents: Documents, look: Look): number | null {
  const hlo = documents.loaded("hlo");
  if (look.row >= 0 && hlo?.rows) return documents.hue(hlo, look.row);
  const file = look.file ? (documents.frames()?.files.findIndex(({ name }) => name === look.file) ?? -1) : -1;
  return file < 0 ? null : documents.colourOf(file, look.line);
}

export function colourOf(documents: Documents, look: Look, colouring: Colouring): Rgb {
  if (colouring === "group") return groupColour(look.group);
  const hue = colouring === "name" ? colourOfName(stem(look.op || look.name)) : lineColour(documents, look);
  if (hue !== null) return rgbOfHue(hue);
  return look.line >= 0 ? rgbOfHue(colourOfName(`${look.file}:${look.line}`)) : PLAIN;
}

/** A part of one colour over another, as pixels are written: 0xAABBGGRR. */
export function mixed([r, g, b]: Rgb, [r0, g0, b0]: Rgb, share: number): number {
  const mix = (a: number, b: number) => Math.round(b + (a - b) * share);
  return ((255 << 24) | (mix(b, b0) << 16) | (mix(g, g0) << 8) | mix(r, r0)) >>> 0;
}
