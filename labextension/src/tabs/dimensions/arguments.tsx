import { useMemo, useState } from "preact/hooks";
import { FilterBar, NO_MATCHES } from "../../parts/filter";
import { counted } from "../../wire/figures";
import { moveAmong, styleOf } from "./chips";
import type { Dimension, Dimensions, NamedArgument } from "./read";

interface AxisProps {
  size: number;
  place: number;
  dimension: Dimension | undefined;
  isCurrent: boolean;
  isStop: boolean;
  onPick: (place: number) => void;
}

function Axis({ size, place, dimension, isCurrent, isStop, onPick }: AxisProps) {
  if (!dimension)
    return (
      <span class="jxs-axis jxs-axis-none" title="no dimension that can be split">
        {counted(size)}
      </span>
    );
  return (
    <button
      type="button"
      class={`jxs-axis ${isCurrent ? "jxs-axis-current" : ""}`}
      style={styleOf(place)}
      tabIndex={isStop ? 0 : -1}
      title={`${dimension.name}: ${counted(size)}`}
      onClick={() => onPick(place)}
    >
      <b>{dimension.name}</b> {counted(size)}
    </button>
  );
}

interface RowProps {
  argument: NamedArgument;
  dimensions: Dimension[];
  current: number;
  onPick: (place: number) => void;
}

function Row({ argument, dimensions, current, onPick }: RowProps) {
  const { name, axes, shape, alike } = argument;
  const stop = axes.findIndex((place) => place >= 0);
  return (
    <li class={axes.includes(current) ? "jxs-axis-row jxs-axis-row-current" : "jxs-axis-row"} onKeyDown={moveAmong}>
      <span class="jxs-axis-name jxs-anywhere">
        {name}
        {alike > 1 && <span class="jxs-dim"> ×{counted(alike)}</span>}
      </span>
      <span class="jxs-axis-list">
        {shape.map((size, axis) => (
          <Axis
            size={size}
            place={axes[axis] ?? -1}
            dimension={dimensions[axes[axis] ?? -1]}
            isCurrent={axes[axis] === current}
            isStop={axis === stop}
            onPick={onPick}
            key={axis}
          />
        ))}
        {!shape.length && <span class="jxs-dim">scalar</span>}
      </span>
    </li>
  );
}

interface ArgumentsProps {
  found: Dimensions;
  current: number;
  onPick: (place: number) => void;
}

/** The arguments, each axis coloured by its dimension. */
export function Arguments({ found, current, onPick }: ArgumentsProps) {
  const [query, setQuery] = useState("");
  const rows = useMemo(() => {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    const said = ({ name, axes }: NamedArgument) => [name, ...axes.map((at) => found.dimensions[at]?.name ?? "")].join(" ").toLowerCase();
    return found.arguments.filter((one) => words.every((word) => said(one).includes(word)));
  }, [found, query]);
  return (
    <section class="jxs-dimension-arguments jxs-column" aria-label="arguments by axis">
      <FilterBar label="Filter the arguments" value={query} onInput={setQuery} />
      <ul class="jxs-axis-rows">
        {rows.map((argument) => (
          <Row argument={argument} dimensions={found.dimensions} current={current} onPick={onPick} key={argument.name} />
        ))}
      </ul>
      {!rows.length && <p class="jxs-note">{NO_MATCHES}</p>}
      {found.more > 0 && <p class="jxs-note">{counted(found.more)} more arguments are not listed.</p>}
    </section>
  );
}
