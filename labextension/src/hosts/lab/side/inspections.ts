/** What the kernel of the shown notebook holds: asked for when its list changes and somebody looks. */

import { texts } from "../../../wire/check";
import { messageOf } from "../../../wire/errors";
import type { KernelLink } from "../tokens";
import type { End, FollowedNotebook, Notebooks } from "./followed";
import { type Inspected, type InspectionList, readInspections, withFreed } from "./inspectionList";

export type Place = "no notebook" | "no kernel" | "connecting" | "not loaded" | "connected";

export interface Shown {
  place: Place;
  notebook: string;
  /** Whether the kernel has begun anew while the notebook was shown. */
  isRestarted: boolean;
  isLoading: boolean;
  /** Whether a question waits for the end of a cell. */
  isWaiting: boolean;
  problem: string;
  /** Null until the kernel has answered. */
  rows: Inspected[] | null;
  /** How many the list leaves out. */
  leftOut: number;
}

const NOTHING: Shown = {
  place: "no notebook",
  notebook: "",
  isRestarted: false,
  isLoading: false,
  isWaiting: false,
  problem: "",
  rows: null,
  leftOut: 0,
};
const PATIENCE_MS = 1200;

const stillHeld = (variables: string[]): string =>
  variables.length
    ? `The panel is closed, but ${variables.join(", ")} still holds the inspection: run "del ${variables.join(", ")}" to free its memory.`
    : "The panel is closed, but something in the kernel still holds the inspection.";

export class Inspections {
  shown: Shown = NOTHING;
  private listeners = new Set<() => void>();
  private notebook: FollowedNotebook | null = null;
  private ends: End[] = [];
  private link: KernelLink | null = null;
  private isVisible = false;
  private isStale = true;
  private isAsking = false;
  /** Counts notebooks and kernels: an answer to an earlier one is dropped. */
  private turn = 0;
  /** Freed on this page: their rows stay. */
  private freed: Inspected[] = [];

  constructor(private notebooks: Notebooks) {
    notebooks.onCurrent(() => this.follow());
    this.follow();
  }

  onChange(listener: () => void): End {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** While hidden nothing is asked. */
  setVisible(isVisible: boolean): void {
    const wasVisible = this.isVisible;
    this.isVisible = isVisible;
    if (isVisible && !wasVisible && (this.isStale || !this.link)) this.update();
  }

  /** Loads JAXStage into the kernel. */
  async load(): Promise<void> {
    this.set({ isLoading: true, problem: "" });
    await this.connect(true);
    this.set({ isLoading: false });
  }

  /** Lets go of one. Rejects with one line where something else holds it still. */
  async free(one: Inspected): Promise<void> {
    if (!this.link) return;
    const { turn } = this;
    const { result } = await this.link.request("free", { id: one.id });
    if (turn !== this.turn) return;
    if (result.freed !== true) throw new Error(stillHeld(texts(result.variables)));
    this.freed.push({ ...one, memory: [], variables: [], isFreed: true });
    this.update();
  }

  /** Does something to the list, and says in one line why it could not. */
  async attempt(act: () => Promise<unknown>): Promise<void> {
    this.set({ problem: "" });
    try {
      await act();
    } catch (error) {
      this.set({ problem: messageOf(error) });
    }
  }

  private set(change: Partial<Shown>): void {
    this.shown = { ...this.shown, ...change };
    for (const listener of [...this.listeners]) listener();
  }

  private follow(): void {
    const notebook = this.notebooks.current();
    if (notebook?.id === this.notebook?.id) return;
    this.drop();
    this.notebook = notebook;
    this.set({ ...NOTHING, place: notebook ? "connecting" : "no notebook", notebook: notebook?.name ?? "" });
    if (notebook) {
      this.ends = [
        notebook.onKernel((isNew) => this.kernelChanged(isNew)),
        notebook.onRun(() => (this.link && !this.link.isDisposed) || this.update()),
        notebook.onRename((name) => this.set({ notebook: name })),
      ];
      this.update();
    }
  }

  private drop(): void {
    this.turn++;
    this.forget();
    for (const end of this.ends.splice(0)) end();
  }

  private endNotices: End = () => {};

  private forget(): void {
    this.endNotices();
    this.endNotices = () => {};
    this.link = null;
    this.isAsking = false;
    this.isStale = true;
    this.freed = [];
  }

  private kernelChanged(isNew: boolean): void {
    const state = this.notebook?.kernel() ?? "none";
    if (state === "restarting" || (isNew && this.shown.place !== "connecting")) {
      this.turn++;
      this.forget();
      this.set({ place: "connecting", rows: null, isRestarted: state === "restarting" || this.shown.isRestarted, isWaiting: false });
    }
    if (state === "none") {
      this.turn++;
      this.forget();
      this.set({ place: "no kernel", rows: null, isWaiting: false });
    } else if (state === "idle" && !this.isAsking && this.shown.place !== "connected" && this.shown.place !== "not loaded") this.update();
  }

  private update(): void {
    if (this.link?.isDisposed) this.forget(); // JAXStage was unloaded
    this.isStale = true;
    if (!this.isVisible || !this.notebook) return;
    if (this.link) void this.ask();
    else if (this.notebook.kernel() === "none") this.set({ place: "no kernel" });
    else void this.connect(false);
  }

  private async connect(load: boolean): Promise<void> {
    const turn = this.turn;
    if (!this.notebook || (this.isAsking && !load)) return;
    this.isAsking = true;
    this.isStale = false;
    const patience = this.patience();
    try {
      const link = await this.notebook.link(load);
      if (turn !== this.turn) return;
      this.isAsking = false;
      if (link) this.use(link);
      else if (this.isStale) this.update(); // a cell has ended meanwhile, which may have loaded it
      else this.set({ place: "not loaded", rows: null });
    } catch (error) {
      if (turn !== this.turn) return;
      this.isAsking = false;
      this.set({ place: "not loaded", rows: null, problem: messageOf(error) });
    } finally {
      this.endPatience(patience, turn);
    }
  }

  private use(link: KernelLink): void {
    this.endNotices();
    const notices = link.onChange(() => this.update());
    this.endNotices = () => notices.dispose();
    this.link = link;
    this.set({ place: "connected", problem: "" });
    this.update();
  }

  /** One question at a time; what changes meanwhile is asked for after it. */
  private async ask(): Promise<void> {
    if (this.isAsking || !this.link) return;
    const { turn, link } = this;
    this.isAsking = true;
    this.isStale = false;
    const patience = this.patience();
    try {
      const { result } = await link.request("inspections", {});
      if (turn === this.turn) this.take(readInspections(result));
    } catch (error) {
      if (turn === this.turn) this.set({ problem: messageOf(error) });
    } finally {
      this.endPatience(patience, turn);
      if (turn === this.turn) {
        this.isAsking = false;
        if (this.isStale) this.update();
      }
    }
  }

  private take({ rows, leftOut }: InspectionList): void {
    this.freed = this.freed.filter(({ id }) => !rows.some((one) => one.id === id));
    this.set({ rows: withFreed(rows, this.freed), leftOut, isRestarted: false });
  }

  private patience(): ReturnType<typeof setTimeout> {
    const turn = this.turn;
    return setTimeout(() => turn === this.turn && this.set({ isWaiting: true }), PATIENCE_MS);
  }

  private endPatience(timer: ReturnType<typeof setTimeout>, turn: number): void {
    clearTimeout(timer);
    if (turn === this.turn && this.shown.isWaiting) this.set({ isWaiting: false });
  }
}
