/** Sees to it that the kernel of a notebook has JAXStage before it is asked for it. */

import type { NotebookPanel } from "@jupyterlab/notebook";
import type { Kernel } from "@jupyterlab/services";
import type { IKernelLinks, KernelLink } from "../tokens";

/** A reason, in one line, why nothing can be inspected. */
export class NotReady extends Error {}

export interface ReadyKernel {
  kernel: Kernel.IKernelConnection;
  link: KernelLink | null;
}

/** The kernel of a notebook, once it has JAXStage. Throws NotReady where it has none, or cannot have it. */
export async function kernelReady(panel: NotebookPanel, links: IKernelLinks): Promise<ReadyKernel> {
  const kernel = panel.sessionContext.session?.kernel;
  if (!kernel) throw new NotReady("This notebook has no kernel. Choose one in the Kernel menu, then try again.");
  const { language_info } = await kernel.info;
  if (language_info.name !== "python") throw new NotReady(`JAXStage needs a Python kernel; this one runs ${language_info.name}.`);
  const link = await links.of(panel, true).catch((error: unknown) => {
    throw new NotReady(error instanceof Error ? error.message : String(error));
  });
  return { kernel, link };
}
