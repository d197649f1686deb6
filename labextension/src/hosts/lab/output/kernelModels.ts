/** Whether the kernel of the document around an output still has the model of its live panel. */

import type { ISessionContext } from "@jupyterlab/apputils";
import type { IRenderMimeRegistry } from "@jupyterlab/rendermime";
import type { Kernel } from "@jupyterlab/services";
import type { Widget } from "@lumino/widgets";

export const WIDGET_VIEW = "application/vnd.jupyter.widget-view+json";
const WIDGET_TARGET = "jupyter.widget";
/** The widget manager registers its renderer some time after the notebook has drawn its outputs. */
const PATIENCE_MS = 20_000;
const STEP_MS = 100;
/** Outputs that ask within this time share the kernel's answer. */
const SHARED_MS = 1000;

/** The notebook, or console, that an output is part of. */
export interface Around {
  sessionContext: ISessionContext;
  rendermime: IRenderMimeRegistry;
}

/** Null for an output outside of any, such as a copy of it in a tab of its own. */
export function around(widget: Widget): Around | null {
  for (let at: Widget | null = widget; at; at = at.parent) {
    const { sessionContext, content, console } = at as Partial<{ sessionContext: ISessionContext; content: Around; console: Around }>;
    const rendermime = content?.rendermime ?? console?.rendermime;
    if (sessionContext && rendermime) return { sessionContext, rendermime };
  }
  return null;
}

const answers = new WeakMap<Kernel.IKernelConnection, Promise<ReadonlySet<string>>>();

/** The widget models of a kernel; a busy one answers when it has time. */
function modelsOf(kernel: Kernel.IKernelConnection): Promise<ReadonlySet<string>> {
  const known = answers.get(kernel);
  if (known) return known;
  const asked = kernel.requestCommInfo({ target_name: WIDGET_TARGET }).then(({ content }) => {
    setTimeout(() => answers.delete(kernel), SHARED_MS);
    return new Set(content.status === "ok" ? Object.keys(content.comms) : []);
  });
  answers.set(kernel, asked);
  asked.catch(() => answers.delete(kernel));
  return asked;
}

const GONE: readonly Kernel.Status[] = ["dead", "terminating", "restarting", "autorestarting"];
const isThere = (kernel: Kernel.IKernelConnection): boolean => !kernel.isDisposed && !GONE.includes(kernel.status);

/** Whether widgets can be drawn there; false after a while in which they cannot. */
async function drawsWidgets({ rendermime }: Around): Promise<boolean> {
  for (let waited = 0; waited < PATIENCE_MS; waited += STEP_MS) {
    if (rendermime.mimeTypes.includes(WIDGET_VIEW)) return true;
    await new Promise((resolve) => setTimeout(resolve, STEP_MS));
  }
  return false;
}

export async function isLive(place: Around, model: string): Promise<boolean> {
  await place.sessionContext.ready;
  const kernel = place.sessionContext.session?.kernel;
  if (!kernel || !isThere(kernel) || !(await drawsWidgets(place))) return false;
  // while the cell runs the kernel does not answer, but the page has heard of the model
  const has = kernel.hasComm(model) || (await modelsOf(kernel)).has(model);
  return has && isThere(kernel) && place.sessionContext.session?.kernel === kernel;
}

/** Calls back when the kernel has gone or another one has come, or it answers again; what is returned ends that. */
export function onKernelChange({ sessionContext }: Around, callback: () => void): () => void {
  const onStatus = (_: unknown, status: Kernel.Status) => {
    if (!GONE.includes(status)) return;
    // a kernel that restarts keeps its connection, and none of its models
    const kernel = sessionContext.session?.kernel;
    if (kernel) answers.delete(kernel);
    callback();
  };
  const onConnection = (_: unknown, status: Kernel.ConnectionStatus) => status === "connected" && callback();
  sessionContext.kernelChanged.connect(callback);
  sessionContext.statusChanged.connect(onStatus);
  sessionContext.connectionStatusChanged.connect(onConnection);
  return () => {
    sessionContext.kernelChanged.disconnect(callback);
    sessionContext.statusChanged.disconnect(onStatus);
    sessionContext.connectionStatusChanged.disconnect(onConnection);
  };
}
