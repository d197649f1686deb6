/** What the wheel, a drag and fingers do in the lanes. */

import type { TimelineModel } from "./model";
import { lengthOf, moved, valueAt, zoomed } from "../../parts/axis";
import { focused } from "../../parts/focused";

/** A pointer that moved less than this has clicked. */
const STILL_PX = 4;
const WHEEL = 0.0015;
const PINCH = 0.01;

export interface Ground {
  model: TimelineModel;
  width: () => number;
  scrollBy: (px: number) => void;
  onClick: (event: PointerEvent) => void;
}

interface Finger {
  x: number;
  y: number;
}

/** The moment under a place, in pixels from the left of the lanes. */
export function timeAt({ model, width }: Ground, x: number): number {
  return valueAt(model.now.visible, x / Math.max(1, width()));
}

const placeIn = (event: MouseEvent): Finger => {
  const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
};

/**
 * Ctrl or Cmd and the wheel, and a pinch on a touchpad, always zoom. The wheel alone zooms once the lanes have the
 * focus; before that it scrolls them and the page as anywhere. With Shift, or sideways, it pans.
 */
export function wheel(event: WheelEvent, ground: Ground): void {
  const { model } = ground;
  const { visible } = model.now;
  const pinches = event.ctrlKey || event.metaKey;
  const along = event.shiftKey ? event.deltaY || event.deltaX : Math.abs(event.deltaX) > Math.abs(event.deltaY) ? event.deltaX : 0;
  const isFocused = event.currentTarget === focused(event.currentTarget as Node);
  const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
  if (pinches || (isFocused && !along && !event.shiftKey)) {
    const speed = pinches && Math.abs(event.deltaY) < 40 && event.deltaMode === 0 ? PINCH : WHEEL;
    model.see(zoomed(visible, Math.exp(event.deltaY * unit * speed), timeAt(ground, placeIn(event).x), model.all));
  } else if (along) model.see(moved(visible, ((along * unit) / Math.max(1, ground.width())) * lengthOf(visible), model.all));
  else return;
  event.preventDefault();
}

/** Drags of one finger or the mouse, with Shift to choose a stretch of time; two fingers pinch. */
export class Drag {
  private fingers = new Map<number, Finger>();
  private from: { time: number; x: number; y: number } | null = null;
  private chooses = false;
  private hasMoved = false;

  constructor(private ground: () => Ground) {}

  get isOn(): boolean {
    return this.hasMoved && this.fingers.size > 0;
  }

  down = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    const at = placeIn(event);
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    this.fingers.set(event.pointerId, at);
    if (this.fingers.size > 1) return;
    this.hasMoved = false;
    this.chooses = event.shiftKey;
    this.from = { time: timeAt(this.ground(), at.x), ...at };
  };

  move = (event: PointerEvent): void => {
    const before = this.fingers.get(event.pointerId);
    if (!before || !this.from) return;
    const at = placeIn(event);
    this.hasMoved ||= Math.hypot(at.x - this.from.x, at.y - this.from.y) >= STILL_PX;
    if (this.fingers.size === 2) this.pinch(event.pointerId, at);
    else if (this.hasMoved && this.chooses) this.ground().model.choose(this.from.time, timeAt(this.ground(), at.x));
    else if (this.hasMoved) this.pan(at, before, event.pointerType);
    this.fingers.set(event.pointerId, at);
  };

  up = (event: PointerEvent): void => {
    const wasOne = this.fingers.size === 1 && this.fingers.has(event.pointerId);
    this.fingers.delete(event.pointerId);
    if (event.type === "pointerup" && wasOne && !this.hasMoved) this.ground().onClick(event);
    if (!this.fingers.size) this.from = null;
  };

  private pan(at: Finger, before: Finger, pointer: string): void {
    const { model, width, scrollBy } = this.ground();
    const { visible } = model.now;
    model.see(moved(visible, ((before.x - at.x) / Math.max(1, width())) * lengthOf(visible), model.all));
    if (pointer !== "touch") scrollBy(before.y - at.y); // a finger scrolls the lanes by itself
  }

  private pinch(id: number, at: Finger): void {
    const ground = this.ground();
    const { model } = ground;
    const other = [...this.fingers].find(([finger]) => finger !== id)?.[1];
    const before = this.fingers.get(id);
    if (!other || !before) return;
    const [apart, was] = [Math.abs(at.x - other.x), Math.abs(before.x - other.x)];
    if (apart < 8 || was < 8) return;
    model.see(zoomed(model.now.visible, was / apart, timeAt(ground, (at.x + other.x) / 2), model.all));
  }
}
