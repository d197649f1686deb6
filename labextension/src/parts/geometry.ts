/** Browsers cap the height of an element, so very long lists scroll at a smaller scale than they show. */
export const MAX_HEIGHT = 15_000_000;

export interface Geometry {
  rowHeight: number;
  rows: number;
  viewport: number;
}

const full = (g: Geometry): number => g.rows * g.rowHeight;

export function scrollHeight(g: Geometry): number {
  return Math.min(full(g), MAX_HEIGHT);
}

function ratio(g: Geometry): number {
  const range = scrollHeight(g) - g.viewport;
  return range > 0 ? Math.max(1, (full(g) - g.viewport) / range) : 1;
}

/** Pixels from the top of the first row to the top of the view. */
export function offsetAt(g: Geometry, scrollTop: number): number {
  return scrollTop * ratio(g);
}

export function scrollTopFor(g: Geometry, offset: number): number {
  return Math.max(0, Math.min(offset, full(g) - g.viewport)) / ratio(g);
}

/** First and last index to be drawn, both inclusive. */
export function visibleRange(g: Geometry, scrollTop: number, overscan: number): [number, number] {
  const offset = offsetAt(g, scrollTop);
  const first = Math.max(0, Math.floor(offset / g.rowHeight) - overscan);
  const last = Math.min(g.rows - 1, Math.ceil((offset + g.viewport) / g.rowHeight) + overscan);
  return [first, last];
}
