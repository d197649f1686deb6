/** A list of lines of one height, of which only those in sight are elements. Its owner says what a line is. */

import { type Geometry, offsetAt, scrollHeight, scrollTopFor, visibleRange } from "./geometry";
import { element } from "./rowView";

const OVERSCAN = 6;
const USUAL_HEIGHT = 18;

export interface Lines {
  count(): number;
  /** What the line at an index is known by, as long as it is in the list. */
  keyAt(index: number): number;
  create(key: number): HTMLElement;
}

let lists = 0;

export class VirtualList {
  readonly node = element("div", "jxs-code");
  /** The elements that there are, by their lines' keys. */
  readonly drawn = new Map<number, HTMLElement>();
  rowHeight = USUAL_HEIGHT;
  private spacer = element("div", "jxs-spacer");
  private content = element("div", "jxs-rows");
  private id = `jxs-list-${lists++}`;
  private widest = 0;

  constructor(
    private lines: Lines,
    label: string,
  ) {
    this.node.tabIndex = 0;
    this.node.setAttribute("role", "listbox");
    this.node.setAttribute("aria-label", label);
    this.content.setAttribute("role", "presentation");
    this.spacer.setAttribute("aria-hidden", "true");
    this.node.append(this.spacer, this.content);
  }

  /** Once it is in the page: takes the height of a line from the style sheet. */
  attached(): void {
    this.rowHeight = Number.parseFloat(getComputedStyle(this.node).getPropertyValue("--jxs-row")) || USUAL_HEIGHT;
  }

  get geometry(): Geometry {
    return { rowHeight: this.rowHeight, rows: this.lines.count(), viewport: this.node.clientHeight };
  }

  /** Pixels from the top of the first line to the top of the view. */
  get offset(): number {
    return offsetAt(this.geometry, this.node.scrollTop);
  }

  /** The first and the last line to be drawn. */
  get range(): [first: number, last: number] {
    return visibleRange(this.geometry, this.node.scrollTop, OVERSCAN);
  }

  /** Forgets all elements: the lines themselves have changed. */
  clear(): void {
    this.drawn.clear();
    this.content.replaceChildren();
    this.spacer.style.height = `${scrollHeight(this.geometry)}px`;
  }

  /** Forgets one line's element. */
  drop(key: number): void {
    this.drawn.get(key)?.remove();
    this.drawn.delete(key);
  }

  /** Draws a range of lines; those that stay keep their elements. Says whether any is new. */
  draw([first, last]: [number, number]): boolean {
    const keys: number[] = [];
    for (let index = first; index <= last; index++) keys.push(this.lines.keyAt(index));
    const isFresh = this.keepOnly(keys);
    this.content.style.transform = `translateY(${first * this.rowHeight - this.offset + this.node.scrollTop}px)`;
    return isFresh;
  }

  private keepOnly(keys: number[]): boolean {
    const wanted = new Set(keys);
    for (const key of [...this.drawn.keys()]) if (!wanted.has(key)) this.drop(key);
    let isFresh = false;
    let next = this.content.firstElementChild;
    for (const key of keys) {
      const known = this.drawn.get(key);
      if (known && known === next) next = next.nextElementSibling;
      else this.content.insertBefore(known ?? this.create(key), next);
      isFresh ||= !known;
    }
    return isFresh;
  }

  private create(key: number): HTMLElement {
    const node = this.lines.create(key);
    node.id = `${this.id}-${key}`;
    node.dataset.key = String(key);
    this.drawn.set(key, node);
    return node;
  }

  /** The line that an event is on, -1 for none. */
  keyOf(target: EventTarget | null): number {
    const node = target instanceof Element ? target.closest<HTMLElement>(".jxs-row") : null;
    return node ? Number(node.dataset.key) : -1;
  }

  /** Tells assistive technology which line is the current one, where it is drawn. */
  setActive(key: number): void {
    if (this.drawn.has(key)) this.node.setAttribute("aria-activedescendant", `${this.id}-${key}`);
    else this.node.removeAttribute("aria-activedescendant");
  }

  /** Pixels that its widest line has needed so far. */
  get width(): number {
    this.widest = Math.max(this.widest, this.content.scrollWidth);
    return this.widest;
  }

  /** The list never gets narrower while it scrolls, or its horizontal position would jump. */
  keepWidth(width = this.width): void {
    this.content.style.minWidth = `max(100%, ${width}px)`;
  }

  scrollTo(offset: number): void {
    this.node.scrollTop = scrollTopFor(this.geometry, offset);
  }

  find(selector: string): HTMLElement | null {
    return this.content.querySelector(selector);
  }
}
