import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
import { placeOf, useCanvas } from "../../parts/canvas";
import { useDoc, useDocuments, useSelected, useSelection, useStore } from "../../parts/hooks";
import { Tip } from "../../parts/tip";
import { drawLanes } from "./drawLanes";
import { type Hit, hitAt } from "./hitTest";
import { hoverLines } from "./hoverLines";
import { inksOf } from "./ink";
import { Drag, type Ground, wheel } from "./laneGestures";
import { type Item, ROW, between, heightOf, itemsOf, shown, topOf } from "./laneItems";
import { laneKey } from "./laneKeys";
import { LaneLabels } from "./laneLabels";
import { LanesBar } from "./lanesBar";
import { lanesInWords } from "./lanesInWords";
import { drawMarks } from "./marks";
import type { Documents } from "../../model/documents";
import type { TimelineModel } from "./model";
import { rgbOf } from "./palette";
import { TimeRuler } from "./timeRuler";
import { axisOf } from "./timeAxis";
import { useEventDetail, useSteps } from "./useEvents";
import { valueAt } from "../../parts/axis";

const ASK_MS = 60;
const STRENGTH = 0.5;
const HINT = "Ctrl+wheel zooms; after a click here the wheel alone does, too. Drag pans, Shift+drag chooses a stretch of time, ? lists the keys.";

/** The size of an element, as it changes. */
function useSize() {
  const element = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const measure = () => element.current && setSize({ width: element.current.clientWidth, height: element.current.clientHeight });
    const observer = new ResizeObserver(measure);
    if (element.current) observer.observe(element.current);
    measure();
    return () => observer.disconnect();
  }, []);
  return { element, ...size };
}

/** Asks for the tiles of what is on screen once it has been so for a moment; draws when they come. */
function useTiles(model: TimelineModel, level: number, lanes: number[]): number {
  const [version, redraw] = useReducer((n: number) => n + 1, 0);
  const { tiles, now } = model;
  const [first, last] = tiles.tilesOf(now.visible, level);
  const wanted = lanes.join(" ");
  useEffect(() => tiles.onChange(() => redraw(undefined as never)), [tiles]);
  useEffect(() => {
    const timer = setTimeout(() => tiles.want(level, [first, last], lanes), ASK_MS);
    return () => clearTimeout(timer);
  }, [tiles, level, first, last, wanted]);
  return version;
}

/** Loads the documents whose colours and links the events have. */
function useLinked(documents: Documents): unknown[] {
  const [hlo, source] = [documents.doc("hlo"), documents.doc("python")];
  useDoc(hlo);
  useDoc(source);
  const library = useSelected((s) => s.library);
  return [hlo?.rows, source?.rows, documents.frames(), library, useSelected((s) => s.selected)];
}

