import { vi } from "vitest";
import { SavedSource } from "../src/wire/savedForm";
import type { Params, Reply, Source } from "../src/wire/source";
import { type PanelState, readState } from "../src/wire/state";
import fixture from "./fixtures/loss.json";

/** The offline page's data behind a kernel that can change its state and fall silent. */
export class FakeKernel implements Source {
  private embedded = new SavedSource(fixture);
  private listener = () => {};
  asked: string[] = [];
  dead = false;
  /** Further answers, by method; what they throw is the kernel's error. */
  answers: Record<string, (params: Params) => Reply> = {};
  now: PanelState = this.embedded.state();

  state = () => this.now;
  onState(listener: () => void) {
    this.listener = listener;
    return () => {};
  }
  push(now: unknown): void {
    this.now = readState(now);
    this.listener();
  }
  async request(method: string, params: Params): Promise<Reply> {
    this.asked.push([method, params.doc].filter(Boolean).join(" "));
    if (this.dead) throw new Error("The kernel did not answer.");
    return this.answers[method]?.(params) ?? this.embedded.request(method, params);
  }
}

export const soon = (check: () => void) => vi.waitFor(check, { timeout: 15_000 });
export const $ = (selector: string) => document.querySelector<HTMLElement>(selector);
export const $$ = (selector: string) => [...document.querySelectorAll<HTMLElement>(selector)];

export const key = (target: Element | null, name: string, more: KeyboardEventInit = {}) =>
  target?.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true, ...more }));
export const click = (node: Element | null | undefined, more: MouseEventInit = {}) =>
  node?.dispatchEvent(new MouseEvent("click", { bubbles: true, ...more }));
