/** What stands in a tab beside a notebook: one inspection's live panel, or two inspections compared. */

import { MainAreaWidget } from "@jupyterlab/apputils";
import type { NotebookPanel } from "@jupyterlab/notebook";
import { Panel, Widget } from "@lumino/widgets";
import { text } from "../../../wire/check";
import { messageOf } from "../../../wire/errors";
import { jaxstageIcon } from "../icon";
import { isLive } from "../output/kernelModels";
import { LivePanel } from "../output/livePanel";
import type { IKernelLinks, KernelLink } from "../tokens";
import { drawComparison } from "./comparisonDrawing";
import { rootIn } from "./drawing";

/** What a tab shows, as it is kept over a reload of the page. */
export interface TabArgs {
  path: string;
  id: string;
  /** Seconds since 1970 at which it was made: kernels count their inspections, each from the beginning. */
  made: number;
  /** The later one, of two that are compared. */
  other?: string;
  otherMade?: number;
  /** What the tab was called when it was kept. */
  title?: string;
}

export const keyOf = ({ id, made, other, otherMade }: TabArgs): string =>
  `jaxstage-tab-${id}-${made}${other ? `-${other}-${otherMade}` : ""}`;

const RESTARTED = "The kernel was restarted. Run the cell again, then open its inspection from the side panel.";
const NOT_LOADED = "JAXStage is not loaded in this notebook's kernel. Run the cell again, then open its inspection from the side panel.";
const NOT_DRAWN = "The kernel does not answer, or this page cannot show widgets. Open it once more from the side panel.";

export class InspectionTab extends Panel {
  private line = document.createElement("p");
  private live: LivePanel | null = null;
  /** The model that the kernel made for this tab alone, and how to close it. */
  private own: { link: KernelLink; model: string } | null = null;
  private isRestarted = false;

  constructor(
    readonly args: TabArgs,
    private found: Promise<NotebookPanel>,
    private links: IKernelLinks,
  ) {
    super();
    this.addClass("jaxstage-tab");
    this.title.label = args.title ?? (args.other ? "Comparison" : "Inspection");
    this.title.icon = jaxstageIcon;
    const head = new Widget();
    this.line.className = "jxs-side-line jxs-anywhere";
    this.line.setAttribute("role", "status");
    rootIn(head.node, "jxs-tab-head").append(this.line);
    this.addWidget(head);
    this.say("Waiting for its notebook…");
    void this.fill();
  }

  override dispose(): void {
    if (this.isDisposed) return;
    this.closeOwn();
    super.dispose();
  }

  private closeOwn(): void {
    const { own } = this;
    this.own = null;
    if (own) void own.link.request("close", { model: own.model }).catch(() => undefined);
  }

  private say(words: string): void {
    this.line.textContent = words;
    this.line.parentElement?.toggleAttribute("hidden", !words);
  }

  private async fill(): Promise<void> {
    try {
      const notebook = await this.found;
      if (this.isDisposed) return;
      this.node.dataset.jaxstageNotebook = notebook.id;
      this.watch(notebook);
      this.say("Asking the kernel…");
      const link = await this.links.of(notebook);
      if (this.isDisposed) return;
      if (link) await this.draw(notebook, link);
      else this.say(NOT_LOADED);
    } catch (error) {
      this.say(messageOf(error));
    }
  }

  private async draw(notebook: NotebookPanel, link: KernelLink): Promise<void> {
    const { other, otherMade = 0, id, made } = this.args;
    if (!other) return this.drawPanel(notebook, link);
    const host = new Widget();
    host.addClass("jaxstage-tab-comparison");
    this.addWidget(host);
    this.say("");
    drawComparison(host.node, link, { id, made, other, otherMade }, (title) => this.name(title));
  }

  private async drawPanel(notebook: NotebookPanel, link: KernelLink): Promise<void> {
    const { id, made } = this.args;
    const { result } = await link.request("open", { id, made });
    const model = text(result.model);
    if (result.own === true) this.own = { link, model };
    if (this.isDisposed) return this.closeOwn();
    this.name(text(result.title) || "Inspection");
    const { sessionContext } = notebook;
    const { rendermime } = notebook.content;
    if (!(await isLive({ sessionContext, rendermime }, model))) return this.say(NOT_DRAWN);
    if (this.isDisposed) return;
    this.live?.dispose();
    const live = (this.live = new LivePanel(rendermime, model));
    live.closed = () => this.live === live && void this.drawAgain(notebook, link);
    this.addWidget(live);
    this.say("");
  }

  /** Its panel was closed: its cell was deleted, its memory freed, or the kernel has gone. */
  private async drawAgain(notebook: NotebookPanel, link: KernelLink): Promise<void> {
    if (this.isDisposed || this.isRestarted) return;
    this.own = null;
    this.live?.dispose();
    this.live = null;
    await this.drawPanel(notebook, link).catch((error: unknown) => this.isRestarted || this.say(messageOf(error)));
  }

  private name(title: string): void {
    this.args.title = title;
    this.title.label = title;
    this.title.caption = `${title}\n${this.args.path}`;
  }

  private watch({ sessionContext, context, disposed }: NotebookPanel): void {
    const renamed = (_: unknown, path: string) => {
      this.args.path = path;
      this.name(this.title.label); // the tracker saves it when its title changes
    };
    context.pathChanged.connect(renamed);
    const restarted = () => {
      this.isRestarted = true;
      this.own = null;
      this.say(RESTARTED);
    };
    const changed = () => {
      const status = sessionContext.session?.kernel?.status;
      if (status === "restarting" || status === "autorestarting") restarted();
    };
    void sessionContext.ready.then(() => {
      if (this.isDisposed) return;
      sessionContext.statusChanged.connect(changed);
      sessionContext.kernelChanged.connect(restarted);
    });
    this.disposed.connect(() => {
      sessionContext.statusChanged.disconnect(changed);
      sessionContext.kernelChanged.disconnect(restarted);
      context.pathChanged.disconnect(renamed);
    });
    disposed.connect(() => this.isDisposed || this.parent?.dispose());
  }
}

export function newTab(args: TabArgs, found: Promise<NotebookPanel>, links: IKernelLinks): MainAreaWidget<InspectionTab> {
  const tab = new MainAreaWidget({ content: new InspectionTab(args, found, links) });
  tab.id = keyOf(args);
  return tab;
}
