/** One question to the kernel, however long it computes, and all the views that wait for its answer. */

import { Refusal, messageOf } from "../wire/errors";
import { type Progress, poll } from "../wire/poll";
import type { Params, Reply, Source } from "../wire/source";

export interface Answer<T> {
  /** There, on its way, stopped by the user, or refused. */
  state: "waiting" | "done" | "stopped" | "failed";
  value: T | null;
  /** Date.now() at which the kernel began. */
  since: number;
  /** What the kernel is at, in its own words. */
  progress: string | null;
  problem: string;
  /** Whether a worker process was part of it, whose log may say more. */
  hasLog: boolean;
  /** Asking again would change nothing. */
  isAbsent: boolean;
}

function refused(error: unknown): Pick<Answer<unknown>, "state" | "problem" | "hasLog" | "isAbsent"> {
  const { kind, hasLog } = error instanceof Refusal ? error : new Refusal("");
  return { state: kind === "stopped" ? "stopped" : "failed", problem: messageOf(error), hasLog, isAbsent: kind === "absent" };
}

const waiting = () => ({ state: "waiting" as const, value: null, since: Date.now(), progress: null, problem: "", hasLog: false, isAbsent: false });

/**
 * Asks while a view waits, and no longer; a notebook may show the same panel twice, and both share the question, its
 * answer and its end. The answer is kept.
 */
export class Question<T> {
  now: Answer<T> = waiting();
  private views = new Set<() => void>();
  private gone: AbortController | null = null;

  constructor(
    private source: Source,
    private method: string,
    private params: Params,
    private read: (reply: Reply) => T | Promise<T>,
  ) {}

  get inUse(): boolean {
    return this.views.size > 0;
  }

  /** A view that is told of each change until it calls what this returns. */
  use(view: () => void): () => void {
    this.views.add(view);
    this.begin();
    return () => {
      this.views.delete(view);
      if (!this.inUse) this.pause();
    };
  }

  stop(): void {
    if (this.now.state !== "waiting") return;
    this.pause();
    this.change({ state: "stopped" });
    this.source.request("cancel", { ...this.params, of: this.method }).catch(() => undefined);
  }

  askAgain(): void {
    this.pause();
    this.change(waiting());
    this.begin();
  }

  private begin(): void {
    if (this.gone || this.now.state !== "waiting") return;
    const gone = (this.gone = new AbortController());
    const mine = (more: Partial<Answer<T>>) => gone.signal.aborted || this.change(more);
    const heard = ({ elapsed, text }: Progress) => mine({ since: Date.now() - elapsed * 1000, progress: text });
    poll(() => this.source.request(this.method, this.params), heard, gone.signal)
      .then(this.read)
      .then((value) => mine({ state: "done", value }))
      .catch((error: unknown) => mine(refused(error)));
  }

  private pause(): void {
    this.gone?.abort();
    this.gone = null;
  }

  private change(more: Partial<Answer<T>>): void {
    this.now = { ...this.now, ...more };
    for (const view of [...this.views]) view();
  }
}
