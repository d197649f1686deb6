import { LinkButton } from "../../parts/buttons";
import { counted, duration } from "../../wire/figures";
import type { Causes, Compiles, CompileTotals, Headline, RecompileCause, Recompiles } from "./read";
import { savedWords } from "./readRecord";
import { Said } from "../../parts/said";

/** 1 time, 12 times. */
const times = (many: number): string => (many === 1 ? "once" : `${counted(many)} times`);

/** What JAX did so often: an executable of the persistent cache is loaded, not compiled. */
function recompileWords({ times: all, loaded }: Recompiles): string {
  const parts = [loaded < all ? `compiled again ${times(all - loaded)}` : "", loaded ? `loaded from the persistent cache ${times(loaded)}` : ""];
  return parts.filter(Boolean).join(" and ");
}

function Cause({ cause, onPick }: { cause: RecompileCause; onPick: (number: number) => void }) {
  return (
    <>
      <LinkButton text={`#${cause.number}`} onClick={() => onPick(cause.number)} />: <Said text={cause.why} />
    </>
  );
}

const Todo = ({ cause }: { cause: RecompileCause }) => (cause.advice ? <p class="jxs-co-todo jxs-anywhere"><Said text={cause.advice} /></p> : null);

function Worst({ headline, onPick }: { headline: Headline; onPick: (number: number) => void }) {
  const { causes, causesInAll } = headline;
  const single = causesInAll === 1 ? causes[0] : undefined;
  const more = causesInAll - causes.length;
  const left = headline.seconds - causes.reduce((sum, { seconds }) => sum + seconds, 0);
  return (
    <div class="jxs-co-worst" data-mendable={headline.mendable}>
      <p class="jxs-co-verdict jxs-anywhere">
        <code>{headline.function}</code> {recompileWords(headline)}, {duration(headline.seconds)}
        {headline.times > 1 && " in all"};{" "}
        {single ? <Cause cause={single} onPick={onPick} /> : `${counted(causesInAll)} causes:`}
      </p>
      {single && <Todo cause={single} />}
      {!single &&
        causes.map((cause) => (
          <div key={cause.number}>
            <p class="jxs-co-verdict jxs-anywhere">
              {duration(cause.seconds)}; <Cause cause={cause} onPick={onPick} />
            </p>
            <Todo cause={cause} />
          </div>
        ))}
      {more > 0 && (
        <p class="jxs-co-verdict">
          {duration(Math.max(0, left))}: {counted(more)} more {more === 1 ? "cause" : "causes"}
        </p>
      )}
    </div>
  );
}

/** What to look at first; while causes are sought, that. */
export function Verdict({ compiles, causes, onPick }: { compiles: Compiles; causes: Causes | null; onPick: (number: number) => void }) {
  if (!causes) return <p class="jxs-co-verdict jxs-dim">Finding the causes…</p>;
  if (causes.headline) return <Worst headline={causes.headline} onPick={onPick} />;
  const where = compiles.scope ? ` in ${compiles.scope}` : "";
  return <p class="jxs-co-verdict">Nothing was compiled again{where}.</p>;
}

/** What loading executables instead of compiling them has saved. */
function hitWords({ hits, saved, isCacheOff }: CompileTotals): string {
  if (!hits) return isCacheOff ? "off (no folder)" : "no hits";
  return `${counted(hits)} ${hits === 1 ? "hit" : "hits"}, ${saved === null ? "saving unknown" : savedWords(saved)}`;
}

function Figure({ label, value, hint }: { label: string; value: string; hint: string }) {
  return (
    <span title={hint}>
      <span class="jxs-dim">{label}</span> <b class={value === "unknown" ? "jxs-unknown" : ""}>{value}</b>
    </span>
  );
}

const OVERLAP = "avoidable and for nothing may count the same seconds";
const AVOIDABLE = `records whose cause your code can avoid, whether their program is new or not, and those loaded from the persistent cache; ${OVERLAP}`;
const WASTED = `records whose program had been compiled before in this kernel, whatever the cause; ${OVERLAP}`;

/** Of the records in scope: seconds spent, avoidable, for nothing, and saved. */
export function Totals({ compiles, causes }: { compiles: Compiles; causes: Causes | null }) {
  const said = (seconds: number | null) => (seconds === null ? "unknown" : duration(seconds));
  const atLeast = (seconds: number | null) => `${causes?.totals.isComplete ? "" : "≥ "}${said(seconds)}`;
  const partly = causes?.totals.isComplete ? "" : "; not all records were compared when this was saved";
  const older = compiles.dropped ? `, ${counted(compiles.dropped)} older ones dropped` : "";
  const left = compiles.leftOut ? `, ${counted(compiles.leftOut)} cheaper ones not shown here` : "";
  return (
    <p class="jxs-co-totals jxs-tabular">
      {causes && (
        <>
          <Figure label={compiles.scope ? `spent in ${compiles.scope}` : "spent"} value={said(causes.totals.spent)} hint="tracing, lowering and compiling, each second counted once" />
          <Figure label="avoidable" value={atLeast(causes.totals.avoidable)} hint={`${AVOIDABLE}${partly}`} />
          <Figure label="for nothing" value={atLeast(causes.totals.wasted)} hint={`${WASTED}${partly}`} />
          <Figure
            label="persistent cache"
            value={hitWords(causes.totals)}
            hint="what the first compile of each cache hit took, less what reading it took; as far as JAX reported it"
          />
        </>
      )}
      <span class="jxs-dim">
        {counted(compiles.length)} {compiles.length === 1 ? "record" : "records"} of this kernel{older}
        {left}
      </span>
    </p>
  );
}
