import { useMemo } from "preact/hooks";
import { counted } from "../../wire/figures";
import { type Item, ROW } from "./laneItems";
import { shortNames } from "./laneNames";
import type { TimelineModel } from "./model";

const TITLES = { true: "Fold", false: "Unfold" };

function about({ lane, title, kind, count }: Item): string {
  if (kind === "group") return `${title}: ${counted(count)} ${count === 1 ? "lane" : "lanes"}`;
  if (!lane) return `${counted(count)} lanes that mostly wait`;
  if (lane.counter) return `${title}: a counter of ${counted(lane.counter.samples)} samples`;
  const deeper = lane.deeper ? `, ${counted(lane.deeper)} of them nested too deep to be drawn` : "";
  return `${title}: ${lane.kind}, ${counted(lane.events)} ${lane.events === 1 ? "event" : "events"}${deeper}`;
}

function text({ kind, title, count, open, lane }: Item, names: ReadonlyMap<number, string>): string {
  if (kind !== "hidden") return (lane && names.get(lane.lane)) || title || "unnamed";
  return `${counted(count)} hidden ${count === 1 ? "lane" : "lanes"}${open ? "" : "…"}`;
}

/** The names of the lanes that are on screen, left of them. */
export function LaneLabels({ model, items, scroll }: { model: TimelineModel; items: readonly Item[]; scroll: number }) {
  const names = useMemo(() => shortNames(model.overview.lanes), [model.overview]);
  return (
    <div class="jxs-tl-labels" role="group" aria-label="Lanes">
      {items.map((item) => {
        const style = { top: `${item.top - scroll}px`, height: `${item.kind === "group" ? item.height - 1 : ROW}px` };
        const canFold = item.kind !== "lane" || (item.lane !== null && item.lane.rows > 1 && !item.lane.counter);
        const title = canFold ? `${TITLES[`${item.open}`]} ${about(item)}` : about(item);
        return canFold ? (
          <button type="button" key={item.key} class="jxs-tl-label jxs-cut" data-kind={item.kind} style={style} title={title} aria-expanded={item.open} onClick={() => model.toggle(item.key)}>
            <i aria-hidden="true">{item.open ? "▾" : "▸"}</i>
            {text(item, names)}
          </button>
        ) : (
          <span key={item.key} class="jxs-tl-label jxs-cut" data-kind={item.kind} style={style} title={title}>
            {text(item, names)}
          </span>
        );
      })}
    </div>
  );
}
