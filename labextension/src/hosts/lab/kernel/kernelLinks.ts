/** One link a kernel, however many notebooks share it, opened when it is first needed. */

import type { Kernel } from "@jupyterlab/services";
import { CommLink, TARGET } from "./commLink";
import { isLoaded, load } from "./loading";
import type { KernelLink } from "../tokens";

const ENDED = ["restarting", "autorestarting", "terminating", "dead"];

const NO_COMMS =
  "This notebook shares its kernel with another that had the kernel's comms and was closed: reload the page for live panels and the side panel.";

export class KernelLinks {
  private links = new Map<string, Promise<CommLink | null>>();
  private watched = new WeakSet<Kernel.IKernelConnection>();

  /** `connections` are those of all open notebooks and consoles: of several to one kernel only the first can have comms. */
  constructor(private connections: () => Kernel.IKernelConnection[]) {}

  /** The link, where the kernel has JAXStage; with `loads` it is loaded first. */
  async of(kernel: Kernel.IKernelConnection, loads = false): Promise<KernelLink | null> {
    const known = this.links.get(kernel.id);
    const link = await known;
    if (link && !link.isDisposed) return link;
    if (link && this.links.get(kernel.id) === known) this.links.delete(kernel.id);
    if (loads && !(await isLoaded(kernel))) await load(kernel);
    const opened = await this.open(kernel);
    if (!loads || opened) return opened;
    throw new Error(this.withComms(kernel.id) ? "The JAXStage in this notebook's kernel is older than the extension and does not know it." : NO_COMMS);
  }

  /** Several may ask at once, and get the same link. */
  private open(kernel: Kernel.IKernelConnection): Promise<CommLink | null> {
    const opening = this.links.get(kernel.id) ?? this.connect(kernel);
    this.links.set(kernel.id, opening);
    return opening;
  }

  private async connect(kernel: Kernel.IKernelConnection): Promise<CommLink | null> {
    try {
      const link = (await isLoaded(kernel)) ? this.openOn(kernel.id) : null;
      if (!link) this.links.delete(kernel.id);
      return link;
    } catch {
      this.links.delete(kernel.id);
      return null;
    }
  }

  private openOn(id: string): CommLink | null {
    const kernel = this.withComms(id);
    if (!kernel) return null;
    this.watch(kernel);
    const link = new CommLink(kernel.createComm(TARGET));
    void link.request("hello", {}).catch(() => undefined);
    return link;
  }

  private withComms(id: string): Kernel.IKernelConnection | undefined {
    return this.connections().find((one) => one.id === id && one.handleComms && !one.isDisposed);
  }

  /** A kernel that ends or starts anew takes its link with it. */
  private watch(kernel: Kernel.IKernelConnection): void {
    if (this.watched.has(kernel)) return;
    this.watched.add(kernel);
    kernel.statusChanged.connect((_, status) => {
      if (ENDED.includes(status)) this.drop(kernel.id);
    });
    kernel.disposed.connect(() => this.drop(kernel.id));
  }

  private drop(id: string): void {
    const link = this.links.get(id);
    this.links.delete(id);
    void link?.then((one) => one?.dispose());
  }
}
