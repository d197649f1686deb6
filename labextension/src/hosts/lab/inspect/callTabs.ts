/** The tabs of inspected calls, beside the notebook whose kernel they run in. */

import type { ILabShell, JupyterFrontEnd } from "@jupyterlab/application";
import { type ISessionContext, MainAreaWidget } from "@jupyterlab/apputils";
import type { NotebookPanel } from "@jupyterlab/notebook";
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

export class CallTabs {
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
