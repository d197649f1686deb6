import type { NotebookPanel } from "@jupyterlab/notebook";

/** Scrolls to a cell and makes it the active one. Throws an Error of one line where it is not there. */
export async function goToCell(notebook: NotebookPanel | null, id: string | null): Promise<void> {
  const cells = notebook?.content;
  const at = cells?.widgets.findIndex(({ model }) => model.id === id) ?? -1;
  if (!cells || at < 0) throw new Error("Its cell is not in this notebook any more.");
  cells.activeCellIndex = at;
  await cells.scrollToItem(at, "smart");
}
