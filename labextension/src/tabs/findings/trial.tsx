import { useEffect } from "preact/hooks";
import { cellText } from "../../parts/grid/sort";
import { Waiting } from "../../parts/waiting";
import { useQuestion } from "../../parts/hooks";
import type { Field } from "../../wire/tables";
import { type Finding, type Trial, readTried } from "./read";
import { Said } from "../../parts/said";

function Row({ fields, row }: { fields: Field[]; row: number }) {
  return (
    <tr>
      {fields.map((field, at) => {
        const Tag = at ? "td" : "th";
        return (
          <Tag scope={at ? undefined : "row"} key={field.name}>
            {cellText(field, row)}
          </Tag>
        );
      })}
    </tr>
  );
}

/** The figures that really differ, before and after. */
export function Tried({ trial }: { trial: Trial }) {
  const { length, fields } = trial.table.grid;
  if (!length) return null;
  return (
    <table class="jxs-trial" aria-label="what changes">
      <thead>
        <tr>
          {fields.map(({ name, title }) => (
            <th scope="col" key={name}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {Array.from({ length }, (_, row) => (
          <Row fields={fields} row={row} key={row} />
        ))}
      </tbody>
    </table>
  );
}

/** The change, being compiled. */
export function Trying({ finding, onTried }: { finding: Finding; onTried: () => void }) {
  const question = useQuestion("try", { finding: finding.key }, readTried);
  useEffect(() => {
    if (question.value) onTried();
  }, [question.value]);
  return question.value ? <p class="jxs-dim"><Said text={question.value.text} /></p> : <Waiting question={question} what="Compiling the program with the change" />;
}
