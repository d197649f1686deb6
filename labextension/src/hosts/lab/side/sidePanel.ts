/** The side panel: every inspection of the notebook that is shown. */

import { ILabShell, ILayoutRestorer, type JupyterFrontEnd, type JupyterFrontEndPlugin } from "@jupyterlab/application";
import { ICommandPalette } from "@jupyterlab/apputils";
import { INotebookTracker } from "@jupyterlab/notebook";
import type { Message } from "@lumino/messaging";
import { Widget } from "@lumino/widgets";
import { jaxstageIcon } from "../icon";
import { IInspectionTabs, IKernelLinks } from "../tokens";

const ID = "jaxstage-side-panel";
const SHOW = "jaxstage:show-inspections";

/** An empty widget until it is first shown. */
class SidePanel extends Widget {
  private drawn: Promise<(isVisible: boolean) => void> | null = null;

  constructor(private draw: (host: HTMLElement) => Promise<(isVisible: boolean) => void>) {
    super();
    this.id = ID;
    this.title.icon = jaxstageIcon;
    this.title.caption = "JAXStage: inspections of this notebook";
    this.title.dataset = { jaxstage: "side" };
    this.node.setAttribute("role", "region");
    this.node.setAttribute("aria-label", "JAXStage");
  }

  private seen(isVisible: boolean): void {
    if (isVisible) {
      this.drawn ??= this.draw(this.node).catch((error: unknown) => {
        this.drawn = null;
        throw error;
      });
    }
    void this.drawn?.then((tell) => tell(this.isVisible));
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this.seen(true);
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    if (this.isVisible) this.seen(true);
  }

  protected override onAfterHide(message: Message): void {
    super.onAfterHide(message);
    this.seen(false);
  }

  protected override onActivateRequest(message: Message): void {
    super.onActivateRequest(message);
    const focus = () => this.node.querySelector<HTMLElement>('[role="row"][tabindex="0"], button')?.focus();
    void this.drawn?.then(focus);
  }
}

export const sidePanel: JupyterFrontEndPlugin<void> = {
  id: "jaxstage:side-panel",
  description: "Lists the inspections of the notebook that is shown, in a side panel.",
  autoStart: true,
  requires: [INotebookTracker, IKernelLinks, IInspectionTabs],
  optional: [ILabShell, ILayoutRestorer, ICommandPalette],
  activate: (
    app: JupyterFrontEnd,
    tracker: INotebookTracker,
    links: IKernelLinks,
    tabs: IInspectionTabs,
    _lab: ILabShell | null,
    restorer: ILayoutRestorer | null,
    palette: ICommandPalette | null,
  ) => {
    const panel = new SidePanel(async (host) => (await import("./side")).drawSidePanel(host, tracker, links, tabs));
    app.shell.add(panel, "right", { rank: 900, type: "JAXStage" });
    restorer?.add(panel, ID);
    app.commands.addCommand(SHOW, {
      label: "Show JAXStage Inspections",
      caption: "Show every inspection of this notebook in the side panel",
      icon: jaxstageIcon,
      execute: () => {
        const shell = app.shell as typeof app.shell & { expandRight?: (id: string) => void };
        if (!panel.isVisible) shell.expandRight?.(ID);
        app.shell.activateById(ID);
      },
    });
    palette?.addItem({ command: SHOW, category: "JAXStage" });
  },
};
