import type { Field, NumberField, TextField } from "../../wire/tables";
import { isToldByItsEnd } from "./alike";
import { Said, unquoted } from "../said";
import { cellText } from "./sort";

const BARS = new Set(["FLOPs", "bytes"]);
const RANKS = { best: "▲", worst: "▼", alarm: "", "": "" };
/** A path, a line, a leaf of a tree: where room lacks, its beginning goes. Of several, the first one comes first in importance. */
const IS_TOLD_BY_ITS_END = /^(?!.*, )(?:.*[/:]|.*'\]$|.*\]\.[^ ]+$)/;

const classes = (...all: (string | false | undefined)[]) => all.filter(Boolean).join(" ");

const END = 18;

/** Whether a name is told by neither end alone: a leaf that several trees have, of which each has several such. */
const isLeafOfSeveral = (field: TextField, text: string): boolean =>
  text.length > END + 6 && IS_TOLD_BY_ITS_END.test(text) && !isToldByItsEnd(field.strings, text);

/** A name that loses its middle where room lacks. */
const WithoutMiddle = ({ text }: { text: string }) => (
  <bdi class="jxs-middle">
    <span>{text.slice(0, -END)}</span>
    <span>{text.slice(-END)}</span>
  </bdi>
);

function TextCell({ field, row, isLink, tabIndex }: { field: TextField; row: number } & Pick<CellProps, "isLink" | "tabIndex">) {
  const text = cellText(field, row);
  const below = field.below?.(row);
  const isSentence = field.isSentence || field.wraps || (field.isAnswer && !field.isCode);
  const shown = isLink ? (
    <button type="button" class="jxs-link jxs-grid-link" tabIndex={tabIndex}>
      {isLeafOfSeveral(field, text) ? <WithoutMiddle text={text} /> : <bdi>{text}</bdi>}
    </button>
  ) : (
    <bdi>{isSentence ? <Said text={text} /> : text}</bdi>
  );
  return (
    <>
      {shown}
      {below !== undefined && <span class="jxs-dim jxs-grid-below">{below}</span>}
    </>
  );
}

function NumberCell({ field, row }: { field: NumberField; row: number }) {
  const text = cellText(field, row);
  const mark = field.mark?.(row) ?? "";
  const below = field.below?.(row);
  const why = isKnown(field, row) || !text ? "" : (field.why?.(row) ?? "not known");
  return (
    <>
      {(mark === "best" || mark === "worst") && (
        <span class="jxs-rank">
          <span aria-hidden="true">{RANKS[mark]}</span>
          <span class="jxs-hidden">{mark} </span>
        </span>
      )}
      {text}
      {why && !field.missing && <span class="jxs-hidden">: {why}</span>}
      {below && <span class="jxs-dim jxs-grid-below">{below}</span>}
    </>
  );
}

const isKnown = (field: NumberField, row: number) => Number.isFinite(field.values[row] ?? Number.NaN);

function numberTitle(field: NumberField, row: number): string | undefined {
  if (field.about) return field.about(row);
  if (!isKnown(field, row)) return field.why?.(row) ?? "not known";
  return field.isLeast?.(row) ? "at least this much: part of it is unknown" : undefined;
}

interface CellProps {
  field: Field;
  row: number;
  /** The largest value of the field, for a bar; 0 for none. */
  most: number;
  isFirst: boolean;
  /** The first cell of a row can be reached by keyboard and chosen with Enter. */
  isLink: boolean;
  /** Of the link: Tab leads to one row, arrows to the others. */
  tabIndex: number;
}

export function Cell({ field, row, most, isFirst, isLink, tabIndex }: CellProps) {
  if (field.kind === "text") {
    const text = cellText(field, row);
    const known = field.strings[field.codes[row] ?? -1];
    const isMissing = field.isEmptyKnown ? known === undefined : !known;
    const why = (isMissing && field.why?.(row)) || "";
    const kind = field.isFigure ? "jxs-number" : "jxs-text";
    const isToldByStart = field.isCode || field.isSentence || field.wraps || field.isAnswer || field.isFigure || isMissing;
    const isCutAtStart = !isToldByStart && ((!isLink && IS_TOLD_BY_ITS_END.test(text)) || isToldByItsEnd(field.strings, text));
    const names = classes("jxs-cell", kind, (field.wraps || field.isAnswer) && "jxs-wraps", field.isAnswer && !field.isCode && "jxs-cell-answer", isMissing && "jxs-unknown", isCutAtStart && "jxs-cut-start");
    const Tag = isFirst ? "th" : "td";
    return (
      <Tag role={isFirst ? "rowheader" : "gridcell"} scope={isFirst ? "row" : undefined} class={names} title={unquoted(text && why ? `${text}: ${why}` : text)}>
        <TextCell field={field} row={row} isLink={isLink} tabIndex={tabIndex} />
        {text && why && <span class="jxs-hidden">: {why}</span>}
      </Tag>
    );
  }
  const known = isKnown(field, row);
  const mark = field.mark?.(row);
  const style = known && most > 0 && BARS.has(field.name) ? { "--jxs-share": `${(100 * (field.values[row] as number)) / most}%` } : undefined;
  return (
    <td
      role="gridcell"
      class={classes("jxs-cell jxs-number", !known && "jxs-unknown", style && "jxs-bar", mark && `jxs-${mark}`)}
      style={style}
      title={unquoted(numberTitle(field, row))}
    >
      <NumberCell field={field} row={row} />
    </td>
  );
}
