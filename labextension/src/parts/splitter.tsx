import { useEffect, useRef, useState } from "preact/hooks";
import { useLayout, useLayoutStore } from "./hooks";

const SMALLEST = 0.15;

/** Moves share from one neighbour to the other; the sum of the two stays. */
export function moved(a: number, b: number, by: number): [number, number] {
  const sum = a + b;
  const first = Math.max(sum * SMALLEST, Math.min(a + by * sum, sum * (1 - SMALLEST)));
  return [first, sum - first];
}

export function Splitter({ left, right }: { left: string; right: string }) {
  const layout = useLayoutStore();
  const [before, after] = [useLayout((s) => s.widths[left]) ?? 1, useLayout((s) => s.widths[right]) ?? 1];
  const move = (by: number) => {
    const { widths } = layout.get();
    const [a, b] = moved(widths[left] ?? 1, widths[right] ?? 1, by);
    layout.set({ widths: { ...widths, [left]: a, [right]: b } });
  };
  const drag = (down: PointerEvent) => {
    const handle = down.currentTarget as HTMLElement;
    const [before, after] = [handle.previousElementSibling, handle.nextElementSibling];
    if (!before || !after || !handle.parentElement) return;
    const stacked = getComputedStyle(handle.parentElement).flexDirection === "column";
    const size = (e: Element) => (stacked ? e.clientHeight : e.clientWidth);
    let last = stacked ? down.clientY : down.clientX;
    handle.setPointerCapture(down.pointerId);
    handle.onpointermove = (e) => {
      const now = stacked ? e.clientY : e.clientX;
      move((now - last) / Math.max(1, size(before) + size(after)));
      last = now;
    };
    handle.onpointerup = handle.onpointercancel = () => {
      handle.onpointermove = null;
    };
    down.preventDefault();
  };
  const key = (event: KeyboardEvent) => {
    if (event.key === "ArrowLeft" || event.key === "ArrowUp") move(-0.05);
    else if (event.key === "ArrowRight" || event.key === "ArrowDown") move(0.05);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      class="jxs-splitter"
      role="separator"
      aria-orientation="vertical"
      tabIndex={0}
      aria-label="Resize the panes beside it"
      aria-valuemin={100 * SMALLEST}
      aria-valuemax={100 - 100 * SMALLEST}
      aria-valuenow={Math.round((100 * before) / (before + after))}
      onPointerDown={drag}
      onKeyDown={key}
    />
  );
}

const LOWEST = 160;
const resized = (handle: HTMLElement | null) => handle?.parentElement?.querySelector(".jxs-panes, .jxs-view");

export function HeightHandle() {
  const layout = useLayoutStore();
  const own = useRef<HTMLDivElement>(null);
  const [now, setNow] = useState(LOWEST);
  const measure = () => setNow(resized(own.current)?.clientHeight || LOWEST);
  useEffect(measure);
  const drag = (down: PointerEvent) => {
    const handle = down.currentTarget as HTMLElement;
    const panes = resized(handle);
    const start = (panes?.clientHeight ?? LOWEST) - down.clientY;
    handle.setPointerCapture(down.pointerId);
    handle.onpointermove = (e) => layout.set({ height: Math.max(LOWEST, start + e.clientY) });
    handle.onpointerup = handle.onpointercancel = () => {
      handle.onpointermove = null;
    };
    down.preventDefault();
  };
  const key = (event: KeyboardEvent) => {
    const by = event.key === "ArrowDown" ? 40 : event.key === "ArrowUp" ? -40 : 0;
    const panes = resized(own.current);
    if (!by || !panes) return;
    layout.set({ height: Math.max(LOWEST, panes.clientHeight + by) });
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      class="jxs-height"
      ref={own}
      role="separator"
      aria-orientation="horizontal"
      tabIndex={0}
      aria-label="Resize the panel"
      aria-valuemin={LOWEST}
      aria-valuenow={Math.max(LOWEST, now)}
      aria-valuetext={`${now} pixels high`}
      onFocus={measure}
      onPointerDown={drag}
      onKeyDown={key}
    />
  );
}
