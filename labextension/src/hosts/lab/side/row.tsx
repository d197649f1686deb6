import { Said, unquoted } from "../../../parts/said";
import type { ComponentChildren } from "preact";
import { clock, duration } from "../../../wire/figures";
import type { StageState } from "../../../wire/state";
import { STAGE_MARKS, stateClass } from "../../../parts/stageMarks";
import { useElapsed } from "../../../parts/waiting";
import { heldText, heldTitle } from "./heldMemory";
import { type Inspected, type InspectedTarget, type StageTime, sharedStages } from "./inspectionList";

const MOST_SHOWN = 4;

interface RowActions {
  onOpen: () => void;
  onFree: () => void;
  onCell: () => void;
  onChoose: () => void;
}

interface RowProps extends RowActions {
  one: Inspected;
  isChosen: boolean;
  isCurrent: boolean;
  onFocus: () => void;
}

const timeOfDay = (made: number): string =>
  made ? new Date(made * 1000).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" }) : "";

function Ticking({ since }: { since: number }) {
  return <> {clock(useElapsed(since, true))}</>;
}

/** A status in words, with its sign. */
function Status({ status, made }: { status: StageState; made: number }) {
  return (
    <span class={`jxs-side-status jxs-side-${status}`}>
      <span aria-hidden="true" class={status === "running" ? "jxs-spinner" : ""}>
        {STAGE_MARKS[status]}
      </span>{" "}
      {status}
      {status === "running" && made > 0 && <Ticking since={1000 * made} />}
    </span>
  );
}

function Stage({ stage: { name, state, seconds, note } }: { stage: StageTime }) {
  const time = seconds === null ? (state === "done" ? "unknown time" : state) : duration(seconds);
  return (
    <span class={`jxs-side-stage jxs-side-${stateClass(state)}`} data-stage={name} data-state={state} title={note || undefined}>
      {name} {time}
      {note.startsWith("cached") && " cached"}
    </span>
  );
}

/** The stages after one that failed never begin. */
const reached = (stages: StageTime[], status: StageState) =>
  status === "failed" || status === "interrupted" ? stages.filter(({ state }) => state !== "not reached" && state !== "waiting") : stages;

function Target({ target: { target, status, error }, stages }: { target: InspectedTarget; stages: StageTime[] }) {
  return (
    <div class="jxs-side-facts jxs-tabular" data-target={target}>
      <span class="jxs-side-target jxs-cut" title={`compiled for ${target}`}>
        <span class="jxs-hidden">target </span>
        {target}
      </span>
      {reached(stages, status).map((stage) => (
        <Stage stage={stage} key={stage.name} />
      ))}
      {error && (
        <span class="jxs-side-failed jxs-side-error" title={error}>
          {STAGE_MARKS[status]} {error}
        </span>
      )}
    </div>
  );
}

function Targets({ targets }: { targets: InspectedTarget[] }) {
  const { shared, own } = sharedStages(targets);
  return (
    <>
      {shared.length > 0 && (
        <div class="jxs-side-facts jxs-tabular">
          {shared.map((stage) => (
            <Stage stage={stage} key={stage.name} />
          ))}
        </div>
      )}
      {targets.slice(0, MOST_SHOWN).map((target, at) => (
        <Target target={target} stages={own[at] ?? []} key={at} />
      ))}
      {targets.length > MOST_SHOWN && (
        <span class="jxs-dim" title={targets.map(({ target }) => target).join(", ")}>
          and {targets.length - MOST_SHOWN} more targets
        </span>
      )}
    </>
  );
}

/** For the pointer; the row's own keys do the same. */
function Action({ label, onClick, children }: { label: string; onClick: () => void; children: ComponentChildren }) {
  return (
    <button type="button" class="jxs-button jxs-boxed" tabIndex={-1} title={label} onClick={onClick}>
      {children}
    </button>
  );
}

export const freeHint = ({ cell }: Inspected): string =>
  cell === null ? "Free its memory (Delete). No cell is known that makes it again." : "Free its memory (Delete). Running its cell makes it again.";

function Head({ one, isChosen, on }: { one: Inspected; isChosen: boolean; on: RowActions }) {
  const label = one.label || "no cell";
  return (
    <div role="gridcell" class="jxs-side-head">
      <input
        type="checkbox"
        tabIndex={-1}
        checked={isChosen}
        disabled={one.isFreed}
        onClick={on.onChoose}
        aria-label={`Compare ${label}`}
        title="Select for comparison (Space, or Ctrl+click on the row)"
      />
      {one.cell === null ? (
        <span class="jxs-dim">{label}</span>
      ) : (
        <button type="button" class="jxs-link" tabIndex={-1} title="Go to its cell (g)" onClick={on.onCell}>
          {label}
        </button>
      )}
      <time class="jxs-dim jxs-tabular">{timeOfDay(one.made)}</time>
      <span class="jxs-grow" />
      <Status status={one.status} made={one.made} />
    </div>
  );
}

function Foot({ one, on }: { one: Inspected; on: RowActions }) {
  return (
    <div role="gridcell" class="jxs-side-foot">
      <span class="jxs-side-memory jxs-tabular jxs-dim" title={heldTitle(one)}>
        {heldText(one)}
      </span>
      <span class="jxs-grow" />
      {!one.isFreed && (
        <>
          <Action label={freeHint(one)} onClick={on.onFree}>
            Free
          </Action>
          <Action label="Open in a tab beside the notebook (Enter)" onClick={on.onOpen}>
            Open
          </Action>
        </>
      )}
    </div>
  );
}

export function InspectionRow({ one, isChosen, isCurrent, onFocus, ...on }: RowProps) {
  const choose = (event: MouseEvent) => (event.ctrlKey || event.metaKey) && on.onChoose();
  const call = one.signature || one.name;
  return (
    <div
      role="row"
      class={`jxs-side-row${isChosen ? " jxs-side-chosen" : ""}${one.isFreed ? " jxs-side-freed" : ""}`}
      data-inspection={one.id}
      data-status={one.status}
      aria-selected={isChosen}
      tabIndex={isCurrent ? 0 : -1}
      onFocus={onFocus}
      onClick={choose}
      onDblClick={on.onOpen}
    >
      <Head one={one} isChosen={isChosen} on={on} />
      <div role="gridcell" class="jxs-side-call">
        <code class="jxs-side-signature" title={call}>
          {call}
        </code>
        <Targets targets={one.targets} />
        {one.finding && (
          <p class="jxs-side-finding" title={unquoted(one.finding)}>
            <Said text={one.finding} />
          </p>
        )}
      </div>
      <Foot one={one} on={on} />
    </div>
  );
}
