/** Where something is: a row of a document, or lines of a source file. */

/** The kind of the user's source; that of a library is "python:" and its name. */
export const SOURCE = "python";

export const isSource = (kind: string): boolean => kind === SOURCE || kind.startsWith(`${SOURCE}:`);

export interface Place {
  doc: string;
  row: number;
}

/** A row that the user points at; `from` is the pane in which it was picked ("" for anywhere else). */
export interface Pick extends Place {
  from: string;
}

/** Lines count from 1. */
export interface SourceLine {
  file: number;
  line: number;
}

/** `endColumn` is 0 when columns are not known. */
export interface SourceRange extends SourceLine {
  endLine: number;
  column: number;
  endColumn: number;
}