/** The lanes of a timeline over time. */
export function LanesView({ model }: { model: TimelineModel }) {
  const { overview, tiles } = model;
  const state = useStore(model.store, (s) => s);
  const { visible, folded, range, bookmarks, detail, wanted } = state;
  const [scroll, setScroll] = useState(0);
  const [hit, setHit] = useState<(Hit & { x: number; y: number }) | null>(null);
  const [pointer, setPointer] = useState<number | null>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const { element: ground, width, height } = useSize();
  const [hint] = useState(() => `jxs-tl-hint-${Math.random().toString(36).slice(2, 8)}`);
  const items = useMemo(() => itemsOf(overview.lanes, folded), [overview, folded]);
  const total = heightOf(items);
  const onScreen = useMemo(() => items.slice(...between(items, scroll, scroll + height)), [items, scroll, height]);
  const level = tiles.levelOf(visible, width);
  const version = useTiles(model, level, lanesOf(onScreen));
  const documents = useDocuments();
  const selection = useSelection();
  const linked = useLinked(documents);
  const inks = useMemo(() => inksOf(documents, selection, tiles, state), [...linked, state.colouring, state.hits, tiles.looks.length]);
  const axis = useMemo(() => axisOf(visible, width), [visible, width]);
  const view = { cache: tiles, items: onScreen, span: visible, scroll };
  const still = useCanvas(
    (s) => drawLanes(s, { ...view, level, axis, ink: { ...inks, background: rgbOf(s.colour("--jxs-bg")), strength: STRENGTH } }),
    [onScreen, scroll, visible, level, inks, version, width, height],
  );
  const hovered = hit && { from: hit.from, to: hit.to, top: hit.item.top + hit.row * ROW - scroll };
  const moving = useCanvas((s) => drawMarks(s, { span: visible, items, scroll, pointer, hovered, detail, range, bookmarks }), [
    visible,
    items,
    scroll,
    pointer,
    hit,
    detail,
    range,
    bookmarks,
    width,
    height,
  ]);
  const steps = useSteps(model);
  const about = useEventDetail(model, hit?.event ?? -1);

  useEffect(() => {
    if (!wanted) return;
    const open = shown(overview.lanes, wanted.lane, folded);
    if (topOf(items, wanted.lane, wanted.row) === null) model.store.set({ folded: open });
    const top = topOf(itemsOf(overview.lanes, model.now.folded), wanted.lane, wanted.row);
    const seen = scroller.current;
    if (top === null || !seen || (top >= seen.scrollTop && top + ROW <= seen.scrollTop + height)) return;
    requestAnimationFrame(() => seen.scrollTo({ top: Math.max(0, top - height / 2) }));
  }, [wanted]);

  const scrollBy = (px: number) => scroller.current?.scrollBy({ top: px });
  const at = (event: MouseEvent): Hit | null => {
    const { x, y } = placeOf(event);
    const perPixel = (visible.to - visible.from) / Math.max(1, width);
    return hitAt(view, level, visible.from + x * perPixel, y, 3 * perPixel);
  };
  const ways: Ground = { model, width: () => width, scrollBy, onClick: (event) => void model.select(at(event)?.event ?? -1) };
  const latest = useRef(ways);
  latest.current = ways;
  const drag = useMemo(() => new Drag(() => latest.current), []);
  const point = (event: PointerEvent) => {
    drag.move(event);
    const { x, y } = placeOf(event);
    const found = drag.isOn ? null : at(event);
    setPointer(valueAt(visible, x / Math.max(1, width)));
    setHit(found && { ...found, x, y });
    model.store.set({ hovered: found?.event ?? -1 });
  };
  const leave = () => {
    setPointer(null);
    setHit(null);
    model.store.set({ hovered: -1 });
  };
  const key = (event: KeyboardEvent) => {
    const rows = (by: number) => scrollBy(by * ROW);
    if (!laneKey(event, { model, pointer, scrollBy: rows, step: steps, hovered: hit?.event ?? -1 })) return;
    event.preventDefault();
    event.stopPropagation();
  };
  const labels = useMemo(() => <LaneLabels model={model} items={onScreen} scroll={scroll} />, [model, onScreen, scroll]);
  return (
    <div class="jxs-tl-lanes jxs-column">
      <LanesBar model={model} />
      <div class="jxs-tl-top">
        <div class="jxs-tl-corner jxs-cut jxs-dim">{overview.lanes.length === 1 ? "1 lane" : `${overview.lanes.length} lanes`}</div>
        <TimeRuler model={model} axis={axis} span={visible} range={range} />
      </div>
      <div class="jxs-tl-scroll" ref={scroller} onScroll={(event) => setScroll(event.currentTarget.scrollTop)} data-ready={width > 0 && !tiles.isWaiting}>
        <div class="jxs-tl-sticky">
          {labels}
          <div
            class="jxs-tl-ground"
            ref={ground}
            tabIndex={0}
            role="application"
            aria-label={`${overview.predicted ? "Predicted timeline" : "Timeline"} of ${overview.title}`}
            aria-describedby={hint}
            onWheel={(event) => wheel(event, ways)}
            onPointerDown={(event) => (event.currentTarget.focus({ preventScroll: true }), drag.down(event))}
            onPointerMove={point}
            onPointerUp={drag.up}
            onPointerCancel={drag.up}
            onPointerLeave={leave}
            onDblClick={(event) => {
              const found = at(event);
              if (found) model.zoomTo({ from: found.from, to: found.to });
            }}
            onKeyDown={key}
          >
            <canvas ref={still} aria-hidden="true" />
            <canvas ref={moving} aria-hidden="true" />
            <Tip x={hit?.x ?? 0} y={Math.min(hit?.y ?? 0, Math.max(0, height - 90))} width={width} lines={hit ? hoverLines(hit, tiles.looks[hit.look], about, visible) : []} />
          </div>
        </div>
        <div style={{ height: `${Math.max(0, total - height)}px` }} />
      </div>
      <p class="jxs-tl-foot jxs-dim" id={hint}>
        {tiles.problem ? <span role="alert">{problemOf(model)}</span> : HINT}
      </p>
      <p class="jxs-tl-words jxs-hidden" role="status">
        {lanesInWords(model, onScreen)}
      </p>
    </div>
  );
}

const lanesOf = (items: readonly Item[]): number[] => items.flatMap(({ lane }) => (lane ? [lane.lane] : []));

function problemOf({ tiles }: TimelineModel): string {
  return tiles.isAbsent ? "This is the coarse picture that was saved; run the notebook to see it more finely." : tiles.problem;
}
