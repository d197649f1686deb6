/** The notebooks that a drawn session belongs to. */

import type { JupyterFrontEnd } from "@jupyterlab/application";
import type { DocumentRegistry } from "@jupyterlab/docregistry";
import type { NotebookPanel } from "@jupyterlab/notebook";
import { MOUNTED } from "../../../model/mounted";
import type { Session } from "../../../model/session";

/** A panel in a tab of its own stands in an element that names its notebook by the notebook's widget id. */
const homeOf = (root: HTMLElement): string | undefined => root.closest<HTMLElement>("[data-jaxstage-notebook]")?.dataset.jaxstageNotebook;

/** Says which notebook a panel in a tab of its own belongs to; `node` is the tab's, or any around the panel. */
export function belongsTo(node: HTMLElement, notebook: NotebookPanel): void {
  node.dataset.jaxstageNotebook = notebook.id;
}

/** In JupyterLab: behind the last tab of the notebook, or, if it has none, at its right. */
export function placeBeside(shell: JupyterFrontEnd.IShell, notebook: NotebookPanel): DocumentRegistry.IOpenOptions {
  const tabs = [...shell.widgets("main")].filter(
    ({ node }) => node.dataset.jaxstageNotebook === notebook.id || node.querySelector(`[data-jaxstage-notebook="${CSS.escape(notebook.id)}"]`),
  );
  const last = tabs.at(-1);
  return last ? { mode: "tab-after", ref: last.id } : { mode: "split-right", ref: notebook.id };
}

/** A cell far from view is out of the page, with the panels in it. */
const holds = (notebook: NotebookPanel, root: HTMLElement): boolean =>
  notebook.node.contains(root) || notebook.content.widgets.some(({ node }) => node.contains(root));

/** Of a session drawn several times those of all its panels. */
export function notebooksOf(session: Session, open: NotebookPanel[]): NotebookPanel[] {
  const roots = MOUNTED.list.flatMap((mounted) => (mounted.session === session ? [mounted.root] : []));
  const own = roots.map(homeOf);
  return open.filter((notebook) => own.includes(notebook.id) || roots.some((root) => holds(notebook, root)));
}
