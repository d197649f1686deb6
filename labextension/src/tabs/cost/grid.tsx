import { useEffect, useMemo, useState } from "preact/hooks";
import type { Costs } from "./read";
import { NO_MATCHES } from "../../parts/filter";
import { type Order, matching } from "../../parts/grid/sort";
import { NONE, classOf } from "../../model/links";
import { hover, open, pick } from "./pick";
import { SourceGrid } from "../../parts/grid/sourceGrid";
import { useDoc, useDocuments, useSelected, useSelection } from "../../parts/hooks";

export interface GridProps {
  costs: Costs;
  /** The document whose rows these lead to. */
  doc: string;
  label: string;
  /** A row stands for a source line. */
  ofLine?: boolean;
  query?: string;
  first: Order;
  nothing: string;
  onCurrent?: (row: number) => void;
}

/** A table of costs: a click selects the row's line everywhere, a double click opens the code. */
export function CostGrid({ costs, doc, label, ofLine = false, query = "", first, nothing, onCurrent }: GridProps) {
  const documents = useDocuments();
  const selection = useSelection();
  const selected = useSelected((s) => s.selected);
  const [current, setCurrent] = useState(-1);
  const rows = useMemo(() => matching(costs.grid, query), [costs, query]);
  const document = documents.doc(doc);
  useDoc(document);
  const lit = documents.lit(selected);
  const to = (row: number) => {
    setCurrent(row);
    onCurrent?.(row);
  };
  useEffect(() => {
    if (selected && (selected.from !== "cost" || current < 0)) to(selected.doc === doc ? costs.row.indexOf(selected.row) : -1);
  }, [selected, costs]);
  const isLit = (row: number) => {
    const at = costs.row[row] ?? -1;
    return at >= 0 && document?.rows != null && classOf(lit, document.rows, at) !== NONE;
  };
  const choose = (row: number) => {
    to(row);
    pick(documents, selection, costs.row[row] ?? -1, ofLine, doc);
  };
  return (
    <>
      <SourceGrid
        lines="line"
        grid={costs.grid}
        rows={rows}
        label={label}
        first={first}
        current={current}
        isLit={isLit}
        onPick={choose}
        onOpen={(row) => open(documents, selection, costs.row[row] ?? -1, ofLine, doc)}
        onPoint={(row) => hover(selection, row < 0 ? -1 : (costs.row[row] ?? -1), doc)}
      />
      {!rows.length && <p class="jxs-note">{costs.grid.length ? NO_MATCHES : nothing}</p>}
    </>
  );
}
