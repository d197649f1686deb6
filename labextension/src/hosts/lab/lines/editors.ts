/** The editors of open notebooks and files, and the CRC-32 of their texts. */

import type { Text } from "@codemirror/state";
import type { EditorView } from "@codemirror/view";
import type { Cell } from "@jupyterlab/cells";
import type { CodeEditor } from "@jupyterlab/codeeditor";
import type { IEditorTracker } from "@jupyterlab/fileeditor";
import type { INotebookTracker, NotebookPanel } from "@jupyterlab/notebook";
import type { SourceFile } from "../../../model/frames";
import { crc32 } from "../../../wire/crc32";

/** A cell, or a file when `notebook` is null, whose text is a source file's. */
export interface OpenSource {
  notebook: NotebookPanel | null;
  cell: Cell | null;
  /** Null where a cell far from view has no editor yet. */
  view: EditorView | null;
}

const viewOf = (editor: CodeEditor.IEditor | null | undefined): EditorView | null =>
  (editor as { editor?: EditorView } | null | undefined)?.editor ?? null;

const known = new WeakMap<Text, number>();

/** Texts of editors never change; each is counted once. */
function crcOf(text: Text): number {
  const crc = known.get(text) ?? crc32(text.toString());
  known.set(text, crc);
  return crc;
}

const hasText = (file: SourceFile, { cell, view }: OpenSource): boolean =>
  file.crc !== null && file.crc === (view ? crcOf(view.state.doc) : crc32(cell?.model.sharedModel.getSource() ?? ""));

export class Editors {
  constructor(
    private notebooks: INotebookTracker,
    private files: IEditorTracker | null,
    /** A file's path below the server's root. */
    private localPath: (path: string) => string,
  ) {}

  get openNotebooks(): NotebookPanel[] {
    const all: NotebookPanel[] = [];
    this.notebooks.forEach((notebook) => all.push(notebook));
    return all;
  }

  /** Where a file's text stands as it ran: in cells of these notebooks, and in files open in an editor. */
  of(file: SourceFile, notebooks: NotebookPanel[]): OpenSource[] {
    const cells = file.cells.length ? notebooks.flatMap((notebook) => this.cellsOf(notebook, file.cells)) : [];
    const opened = file.path ? this.openFiles().filter(({ path }) => isPath(file.path as string, path)) : [];
    return [...cells, ...opened.map(({ source }) => source)].filter((source) => hasText(file, source));
  }

  /** Which of some source files the text of an editor is. */
  fileIn(view: EditorView, files: SourceFile[]): number {
    const id = this.cellOf(view)?.cell?.model.id;
    const path = this.openFiles().find(({ source }) => source.view === view)?.path;
    const isIt = (file: SourceFile) => (id ? file.cells.includes(id) : path !== undefined && file.path !== null && isPath(file.path, path));
    return files.findIndex((file) => isIt(file) && file.crc === crcOf(view.state.doc));
  }

  /** The cell that an editor is in; null for that of a file. */
  cellOf(view: EditorView): OpenSource | null {
    for (const notebook of this.openNotebooks) {
      const cell = notebook.content.widgets.find(({ editor }) => viewOf(editor) === view);
      if (cell) return { notebook, cell, view };
    }
    return null;
  }

  private cellsOf(notebook: NotebookPanel, ids: string[]): OpenSource[] {
    const cells = notebook.content.widgets.filter(({ model }) => ids.includes(model.id));
    return cells.map((cell) => ({ notebook, cell, view: viewOf(cell.editor) }));
  }

  private openFiles(): { path: string; source: OpenSource }[] {
    const all: { path: string; source: OpenSource }[] = [];
    this.files?.forEach(({ context, content }) => {
      all.push({ path: this.localPath(context.path), source: { notebook: null, cell: null, view: viewOf(content.editor) } });
    });
    return all;
  }
}

/** Whether an absolute path may be that of a file whose path below the server's root is known. */
const isPath = (absolute: string, path: string): boolean => path !== "" && absolute.replaceAll("\\", "/").endsWith(`/${path}`);
