/** Inspecting one call of a cell in a tab beside the notebook; the cell stays as it is. */

import { ILabShell, type JupyterFrontEnd, type JupyterFrontEndPlugin } from "@jupyterlab/application";
import { ICommandPalette, type ISessionContext, MainAreaWidget } from "@jupyterlab/apputils";
import { CodeCell } from "@jupyterlab/cells";
import { INotebookTracker, type NotebookPanel } from "@jupyterlab/notebook";
import { STAGES, type StageName, codeOfCall } from "./cellCode";
import { Inspector, saying } from "./inspector";
import { NotReady } from "../kernel/kernelReady";
import { pointedCall, pointedCell, watchPointer } from "./pointedCall";
import { IKernelLinks, IPreferences } from "../tokens";
import { OutputAreaModel, SimplifiedOutputArea } from "@jupyterlab/outputarea";
import type { Kernel } from "@jupyterlab/services";
import { UUID } from "@lumino/coreutils";
import { belongsTo, placeBeside } from "../lines/homes";
import { jaxstageIcon } from "../icon";

class CallTab extends MainAreaWidget<SimplifiedOutputArea> {
  /** By which the outputs in it find their kernel. */
  readonly sessionContext: ISessionContext;

  constructor(panel: NotebookPanel, name: string, call: string) {
    const model = new OutputAreaModel({ trusted: true });
    super({ content: new SimplifiedOutputArea({ model, rendermime: panel.content.rendermime }) });
    this.sessionContext = panel.sessionContext;
    belongsTo(this.node, panel);
    this.id = `jaxstage-call-${UUID.uuid4()}`;
    Object.assign(this.title, { label: name, caption: `${call}\n${panel.title.label}`, icon: jaxstageIcon, closable: true });
    this.content.addClass("jp-LinkedOutputView");
    this.content.node.style.overflow = "auto";
  }

  /** Shows what the code displays, in place of what was shown. */
  run(kernel: Kernel.IKernelConnection, code: string): void {
    const future = kernel.requestExecute({ code, store_history: false, stop_on_error: false });
    this.content.future = future;
    future.done.catch(() => undefined); // a kernel that ends leaves what was shown
  }
}

/** JupyterLab's, or that of Notebook 7. */
interface NotebookShell extends JupyterFrontEnd.IShell {
  expandRight?(id: string): void;
}

class CallTabs {
  private tabs = new WeakMap<NotebookPanel, Map<string, CallTab>>();

  constructor(
    private shell: NotebookShell,
    private lab: ILabShell | null,
  ) {}

  /** The tab of that name of a notebook, in front; Notebook 7 has no tabs, but an area at the right of the notebook. */
  open(panel: NotebookPanel, name: string, call: string): CallTab {
    const known = this.tabs.get(panel) ?? new Map<string, CallTab>();
    this.tabs.set(panel, known);
    const tab = known.get(name) ?? this.add(panel, name, call);
    known.set(name, tab);
    tab.disposed.connect(() => known.delete(name));
    if (this.lab) this.shell.activateById(tab.id);
    else this.shell.expandRight?.(tab.id);
    return tab;
  }

  private add(panel: NotebookPanel, name: string, call: string): CallTab {
    const tab = new CallTab(panel, name, call);
    if (this.lab) this.shell.add(tab, "main", { ...placeBeside(this.shell, panel), activate: true });
    else this.shell.add(tab, "right", { rank: 900 });
    panel.disposed.connect(() => tab.dispose());
    return tab;
  }
}

const MOST_SHOWN = 40;

/** A line of a call without a comment at its end; what may be in a string stays. */
function withoutComment(line: string): string {
  const at = line.indexOf(" #");
  return at < 0 || /["']/.test(line.slice(at)) ? line : line.slice(0, at);
}

function shortened(call: string): string {
  const joined = call.split("\n").map(withoutComment).join(" ").replace(/\s+/g, " ");
  const line = joined.replaceAll("( ", "(").replaceAll(", )", ")");
  return line.length > MOST_SHOWN ? `${line.slice(0, MOST_SHOWN - 1)}…` : line;
}

const title = (stage: StageName) => `${stage[0]?.toUpperCase()}${stage.slice(1)}`;

async function inspect(inspector: Inspector, tabs: CallTabs, stage: StageName, atPointer: boolean): Promise<void> {
  const { panel, cell } = inspector.placeOrWhyNot();
  const pointed = atPointer ? pointedCell(panel.content) : undefined;
  const call = pointedCall(pointed instanceof CodeCell ? pointed : cell, atPointer);
  if (call === null) throw new NotReady("There is no call here: put the caret in a call such as loss(w, x), or select one.");
  const ready = await inspector.ready(panel);
  const choice = await inspector.last(panel, stage, ready);
  tabs.open(panel, `${title(stage)}: ${shortened(call)}`, call).run(ready.kernel, codeOfCall(choice, call));
}

export const inspectCall: JupyterFrontEndPlugin<void> = {
  id: "jaxstage:inspect-call",
  description: "Traces, lowers, compiles and profiles the call at the caret, in a tab of its own.",
  autoStart: true,
  requires: [INotebookTracker, IKernelLinks, IPreferences],
  optional: [ILabShell, ICommandPalette],
  activate: (
    app: JupyterFrontEnd,
    notebooks: INotebookTracker,
    links: IKernelLinks,
    preferences: IPreferences,
    lab: ILabShell | null,
    palette: ICommandPalette | null,
  ) => {
    const inspector = new Inspector(notebooks, links, preferences);
    const tabs = new CallTabs(app.shell, lab);
    watchPointer();
    for (const stage of STAGES) {
      const command = `jaxstage:${stage}-call`;
      app.commands.addCommand(command, {
        label: `${title(stage)} This Call`,
        caption: "Inspect the call at the caret, or the selected one, in a tab beside the notebook",
        isEnabled: () => inspector.place !== null,
        isVisible: () => inspector.isVisible,
        execute: (args) => saying(() => inspect(inspector, tabs, stage, args.at === "pointer")),
      });
      palette?.addItem({ command, category: "JAXStage" });
    }
  },
};
