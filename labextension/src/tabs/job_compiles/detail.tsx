import { Said } from "../../parts/said";
import { Waiting } from "../../parts/waiting";
import { useQuestion, useQuestions } from "../../parts/hooks";
import { type Cause, type JobRecords, readCause } from "./read";

function About({ cause }: { cause: Cause }) {
  return (
    <>
      <p class="jxs-jc-why jxs-anywhere">
        <Said text={cause.why} />
      </p>
      {cause.advice && (
        <p class="jxs-jc-todo jxs-anywhere">
          <Said text={cause.advice} />
        </p>
      )}
      {cause.code && <pre class="jxs-jc-code">{cause.code}</pre>}
      <dl class="jxs-facts-list jxs-jc-facts">
        {cause.differences.map(([kind, what, before, now], at) => (
          <div key={at}>
            <dt>{what || kind}</dt>
            <dd>
              {before || "nothing"} → {now || "nothing"}
            </dd>
          </div>
        ))}
        {cause.facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

function Asked({ process, number }: { process: number; number: number }) {
  const question = useQuestion("job_compiles_record", { process, number }, readCause);
  return question.value ? <About cause={question.value} /> : <Waiting question={question} what={`Asking process ${process}`} />;
}

/** One record: why its process compiled it, which that process is asked. */
export function RecordDetail({ records, row }: { records: JobRecords; row: number }) {
  const questions = useQuestions();
  const [process, number] = [records.process[row] ?? -1, records.number[row] ?? -1];
  return (
    <div class="jxs-jc-detail" role="region" aria-label="about this record">
      <p class="jxs-jc-title jxs-anywhere">
        <b>
          process {process} #{number}
        </b>{" "}
        <code>{records.program(row)}</code>
      </p>
      {questions.isSaved ? <p class="jxs-note">Run the cell again to ask the process why it was compiled.</p> : <Asked process={process} number={number} />}
    </div>
  );
}
