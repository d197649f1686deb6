import { duration, percent } from "../../wire/figures";
import { useStore } from "../../parts/hooks";
import { focusLanes } from "./laneKeys";
import type { Colouring, TimelineModel } from "./model";
import { groupColour } from "./palette";
import { lengthOf, zoomed } from "../../parts/axis";

const COLOURINGS: [Colouring, string][] = [
  ["line", "source line"],
  ["group", "category"],
  ["name", "name"],
];
const MOST_GROUPS = 8;

function Legend({ model }: { model: TimelineModel }) {
  const { groups } = model.overview;
  const whole = groups.reduce((sum, { seconds }) => sum + seconds, 0);
  return (
    <ul class="jxs-tl-legend" aria-label="Categories, the one that takes the most time first">
      {groups.slice(0, MOST_GROUPS).map(({ name, seconds }, i) => (
        <li key={name} title={`${duration(seconds)}, ${percent(seconds, whole)} of all events' durations together`}>
          <i aria-hidden="true" style={{ background: `rgb(${groupColour(i).join(" ")})` }} />
          {name}
        </li>
      ))}
      {groups.length > MOST_GROUPS && <li>{groups.length - MOST_GROUPS} more in grey</li>}
    </ul>
  );
}

function Bookmarks({ model }: { model: TimelineModel }) {
  const bookmarks = useStore(model.store, (s) => s.bookmarks);
  if (!bookmarks.length) return null;
  return (
    <span class="jxs-tl-bookmarks">
      {bookmarks.map(({ title, at }, i) => (
        <span key={i} class="jxs-tl-bookmark">
          <button type="button" class="jxs-button jxs-boxed jxs-cut" title={`Go to ${title}`} onClick={() => model.see(at)}>
            {title}
          </button>
          <button
            type="button"
            class="jxs-button"
            aria-label={`Remove the bookmark ${title}`}
            title="Remove"
            onClick={(event) => {
              focusLanes(event.currentTarget);
              model.store.set({ bookmarks: bookmarks.filter((_, j) => j !== i) });
            }}
          >
            ×
          </button>
        </span>
      ))}
    </span>
  );
}

/** Above the lanes: what is on screen, the colours, the bookmarks. */
export function LanesBar({ model }: { model: TimelineModel }) {
  const visible = useStore(model.store, (s) => s.visible);
  const colouring = useStore(model.store, (s) => s.colouring);
  const zoom = (factor: number) => model.see(zoomed(visible, factor, (visible.from + visible.to) / 2, model.all));
  const boxed = "jxs-button jxs-boxed";
  return (
    <div class="jxs-tl-controls">
      <span class="jxs-tl-zoom">
        <button type="button" class={boxed} title="Zoom in (W)" aria-label="Zoom in" onClick={() => zoom(0.5)}>
          +
        </button>
        <button type="button" class={boxed} title="Zoom out (S)" aria-label="Zoom out" onClick={() => zoom(2)}>
          −
        </button>
        <button type="button" class={boxed} title="Zoom to fit (F or 0)" onClick={() => model.fit()}>
          Fit
        </button>
      </span>
      <span class="jxs-tl-seen" title="Visible range">
        {duration(lengthOf(visible))} on screen
      </span>
      <label class="jxs-tl-colours">
        colour by{" "}
        <select value={colouring} onChange={(event) => model.store.set({ colouring: event.currentTarget.value as Colouring })}>
          {COLOURINGS.map(([value, title]) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
        </select>
      </label>
      {colouring === "group" && <Legend model={model} />}
      <Bookmarks model={model} />
    </div>
  );
}
