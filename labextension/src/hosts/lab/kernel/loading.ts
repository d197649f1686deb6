/** Whether JAXStage is loaded in a kernel, and loading it there, without a trace in the notebook or its history. */

import type { Kernel } from "@jupyterlab/services";
import { fields, text } from "../../../wire/check";
import { TARGET } from "./commLink";

/** Nothing of the notebook or its history changes, and cells that wait are run though this fails. */
const SILENTLY = { silent: true, store_history: false, allow_stdin: false, stop_on_error: false };
const IS_LOADED = `${JSON.stringify(TARGET)} in __import__("comm").get_comm_manager().targets`;

async function isPython(kernel: Kernel.IKernelConnection): Promise<boolean> {
  return (await kernel.info).language_info.name === "python";
}

/** Whether the kernel answers our comm; the question waits its turn behind the cells that run. */
export async function isLoaded(kernel: Kernel.IKernelConnection): Promise<boolean> {
  if (!(await isPython(kernel))) return false;
  const content = { ...SILENTLY, code: "", user_expressions: { loaded: IS_LOADED } };
  const reply = await kernel.requestExecute(content).done;
  const { loaded } = fields(fields(reply?.content).user_expressions);
  return fields(fields(loaded).data)["text/plain"] === "True";
}

/** Loads the extension into the kernel. Rejects with a one-line Error where that fails. */
export async function load(kernel: Kernel.IKernelConnection): Promise<void> {
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
