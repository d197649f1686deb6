/** Runs a cell, as JupyterLab does, with other code than its text. */

import type { ISessionContext } from "@jupyterlab/apputils";
import type { CodeCell } from "@jupyterlab/cells";
import { NotebookActions, type NotebookPanel } from "@jupyterlab/notebook";
import type { Kernel } from "@jupyterlab/services";

/** The object with some of its members replaced; everything else stays its own. */
function replaced<T extends object>(given: T, members: Partial<T>): T {
  return new Proxy(given, {
    get: (target, key) => {
      if (Object.hasOwn(members, key)) return members[key as keyof T];
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** A session of which the kernel is sent `code` in place of what it is asked to execute. */
function sending(session: ISessionContext, code: string): ISessionContext {
  const connection = session.session;
  const kernel = connection?.kernel;
  if (!kernel) return session;
  const requestExecute: Kernel.IKernelConnection["requestExecute"] = (content, ...others) => kernel.requestExecute({ ...content, code }, ...others);
  return replaced(session, { session: replaced(connection, { kernel: replaced(kernel, { requestExecute }) }) });
}

/** Runs the cell as it is, or with `code`: prompt, output, timing and signals are those of any run. */
export function runCell(panel: NotebookPanel, cell: CodeCell, code: string | null): Promise<boolean> {
  const session = code === null ? panel.sessionContext : sending(panel.sessionContext, code);
  return NotebookActions.runCells(panel.content, [cell], session);
}
