import { unquoted } from "../../parts/said";
import { useEffect, useMemo, useReducer, useState } from "preact/hooks";
import { placeOf, useCanvas } from "../../parts/canvas";
import { Tip } from "../../parts/tip";
import { counted, scaled } from "../../wire/figures";
import { type MapAxes, type Places, along, axesOf, drawnRows, heightOf, isPlaced, looksOf, placesOf, rowAt } from "./layoutMap";
import { type Drawn, paintMap, paintMarks } from "./paintMap";
import { ESTIMATE, type Found, STATES, timeOf } from "./read";

/** In words: what the pointer is on. */
export function tipLines(found: Found, row: number): string[] {
  const { layouts, best, own } = found;
  const needed = layouts.needed[row] as number;
  const marks = [row === best ? "the best" : "", row === own ? "your own specs" : ""].filter(Boolean).join(", ");
  return [
    `${layouts.titles[row] ?? "?"}${marks && ` (${marks})`}`,
    `mesh ${layouts.mesh(row)}`,
    `${timeOf(found, row)}${row !== best && best >= 0 ? `; vs. best ${layouts.ratio(row)}` : ""}`,
    `arguments: ${scaled(heightOf(layouts, row), "B")} on each device${needed > 0 ? `; needed in all: ${scaled(needed, "B")}` : ""}`,
    STATES[layouts.state[row] ?? ESTIMATE] ?? "",
  ];
}

const STEPS: Record<string, number> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity };

interface Props {
  found: Found;
  hidden: ReadonlySet<number>;
  chosen: number;
  onChoose: (row: number) => void;
  onOpen: (row: number) => void;
}

interface Place {
  drawn: Drawn;
  width: number;
}

/** Where everything lies at this size; computed anew only where that or what is shown has changed. */
function usePlaces({ found, hidden }: Props): (width: number, height: number) => Drawn {
  return useMemo(() => {
    const looks = looksOf(found);
    const isShown = (row: number) => !hidden.has(found.layouts.kind[row] as number) || row === found.own;
    let last: { key: string; drawn: Drawn } | null = null;
    return (width, height) => {
      const key = `${width} ${height}`;
      if (last?.key === key) return last.drawn;
      const axes: MapAxes = axesOf(found, width, height);
      const places: Places = placesOf(found.layouts, axes);
      last = { key, drawn: { found, axes, places, looks, isShown, rows: drawnRows(found, places, looks, isShown, width) } };
      return last.drawn;
    };
  }, [found, hidden]);
}

/** One point a layout: left is faster, down is smaller. */
export function MapView(props: Props) {
  const { found, hidden, chosen, onChoose, onOpen } = props;
  const { layouts } = found;
  const [pointed, point] = useState(-1);
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const at = usePlaces(props);
  const ground = useCanvas((surface) => paintMap(surface, at(surface.width, surface.height)), [found, hidden]);
  const marks = useCanvas((surface) => paintMarks(surface, at(surface.width, surface.height), chosen, pointed), [found, chosen, pointed]);
  useEffect(() => redraw(undefined as never), []); // once its size is known
  const sized = (): Place => {
    const canvas = marks.current;
    return { drawn: at(canvas?.clientWidth ?? 0, canvas?.clientHeight ?? 0), width: canvas?.clientWidth ?? 0 };
  };
  const under = (event: MouseEvent) => {
    const { places, isShown } = sized().drawn;
    return rowAt(places, isShown, placeOf(event).x, placeOf(event).y);
  };
  const key = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const step = STEPS[event.key];
    if (step !== undefined) onChoose(along(layouts, chosen, step));
    else if (event.key === "Enter" && chosen >= 0) onOpen(chosen);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const { drawn, width } = sized();
  const shown = pointed >= 0 && isPlaced(layouts, pointed) ? pointed : -1;
  const said = shown < 0 ? [] : tipLines(found, shown);
  const label = `Map of ${counted(layouts.length)} layouts by time and memory. ${unquoted(found.headline)} Arrows go along the front, Enter opens a layout.`;
  return (
    <div class="jxs-ss-map">
      <canvas ref={ground} aria-hidden="true" />
      <canvas
        ref={marks}
        tabIndex={0}
        role="application"
        aria-label={label}
        onPointerMove={(event) => point(under(event))}
        onPointerLeave={() => point(-1)}
        onClick={(event) => {
          const row = under(event);
          if (row >= 0) onChoose(row);
        }}
        onDblClick={(event) => {
          const row = under(event);
          if (row >= 0) onOpen(row);
        }}
        onKeyDown={key}
      />
      <Tip x={shown < 0 ? 0 : (drawn.places.x[shown] as number)} y={shown < 0 ? 0 : (drawn.places.y[shown] as number)} width={width} lines={said} />
    </div>
  );
}
