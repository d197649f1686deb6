import { useState } from "preact/hooks";
import { rowOfLine } from "../../model/sourceLines";
import { LinkButton } from "../../parts/buttons";
import { Waiting } from "../../parts/waiting";
import { focusLanes } from "./laneKeys";
import { type EventAbout, type Neighbour, type OwnField, copied, factsOf, readEvent } from "./eventRead";
import { useDocuments, useQuestion, useSelection } from "../../parts/hooks";

interface Props {
  event: number;
  /** Whether nothing ran: what the event says is what its estimate rests on. */
  isPredicted: boolean;
  onEvent: (event: number) => void;
  onClose: () => void;
}

function Own({ field }: { field: OwnField }) {
  const { name, value, doubtful } = field;
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {value}
        {doubtful.length > 0 && (
          <span class="jxs-badge jxs-badge-inferred" title="Impossible value: the profile is damaged here.">
            not plausible: {doubtful.join(", ")}
          </span>
        )}
      </dd>
    </div>
  );
}

/** What the profile itself says, as it says it, or what a prediction rests on; open where some of it cannot be true. */
function OwnFields({ about, isPredicted }: { about: EventAbout; isPredicted: boolean }) {
  const isDoubtful = about.own.some(({ doubtful }) => doubtful.length > 0);
  const origin = `${about.own.length} ${about.own.length === 1 ? "field" : "fields"} of the profile`;
  return (
    <details open={isDoubtful || isPredicted}>
      <summary class="jxs-dim">
        {isPredicted ? "What this prediction rests on" : origin}
        {isDoubtful && ", some not plausible"}
      </summary>
      <dl class="jxs-facts-list jxs-tl-facts-list">
        {about.own.map((field) => (
          <Own field={field} key={field.name} />
        ))}
      </dl>
      {about.leftOut > 0 && <p class="jxs-note">{about.leftOut} more fields are not shown.</p>}
    </details>
  );
}

function Beside({ title, to, onEvent }: { title: string; to: Neighbour | null; onEvent: Props["onEvent"] }) {
  if (!to) return null;
  return (
    <span class="jxs-tl-beside">
      <span class="jxs-dim">{title}</span> <LinkButton text={to.name} onClick={() => onEvent(to.event)} />
    </span>
  );
}

function Copy({ about }: { about: EventAbout }) {
  const [said, say] = useState("Copy");
  const copy = () => {
    const clipboard = globalThis.navigator?.clipboard;
    if (!clipboard) return say("cannot copy here");
    clipboard.writeText(copied(about)).then(
      () => say("Copied"),
      () => say("cannot copy here"),
    );
  };
  return (
    <button type="button" class="jxs-button jxs-boxed" onClick={copy}>
      {said}
    </button>
  );
}

function Line({ about }: { about: EventAbout }) {
  const documents = useDocuments();
  const selection = useSelection();
  if (!about.line) return <span class="jxs-dim">no source line known</span>;
  const row = rowOfLine(documents, about.line);
  return (
    <>
      {row >= 0 ? <LinkButton text={about.line} onClick={() => selection.select("python", row, "")} /> : <span>{about.line}</span>}
      {about.isInferred && <span class="jxs-badge jxs-badge-inferred">inferred</span>}
      {about.code && <code class="jxs-snippet">{about.code}</code>}
    </>
  );
}

function About({ about, isPredicted, onEvent, onClose }: { about: EventAbout } & Omit<Props, "event">) {
  const { partner } = about;
  return (
    <>
      <div class="jxs-tl-event-head jxs-strip">
        <b class="jxs-tl-event-name jxs-cut" title={about.name}>
          {about.name}
        </b>
        <Line about={about} />
        <span class="jxs-grow" />
        <Copy about={about} key={about.event} />
        <button type="button" class="jxs-button" aria-label="Close the details" title="Close the details" onClick={(event) => (focusLanes(event.currentTarget), onClose())}>
          ×
        </button>
      </div>
      <dl class="jxs-facts-list jxs-tl-facts-list">
        {factsOf(about).map(([name, words]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
      {about.own.length > 0 && <OwnFields about={about} isPredicted={isPredicted} />}
      <div class="jxs-strip jxs-tl-neighbours">
        {partner && <LinkButton text={partner.words} onClick={() => onEvent(partner.event)} />}
        <Beside title="inside" to={about.parent} onEvent={onEvent} />
        <Beside title="before" to={about.before} onEvent={onEvent} />
        <Beside title="after" to={about.after} onEvent={onEvent} />
      </div>
    </>
  );
}

/** All about the selected event. */
export function EventStrip({ event, ...act }: Props) {
  const question = useQuestion("timeline detail", { event }, readEvent);
  return (
    <section class="jxs-tl-event" aria-label="the selected event">
      {question.value ? <About about={question.value} {...act} /> : <Waiting question={question} what="Reading the event" />}
    </section>
  );
}
