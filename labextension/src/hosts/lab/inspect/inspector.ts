/** Inspects a cell of a notebook at a stage, or says in one line why it cannot. */

import { type ISessionContext, Notification } from "@jupyterlab/apputils";
import type { Cell, CodeCell } from "@jupyterlab/cells";
import { type INotebookTracker, NotebookActions, type NotebookPanel } from "@jupyterlab/notebook";
import { type Choice, type StageName, cellMagic, choiceOfOptions, codeOfCell, hasTarget, isStage } from "./cellCode";
import { NotReady, type ReadyKernel, kernelReady } from "../kernel/kernelReady";
import type { IKernelLinks, IPreferences, KernelLink, Preferences } from "../tokens";
import { fields, text } from "../../../wire/check";
import type { Kernel } from "@jupyterlab/services";

/** The object with some of its members replaced; everything else stays its own. */
function replaced<T extends object>(given: T, members: Partial<T>): T {
  return new Proxy(given, {
    get: (target, key) => {
      if (Object.hasOwn(members, key)) return members[key as keyof T];
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** A session of which the kernel is sent `code` in place of what it is asked to execute. */
function sending(session: ISessionContext, code: string): ISessionContext {
  const connection = session.session;
  const kernel = connection?.kernel;
  if (!kernel) return session;
  const requestExecute: Kernel.IKernelConnection["requestExecute"] = (content, ...others) => kernel.requestExecute({ ...content, code }, ...others);
  return replaced(session, { session: replaced(connection, { kernel: replaced(kernel, { requestExecute }) }) });
}

/** Runs the cell as it is, or with `code`: prompt, output, timing and signals are those of any run. */
function runCell(panel: NotebookPanel, cell: CodeCell, code: string | null): Promise<boolean> {
  const session = code === null ? panel.sessionContext : sending(panel.sessionContext, code);
  return NotebookActions.runCells(panel.content, [cell], session);
}

/** Of each notebook, what was chosen on the page. */
const chosen = new WeakMap<NotebookPanel, Map<StageName, Choice>>();

function remember(panel: NotebookPanel, choice: Choice): void {
  const known = chosen.get(panel) ?? new Map<StageName, Choice>();
  chosen.set(panel, known.set(choice.stage, choice));
}

/** What the kernel ran last at this stage, in a magic or from the page; null where it has run none. */
async function lastRun(link: KernelLink | null, stage: StageName): Promise<Choice | null> {
  const reply = await link?.request("last", {}).catch(() => null);
  const last = reply && fields(reply.result.lines)[stage];
  return last ? choiceOfOptions(stage, text(fields(last).options)) : null;
}

function byDefault(stage: StageName, { target, options }: Preferences): Choice {
  return { stage, target: hasTarget(stage) ? target : "", options: stage === "compile" ? options : "" };
}

/** The choice with which a notebook inspected last at this stage. */
async function lastChoice(panel: NotebookPanel, stage: StageName, link: KernelLink | null, preferences: Preferences): Promise<Choice> {
  return (await lastRun(link, stage)) ?? chosen.get(panel)?.get(stage) ?? byDefault(stage, preferences);
}

const SHOWN_MS = 8000;

/** A run of what a user asked for; what stands in its way is one line. */
export async function saying(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof NotReady)) throw error;
    Notification.warning(error.message, { autoClose: SHOWN_MS });
  }
}

export interface Place {
  panel: NotebookPanel;
  cell: CodeCell;
}

const isCode = (cell: Cell | null | undefined): cell is CodeCell => cell?.model.type === "code";

export class Inspector {
  constructor(
    private notebooks: INotebookTracker,
    private links: IKernelLinks,
    private preferences: IPreferences,
  ) {}

  /** The stage of the cell's button. */
  get stage(): StageName {
    return this.preferences.get().stage;
  }

  /** The active code cell; null where there is none. */
  get place(): Place | null {
    const panel = this.notebooks.currentWidget;
    const cell = panel?.content.activeCell;
    return panel && isCode(cell) ? { panel, cell } : null;
  }

  /** False for what is certainly not Python code: the active cell is text, or the notebook is in another language. */
  get isVisible(): boolean {
    const panel = this.notebooks.currentWidget;
    const cell = panel?.content.activeCell;
    return !panel || !cell || (isCode(cell) && /^i?python$/i.test(languageOf(panel)));
  }

  ready(panel: NotebookPanel): Promise<ReadyKernel> {
    return kernelReady(panel, this.links);
  }

  last(panel: NotebookPanel, stage: StageName, { link }: ReadyKernel): Promise<Choice> {
    return lastChoice(panel, stage, link, this.preferences.get());
  }

  /** The active code cell. Throws NotReady where there is none. */
  placeOrWhyNot(): Place {
    const { place } = this;
    if (!place) throw new NotReady("Select a code cell: only code can be inspected.");
    return place;
  }

  /** Runs the active cell at a stage, with the last target and options, or with those of `choose`. */
  async inspect(stage: StageName, choose?: (place: Place, ready: ReadyKernel) => Promise<Choice | null>): Promise<void> {
    const place = this.placeOrWhyNot();
    const text = place.cell.model.sharedModel.getSource();
    const own = cellMagic(text);
    if (!text.trim()) throw new NotReady("The cell is empty: there is nothing to inspect.");
    if (own !== null && !isStage(own)) throw new NotReady(`The cell begins with %%${own}, and a cell has one magic only. Remove that line to ${stage} the cell.`);
    if (own !== null && choose) throw new NotReady(`The cell begins with %%${own}: its target and options are those of that line.`);
    const ready = await waiting(place.cell, () => this.ready(place.panel));
    if (own !== null) return this.runAsItIs(place, own, stage);
    const choice = choose ? await choose(place, ready) : await this.last(place.panel, stage, ready);
    if (!choice || place.cell.isDisposed) return;
    remember(place.panel, choice);
    await runCell(place.panel, place.cell, codeOfCell(choice, place.cell.model.sharedModel.getSource()));
  }

  /** A cell with a magic of ours says itself what is to be done with it. */
  private async runAsItIs({ panel, cell }: Place, own: StageName, asked: StageName): Promise<void> {
    if (own !== asked) Notification.info(`The cell begins with %%${own} and ran as it is. Change that line to ${asked} it.`, { autoClose: SHOWN_MS });
    await runCell(panel, cell, null);
  }
}

/** The language of a notebook, as its kernel or its file names it; a new notebook may name none yet. */
function languageOf(panel: NotebookPanel): string {
  const { model } = panel.content;
  const { name } = (model?.getMetadata("language_info") ?? {}) as { name?: unknown };
  const { language } = (model?.getMetadata("kernelspec") ?? {}) as { language?: unknown };
  return String(name || language || "python");
}

/** Shows the cell as waiting while the kernel makes itself ready. */
async function waiting<T>(cell: CodeCell, work: () => Promise<T>): Promise<T> {
  cell.setPrompt("*");
  try {
    return await work();
  } finally {
    if (!cell.isDisposed) cell.setPrompt(`${cell.model.executionCount ?? ""}`);
  }
}
