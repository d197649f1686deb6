/** One question to the kernel, however long it computes, and all the views that wait for its answer. */

import { Refusal, messageOf } from "../wire/errors";
import { type Progress, poll } from "../wire/poll";
import type { Params, Reply, Source } from "../wire/source";
import { Observable } from "./observable";
import type { Panel } from "./panel";
import type { Selection } from "./selection";

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
  stop(): void;
  askAgain(): void;
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
export class Question<T> extends Observable {
  now: Answer<T> = { ...waiting(), stop: () => this.stop(), askAgain: () => this.askAgain() };
  private gone: AbortController | null = null;

  constructor(
    private source: Source,
    private method: string,
    private params: Params,
    private read: (reply: Reply) => T | Promise<T>,
  ) {
    super();
  }

  /** A view that is told of each change until it calls what this returns. */
  use(view: () => void): () => void {
    const leave = this.onChange(view);
    this.begin();
    return () => {
      leave();
      if (!this.isHeard) this.pause();
    };
  }

  private stop(): void {
    if (this.now.state !== "waiting") return;
    this.pause();
    this.change({ state: "stopped" });
    this.source.request("cancel", { ...this.params, of: this.method }).catch(() => undefined);
  }

  private askAgain(): void {
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
    this.changed();
  }
}

const MOST_KEPT = 50;

/** What views ask the kernel about the shown call. */
export class Questions {
  /** Last asked last. */
  private questions = new Map<string, Question<unknown>>();

  constructor(
    private source: Source,
    private panel: Panel,
    private selection: Selection,
  ) {}

  forget(): void {
    this.questions.clear();
  }

  /** Whether no kernel answers, but what was saved. */
  get isSaved(): boolean {
    return this.source.isSaved ?? false;
  }

  private ofCall(params: Params): Params {
    return { call: this.selection.call, ...params };
  }

  /** Asks once. Rejects with a one-line Error that can be shown as it is. */
  request(method: string, params: Params = {}): Promise<Reply> {
    return this.source.request(method, this.ofCall(params));
  }

  /** Asks until there is an answer, however long the kernel computes. */
  ask(method: string, params: Params = {}): Promise<Reply> {
    const all = this.ofCall(params);
    return poll(() => this.source.request(method, all));
  }

  /** The question to the kernel about the shown call, one for all views that ask it; see `useQuestion`. */
  asked<T>(method: string, params: Params, read: (reply: Reply) => T | Promise<T>): Question<T> {
    const all = this.ofCall(params);
    const key = JSON.stringify([method, all, this.selection.summary?.documents, this.panel.state.run]);
    const found = this.questions.get(key) as Question<T> | undefined;
    const asked = found ?? new Question(this.source, method, all, read);
    this.questions.delete(key);
    this.questions.set(key, asked as Question<unknown>);
    const idle = [...this.questions].find(([, one]) => !one.isHeard && (one as unknown) !== asked);
    if (this.questions.size > MOST_KEPT && idle) this.questions.delete(idle[0]);
    return asked;
  }
}
