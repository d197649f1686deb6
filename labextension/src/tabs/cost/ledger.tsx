import type { LedgerRow, Overview } from "./read";
import { counted, written } from "../../wire/figures";
import { Said, unquoted } from "../../parts/said";

function Figure({ row, at }: { row: LedgerRow; at: number }) {
  const value = row.values[at] ?? null;
  if (value === null) {
    const why = row.reasons[at] || "not known";
    return (
      <td class="jxs-ledger-lack" title={unquoted(why)}>
        unknown<span class="jxs-hidden">: {why}</span>
      </td>
    );
  }
  return <td title={`${counted(value)} ${row.unit}`}>{written(value, row.unit)}</td>;
}

/** The same work counted in several ways, and why the numbers differ. */
export function Ledger({ overview }: { overview: Overview }) {
  const { columns, rows, notes } = overview;
  const lacks = rows.flatMap((row) => row.values.flatMap((value, i) => (value === null ? [`${row.name}, ${columns[i]?.name}: ${row.reasons[i] || "not known"}`] : [])));
  return (
    <div class="jxs-ledger">
      <table aria-label="the same work counted in several ways">
        <thead>
          <tr>
            <th scope="col">counted on</th>
            {columns.map(({ name, hint }) => (
              <th scope="col" key={name} title={hint}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.name}>
              <th scope="row">{row.name}</th>
              {columns.map(({ name }, i) => (
                <Figure row={row} at={i} key={name} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <dl class="jxs-ledger-hints">
        {columns.map(({ name, hint }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd><Said text={hint} /></dd>
          </div>
        ))}
      </dl>
      {notes.length + lacks.length > 0 && (
        <>
          <h3>Why they differ, and what is unknown</h3>
          <ul>
            {[...notes, ...lacks].map((note) => (
              <li key={note}><Said text={note} /></li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}
