/** One link a kernel, however many notebooks share it, opened when it is first needed. */

import type { Kernel } from "@jupyterlab/services";
import { CommLink, TARGET } from "./commLink";
import type { KernelLink } from "../tokens";
import { fields, text } from "../../../wire/check";

/** Nothing of the notebook or its history changes, and cells that wait are run though this fails. */
const SILENTLY = { silent: true, store_history: false, allow_stdin: false, stop_on_error: false };
const IS_LOADED = `${JSON.stringify(TARGET)} in __import__("comm").get_comm_manager().targets`;

async function isPython(kernel: Kernel.IKernelConnection): Promise<boolean> {
  return (await kernel.info).language_info.name === "python";
}

/** Whether the kernel answers our comm; the question waits its turn behind the cells that run. */
async function isLoaded(kernel: Kernel.IKernelConnection): Promise<boolean> {
  if (!(await isPython(kernel))) return false;
  const content = { ...SILENTLY, code: "", user_expressions: { loaded: IS_LOADED } };
  const reply = await kernel.requestExecute(content).done;
  const { loaded } = fields(fields(reply?.content).user_expressions);
  return fields(fields(loaded).data)["text/plain"] === "True";
}

/** Loads the extension into the kernel. Rejects with a one-line Error where that fails. */
async function load(kernel: Kernel.IKernelConnection): Promise<void> {
  if (!(await isPython(kernel))) throw new Error("JAXStage needs a Python kernel.");
  const content = { ...SILENTLY, code: "%load_ext jaxstage_ext" };
  const { status, ename, evalue } = fields((await kernel.requestExecute(content).done)?.content);
  if (status === "error") throw new Error(whyNot(text(ename), text(evalue)));
  if (status !== "ok") throw new Error("The kernel was interrupted before JAXStage was loaded.");
}

const whyNot = (name: string, value: string): string =>
  name === "ModuleNotFoundError" && value.includes("'jaxstage_ext'")
    ? "JAXStage is not installed in this notebook's kernel: run %pip install jaxstage-ext there."
    : `JAXStage could not be loaded: ${name}: ${value.split("\n")[0] ?? ""}`;

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
