/** Connections to the kernels of open notebooks. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from "@jupyterlab/application";
import { INotebookTracker, type NotebookPanel } from "@jupyterlab/notebook";
import type { Kernel, KernelMessage } from "@jupyterlab/services";
import { KernelLinks } from "./kernelLinks";
import { IKernelLinks } from "../tokens";
import { fields, text } from "../../../wire/check";
import { PAYLOAD_TYPE } from "../../../wire/payload";

const NAME = /\bjaxstage/i;

/** Whether a message makes it likely that JAXStage is loaded: a cell that names it begins to run, or it displays something. */
function mentionsUs(message: KernelMessage.IMessage): boolean {
  const content = fields(message.content);
  if (message.header.msg_type === "execute_input") return NAME.test(text(content.code));
  return PAYLOAD_TYPE in fields(content.data);
}

const kernelOf = (notebook: NotebookPanel): Kernel.IKernelConnection | null => notebook.sessionContext.session?.kernel ?? null;

/** Those of all that has a kernel: notebooks, and consoles, which may be the ones with comms. */
function kernels({ shell }: JupyterFrontEnd): Kernel.IKernelConnection[] {
  const widgets = [...shell.widgets("main")] as Partial<Pick<NotebookPanel, "sessionContext">>[];
  return widgets.flatMap(({ sessionContext }) => sessionContext?.session?.kernel ?? []);
}

/** Opens the link as soon as JAXStage is in the notebook's kernel: from before, or by what a cell loads or shows. */
function watch(links: KernelLinks, notebook: NotebookPanel): void {
  const { sessionContext } = notebook;
  const look = () => {
    const kernel = kernelOf(notebook);
    if (kernel) void links.of(kernel).catch(() => undefined);
  };
  sessionContext.iopubMessage.connect((_, message) => {
    if (mentionsUs(message)) look();
  });
  sessionContext.kernelChanged.connect((_, { newValue }) => {
    if (newValue) look();
  });
  void sessionContext.ready.then(look);
}

export const links: JupyterFrontEndPlugin<IKernelLinks> = {
  id: "jaxstage:kernel-links",
  description: "Connects to the JAXStage in the kernels of open notebooks.",
  autoStart: true,
  provides: IKernelLinks,
  requires: [INotebookTracker],
  activate: (app: JupyterFrontEnd, notebooks: INotebookTracker): IKernelLinks => {
    const all = new KernelLinks(() => kernels(app));
    notebooks.forEach((notebook) => watch(all, notebook));
    notebooks.widgetAdded.connect((_, notebook) => watch(all, notebook));
    return {
      of: async (notebook, load) => {
        await notebook.sessionContext.ready;
        const kernel = kernelOf(notebook);
        return kernel ? all.of(kernel, load) : null;
      },
    };
  },
};
