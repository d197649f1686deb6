/** What splitting one dimension alone costs. */

import { useMemo } from "preact/hooks";
import { GridView } from "../../parts/grid/gridView";
import { type Grid, type NumberField, textColumn } from "../../wire/tables";
import { counted, scaled } from "../../wire/figures";
import { styleOf } from "./chips";
import type { Dimension, SplitCollective } from "./read";

/** "2 all-reduce, all-gather": how often each kind stands in the program. */
export function kindsOf(collectives: SplitCollective[]): string {
  const times = new Map<string, number>();
  for (const { kind, count } of collectives) times.set(kind, (times.get(kind) ?? 0) + count);
  return [...times].map(([kind, count]) => (count > 1 ? `${counted(count)} ${kind}` : kind)).join(", ");
}

const isSplit = ({ devices, why }: Dimension) => devices > 0 && !why;

export function gridOf(dimensions: Dimension[]): Grid {
  const values = dimensions.map(({ sent }) => sent ?? Number.NaN);
  const sent: NumberField = {
    kind: "number",
    name: "sent",
    title: "sent",
    hint: "by each device in one run of the program, lower bound",
    unit: "B",
    least: 68,
    values,
    missing: "unknown",
    why: (row) => dimensions[row]?.why || "not known",
    isBestSmall: true,
  };
  const names = textColumn("dimension", dimensions.map(({ name }) => name), { least: 98 });
  const sizes: NumberField = { kind: "number", name: "size", title: "size", hint: "elements along its axes", unit: "", least: 44, values: dimensions.map(({ size }) => size) };
  const over = textColumn("over", dimensions.map((one) => (isSplit(one) ? counted(one.devices) : "")), { hint: "devices that it is split over", least: 34, isFigure: true });
  const said = textColumn("collectives", dimensions.map((one) => (isSplit(one) ? kindsOf(one.collectives) || "none" : one.why || "not known")), { least: 92, wraps: true });
  const splits = textColumn("evenly over", dimensions.map((one) => one.splits), { hint: "numbers of devices that can split it evenly", least: 70, wraps: true });
  return { length: dimensions.length, fields: [names, sizes, over, sent, said, splits] };
}

interface AloneProps {
  dimensions: Dimension[];
  current: number;
  isLit: (place: number) => boolean;
  onPick: (place: number) => void;
  onOpen: (place: number) => void;
}

/** The dimensions, the cheapest to split first. */
export function Alone({ dimensions, ...more }: AloneProps) {
  const grid = useMemo(() => gridOf(dimensions), [dimensions]);
  return <GridView grid={grid} label="cost of splitting each dimension alone" first={{ field: "sent", down: false }} {...more} />;
}

interface AboutProps {
  dimension: Dimension;
  dimensions: Dimension[];
  onPick: (place: number) => void;
  onLine: (line: string) => void;
}

/** What the table has no room for: whom it meets, and its collectives with their lines. */
export function AboutDimension({ dimension, dimensions, onPick, onLine }: AboutProps) {
  const { name, number, about, meets, collectives, devices, why } = dimension;
  return (
    <section class="jxs-dimension-about" aria-label={`about ${name}`}>
      <h4 class="jxs-headline">
        {name} <span class="jxs-dim">{number}</span>
      </h4>
      {about.map((sentence) => (
        <p class="jxs-note" key={sentence}>
          {sentence}
        </p>
      ))}
      {meets.length > 0 && (
        <p class="jxs-axis-list">
          <span class="jxs-dim">meets</span>
          {meets.map((place) => (
            <button type="button" class="jxs-axis" style={styleOf(place)} onClick={() => onPick(place)} key={place}>
              {dimensions[place]?.name}
            </button>
          ))}
        </p>
      )}
      {why && <p class="jxs-note">Unknown: {why}</p>}
      {!why && devices > 0 && <Collectives collectives={collectives} devices={devices} onLine={onLine} />}
    </section>
  );
}

function Collectives({ collectives, devices, onLine }: { collectives: SplitCollective[]; devices: number; onLine: (line: string) => void }) {
  if (!collectives.length) return <p class="jxs-note">Split over {counted(devices)} devices it takes no collectives.</p>;
  return (
    <ul class="jxs-split-collectives" aria-label={`collectives of splitting it alone over ${devices} devices`}>
      {collectives.map(({ count, kind, sent, runs, line }, at) => (
        <li key={at}>
          <span>{count > 1 ? `${counted(count)} ${kind}` : kind}</span>
          <span class="jxs-number jxs-tabular">{sent === null ? "unknown" : `${scaled(sent, "B")} sent`}</span>
          <span class="jxs-dim">{runs === null ? "in a loop of unknown length" : runs > 1 ? `each runs ${counted(runs)} times` : ""}</span>
          {line ? (
            <button type="button" class="jxs-link" onClick={() => onLine(line)}>
              {line}
            </button>
          ) : (
            <span class="jxs-dim">line unknown</span>
          )}
        </li>
      ))}
    </ul>
  );
}
