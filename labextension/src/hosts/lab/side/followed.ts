/** The notebook that is shown, as the side panel needs to know it. */

import { type INotebookTracker, NotebookActions, type NotebookPanel } from "@jupyterlab/notebook";
import type { KernelLink, IKernelLinks } from "../tokens";

export type KernelState = "none" | "idle" | "busy" | "restarting" | "starting";
export type End = () => void;

/** One notebook and its kernel. */
export interface FollowedNotebook {
  id: string;
  name: string;
  kernel(): KernelState;
  /** With `load`, JAXStage is loaded into the kernel first. */
  link(load: boolean): Promise<KernelLink | null>;
  /** Called when the kernel's state may have changed, and whether it is a kernel that has begun anew. */
  onKernel(listener: (isNew: boolean) => void): End;
  /** Called when a cell of it has ended. */
  onRun(listener: () => void): End;
  /** Called with its new name. */
  onRename(listener: (name: string) => void): End;
}

/** Which notebook is shown. */
export interface Notebooks {
  current(): FollowedNotebook | null;
  onCurrent(listener: () => void): End;
}

const STATES: Record<string, KernelState> = {
  idle: "idle",
  busy: "busy",
  restarting: "restarting",
  autorestarting: "restarting",
  terminating: "none",
  dead: "none",
};

function kernelOf({ sessionContext }: NotebookPanel): KernelState {
  const kernel = sessionContext.session?.kernel;
  if (kernel) return STATES[kernel.status] ?? "starting";
  return sessionContext.isReady ? "none" : "starting";
}

function followed(notebook: NotebookPanel, links: IKernelLinks): FollowedNotebook {
  const { sessionContext, content } = notebook;
  return {
    id: notebook.id,
    name: notebook.title.label,
    kernel: () => kernelOf(notebook),
    link: (load) => links.of(notebook, load),
    onKernel: (listener) => {
      const changed = () => listener(true);
      const status = () => listener(false);
      sessionContext.kernelChanged.connect(changed);
      sessionContext.statusChanged.connect(status);
      return () => {
        sessionContext.kernelChanged.disconnect(changed);
        sessionContext.statusChanged.disconnect(status);
      };
    },
    onRun: (listener) => {
      const ran = (_: unknown, { notebook: of }: { notebook: unknown }) => of === content && listener();
      NotebookActions.executed.connect(ran);
      return () => void NotebookActions.executed.disconnect(ran);
    },
    onRename: (listener) => {
      const { title } = notebook;
      const changed = () => listener(title.label);
      title.changed.connect(changed);
      return () => void title.changed.disconnect(changed);
    },
  };
}

export function followedNotebooks(tracker: INotebookTracker, links: IKernelLinks): Notebooks {
  return {
    current: () => tracker.currentWidget && followed(tracker.currentWidget, links),
    onCurrent: (listener) => {
      const changed = () => listener();
      tracker.currentChanged.connect(changed);
      return () => void tracker.currentChanged.disconnect(changed);
    },
  };
}
