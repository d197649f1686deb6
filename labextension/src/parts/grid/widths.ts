/** Each row is a grid of its own, so that no width may depend on what a row holds: columns are as wide as their longest text. */

import type { Field, Grid } from "../../wire/tables";
import { cellText } from "./sort";
import { byName } from "../../wire/check";

const USUAL = byName<number>({ opcode: 96, dtype: 54, flops: 104 });
const NUMBER_PX = 84;
const TEXT_PX = 180;
const WIDEST_PX = 330;
const LETTER_PX = 7;
/** Of the monospaced font in which texts are set, rounded up. */
const CODE_LETTER_PX = 7.3;
const RANK_PX = 20;
const GAP_PX = 8;
const WIDE_GAP_PX = 16;
/** Of the tab's width: what a column of code keeps in a narrow one, so that the figures beside it stay in sight. */
const SHRUNK = "22cqw";
/** Rows that are looked at for the longest text. */
const MOST_ROWS = 500;

function fitted(field: Field, length: number): number {
  let widest = field.title.length * LETTER_PX;
  for (let row = 0; row < Math.min(length, MOST_ROWS); row++) {
    const below = field.kind === "text" ? (field.below?.(row).length ?? 0) : 0;
    const rank = field.kind === "number" && field.mark?.(row) ? RANK_PX : 0;
    widest = Math.max(widest, (cellText(field, row).length + below) * LETTER_PX + rank);
  }
  return Math.min(WIDEST_PX, Math.ceil(widest) + 10);
}

/** Pixels that the longest text of a column needs, within limits. */
export function widthOfTexts(strings: readonly string[], title: string, [least, most]: readonly [number, number]): number {
  const longest = strings.reduce((letters, text) => Math.max(letters, text.length), title.length);
  return Math.min(most, Math.max(least, Math.ceil(longest * CODE_LETTER_PX) + 2));
}

export function columnsOf({ fields, length }: Grid, isFitted: boolean): Record<string, string> {
  const usual = (field: Field) => USUAL[field.name] ?? (field.kind === "number" ? NUMBER_PX : TEXT_PX);
  const least = fields.map((field) => field.least ?? (isFitted ? fitted(field, length) : usual(field)));
  const grows = fields.map((field, i) => field.kind === "text" && !field.isFixed && (field.least !== undefined || field.wraps || (isFitted && i === 0)));
  const narrow = fields.map((field, i) => (grows[i] && field.kind === "text" && field.isCode ? `min(${least[i]}px, ${SHRUNK})` : `${least[i]}px`));
  const gaps = 12 + fields.length * (isFitted ? WIDE_GAP_PX : GAP_PX);
  return {
    "--jxs-columns": least.map((size, i) => (grows[i] ? `minmax(${narrow[i]}, ${size}fr)` : `${size}px`)).join(" "),
    "--jxs-least": `calc(${[`${gaps}px`, ...narrow].join(" + ")})`,
  };
}
