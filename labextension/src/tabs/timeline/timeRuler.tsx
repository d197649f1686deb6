import { useRef } from "preact/hooks";
import { type Surface, useCanvas } from "../../parts/canvas";
import type { TimelineModel } from "./model";
import type { Axis } from "./timeAxis";
import { type Span, shareOf, valueAt } from "../../parts/axis";

function drawTicks(s: Surface, axis: Axis, span: Span): void {
  s.g.font = s.font(10);
  s.g.textBaseline = "middle";
  const base = axis.base ? s.g.measureText(axis.base).width + 14 : 0;
  for (const { at, label } of axis.ticks) {
    const x = shareOf(span, at) * s.width;
    s.g.fillStyle = s.colour("--jxs-line");
    s.g.fillRect(Math.round(x), s.height - 6, 1, 6);
    const width = s.g.measureText(label).width;
    if (x + 3 < base || x + 3 + width > s.width) continue;
    s.g.fillStyle = s.colour("--jxs-fg2");
    s.g.fillText(label, x + 3, s.height / 2);
  }
  if (!axis.base) return;
  s.g.fillStyle = s.colour("--jxs-fg");
  s.g.fillText(axis.base, 4, s.height / 2);
}

/** The time axis: a drag along it chooses a stretch of time. */
export function TimeRuler({ model, axis, span, range }: { model: TimelineModel; axis: Axis; span: Span; range: Span | null }) {
  const canvas = useCanvas((surface) => drawTicks(surface, axis, span), [axis, span, range]);
  const from = useRef<number | null>(null);
  const timeAt = (event: PointerEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return valueAt(span, (event.clientX - box.left) / Math.max(1, box.width));
  };
  return (
    <div
      class="jxs-tl-ruler"
      title="Drag along the axis to select a time range"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        from.current = timeAt(event);
        model.store.set({ range: null });
      }}
      onPointerMove={(event) => {
        if (from.current === null) return;
        const to = timeAt(event);
        model.choose(from.current, to);
      }}
      onPointerUp={() => (from.current = null)}
      onPointerCancel={() => (from.current = null)}
    >
      <canvas ref={canvas} aria-hidden="true" />
    </div>
  );
}
