/** Each row is a grid of its own, so that no width may depend on what a row holds: columns are as wide as their longest text. */

import type { Field, Grid, TextField } from "../../wire/tables";
import { cellText } from "./sort";

/** Of the monospaced font in which texts are set, and of figures, rounded up. */
const LETTER_PX = 7.4;
const TITLE_LETTER_PX = 6.6;
const ORDER_PX = 14;
const RANK_PX = 20;
const MARGIN_PX = 4;
const GAP_PX = 8;
const WIDE_GAP_PX = 16;
/** From how many columns on the rows with lines between them have the smaller gap, too. */
const MANY = 10;
/** What a figure with a bar behind it takes. */
const BAR_PX = 84;
/** No text takes more, however much room there is. */
const WIDEST_PX = 900;
const WIDEST_SENTENCE_PX = 330;
/** What a text keeps in a narrow tab, and what the first of a row does, which names it. */
const KEPT_PX = 100;
const KEPT_NAME_PX = 240;
/** What a sentence keeps, which is for reading: of less it makes a column of single words. */
const KEPT_SENTENCE_PX = 240;
/** Of the tab's width: what code keeps, so that the figures beside it stay in sight. */
const KEPT_OF_CODE = "18cqw";
/** What a column keeps that the table is opened for, which goes on in further lines; and the others beside it. */
const KEPT_ANSWER_PX = 220;
const KEPT_BESIDE_PX = 72;
const KEPT_NAME_BESIDE_PX = 200;
/** Left and right of a row. */
const MARGINS_PX = 12;
/** A link is bold, and so wider. */
const LINK_LETTER_PX = 7.9;
/** Rows that are looked at for the longest figure. */
const MOST_ROWS = 500;
const WITH_BARS = new Set(["flops", "bytes"]);

const longest = (texts: readonly string[]) => texts.reduce((letters, text) => Math.max(letters, text.length), 0);

function figurePx(field: Field, length: number): number {
  let widest = 0;
  for (let row = 0; row < Math.min(length, MOST_ROWS); row++) {
    const rank = field.kind === "number" && field.mark?.(row) ? RANK_PX : 0;
    widest = Math.max(widest, cellText(field, row).length * LETTER_PX + rank);
  }
  return widest;
}

function textPx(field: Field, length: number): number {
  if (field.kind === "number") return figurePx(field, length);
  if (!field.below) return Math.max(longest(field.strings), field.missing.length) * LETTER_PX;
  const whole = Array.from({ length: Math.min(length, MOST_ROWS) }, (_, row) => `${cellText(field, row)} ${field.below?.(row) ?? ""}`);
  return longest(whole) * LETTER_PX;
}

/** Pixels in which all of a column's texts and its title are whole. */
function needed(field: Field, length: number): number {
  const title = field.title.length * TITLE_LETTER_PX + (field.kind === "number" ? ORDER_PX : 0);
  const bar = WITH_BARS.has(field.name) ? BAR_PX : 0;
  const widest = field.kind === "text" && field.wraps && !field.isAnswer ? WIDEST_SENTENCE_PX : WIDEST_PX;
  return Math.min(widest, Math.ceil(Math.max(title, bar, textPx(field, length)) + MARGIN_PX));
}

/** Pixels that the longest text of a column needs, within limits. */
export function widthOfTexts(strings: readonly string[], title: string, [least, most]: readonly [number, number]): number {
  return Math.min(most, Math.max(least, Math.ceil(Math.max(longest(strings), title.length) * LETTER_PX) + 2));
}

interface Column {
  /** What it keeps in a narrow tab, and what it takes where there is room. */
  kept: string;
  most: string;
  /** The most that it keeps. */
  px: number;
}

interface Place {
  isFirst: boolean;
  isLink: boolean;
  /** Whether the table is opened for another column. */
  isBeside: boolean;
}

/** What a text keeps in a narrow tab, if nothing else is said of it. */
function keptOf(field: TextField, { isFirst, isBeside }: Place): number {
  if (field.wraps) return KEPT_SENTENCE_PX;
  if (isBeside) return isFirst ? KEPT_NAME_BESIDE_PX : KEPT_BESIDE_PX;
  return isFirst ? KEPT_NAME_PX : KEPT_PX;
}

function columnOf(field: Field, length: number, place: Place): Column {
  const px = Math.ceil(needed(field, length) * (place.isLink ? LINK_LETTER_PX / LETTER_PX : 1));
  if (field.kind === "number" || field.isFigure) return same(Math.max(px, field.least ?? 0));
  if (field.isFixed) return same(field.least ?? px);
  const kept = Math.min(px, field.least ?? keptOf(field, place));
  return {
    px: field.isCode ? Math.min(px, KEPT_PX) : kept,
    kept: field.isCode ? `min(${px}px, ${KEPT_OF_CODE})` : `${kept}px`,
    most: !place.isBeside && (field.wraps || field.below || field.isSentence) ? `${px}fr` : `${px}px`,
  };
}

const same = (px: number): Column => ({ kept: `${px}px`, most: `${px}px`, px });

const isAnswer = (field: Field) => field.kind === "text" && field.isAnswer === true;

/** All that the others leave it, in a tab in which that is enough to read. */
function answerOf(field: Field, length: number, others: string): Column {
  const px = needed(field, length);
  return { kept: `min(${px}px, max(${KEPT_ANSWER_PX}px, 100cqw - (${others})))`, most: `${px}fr`, px: Math.min(px, KEPT_ANSWER_PX) };
}

function laidOut({ fields, length }: Grid, isLined: boolean): { columns: Column[]; gap: number; gaps: number } {
  const isBeside = fields.some(isAnswer);
  const gap = isLined && !isBeside && fields.length < MANY ? WIDE_GAP_PX : GAP_PX;
  const gaps = MARGINS_PX + fields.length * gap;
  const beside = fields.map((field, at) => (isAnswer(field) ? null : columnOf(field, length, { isFirst: at === 0, isLink: isLined && at === 0, isBeside })));
  const others = [`${gaps}px`, ...beside.flatMap((column) => column?.kept ?? [])].join(" + ");
  return { columns: beside.map((column, at) => column ?? answerOf(fields[at] as Field, length, others)), gap, gaps };
}

/** The table with what it is opened for beside its first column, where it would be out of sight. */
export function answersInSight(grid: Grid, isLined: boolean, width: number): Grid {
  const [first, ...others] = grid.fields;
  if (!first || !width || !others.some(isAnswer)) return grid;
  const { columns, gap } = laidOut(grid, isLined);
  const shown = columns.slice(0, grid.fields.findLastIndex(isAnswer) + 1);
  if (shown.reduce((sum, { px }) => sum + px + gap, MARGINS_PX) <= width) return grid;
  return { ...grid, fields: [first, ...others.filter(isAnswer), ...others.filter((field) => !isAnswer(field))] };
}

export function columnsOf(grid: Grid, isLined: boolean): Record<string, string> {
  const { columns, gap, gaps } = laidOut(grid, isLined);
  return {
    "--jxs-gap": `${gap}px`,
    "--jxs-columns": columns.map(({ kept, most }) => (kept === most ? kept : `minmax(${kept}, ${most})`)).join(" "),
    "--jxs-least": `calc(${[`${gaps}px`, ...columns.map(({ kept }) => kept)].join(" + ")})`,
  };
}
