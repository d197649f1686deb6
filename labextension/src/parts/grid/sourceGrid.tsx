/** A table whose rows name source lines: the code of each stands beside its name. */

import { useMemo } from "preact/hooks";
import { rowOfLine } from "../../model/sourceLines";
import type { Grid, TextField } from "../../wire/tables";
import { useDoc, useDocuments } from "../hooks";
import { type GridProps, GridView } from "./gridView";
import type { Documents } from "../../model/documents";

/** What the names of lines keep in a narrow tab. */
const LINES_PX = 84;

/** The table with a column of code behind the column that names the lines; as it is where no line is known. */
function withCode(documents: Documents, grid: Grid, name: string, isAnswer: boolean): Grid {
  const at = grid.fields.findIndex((field) => field.name === name && field.kind === "text");
  const lines = grid.fields[at] as TextField | undefined;
  const text = documents.loaded("python")?.text;
  if (!lines || !text) return grid;
  const strings = lines.strings.map((line) => {
    const row = rowOfLine(documents, line);
    return row < 0 ? "" : (text.line(row) ?? "").trim();
  });
  if (!strings.some(Boolean)) return grid;
  const code: TextField = { kind: "text", name: "code", title: "code", hint: "the source line", codes: lines.codes, strings, missing: "", isCode: true, isAnswer };
  const named: TextField = { ...lines, least: LINES_PX };
  return { ...grid, fields: [...grid.fields.slice(0, at), named, code, ...grid.fields.slice(at + 1)] };
}

interface SourceGridProps extends GridProps {
  /** The column that names them. */
  lines?: string;
  /** Whether the table is opened for the code, where no other column is what it is opened for. */
  isCodeAnswer?: boolean;
}

/** A GridView with the code of its lines. */
export function SourceGrid({ lines = "line", isCodeAnswer = false, ...props }: SourceGridProps) {
  const documents = useDocuments();
  const python = documents.doc("python");
  useDoc(python);
  const isAnswer = isCodeAnswer && !props.grid.fields.some((field) => field.isAnswer);
  const grid = useMemo(() => withCode(documents, props.grid, lines, isAnswer), [props.grid, lines, python?.text, python?.rows, documents.frames()]);
  return <GridView {...props} grid={grid} />;
}
