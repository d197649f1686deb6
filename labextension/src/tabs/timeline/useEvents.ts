/** What the kernel says of the event under the pointer, and of the events of the selected line. */

import { useEffect, useRef, useState } from "preact/hooks";
import { counted, duration } from "../../wire/figures";
import { messageOf } from "../../wire/errors";
import type { TimelineModel } from "./model";
import { type EventDetail, type EventsOf, readEventsOf } from "./read";
import { useQuestions, useSelection } from "../../parts/hooks";

const REST_MS = 90;

/** The detail of an event that the pointer rests on; null before it has come. */
export function useEventDetail(model: TimelineModel, event: number): EventDetail | null {
  const [detail, setDetail] = useState<EventDetail | null>(null);
  useEffect(() => {
    if (event < 0) return undefined;
    let isGone = false;
    const timer = setTimeout(() => {
      model.detail(event).then((found) => isGone || setDetail(found)).catch(() => undefined); // the tip has what the tile says
    }, REST_MS);
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [model, event]);
  return detail?.event === event ? detail : null;
}

/** Goes from one event of the selected line or instruction to the next, round the whole recording. */
export function useSteps(model: TimelineModel): (by: 1 | -1) => void {
  const selection = useSelection();
  const questions = useQuestions();
  const known = useRef<{ key: string; found: EventsOf; at: number } | null>(null);
  return (by) => {
    const { selected } = selection.get();
    if (!selected) return selection.say("Select a line, an instruction or an event first.");
    const key = `${selected.doc} ${selected.row}`;
    const go = ({ found, at }: { found: EventsOf; at: number }) => {
      const place = found.events[at];
      if (!place) return selection.say("No event of the timeline belongs to what is selected.");
      const more = found.count > found.events.length ? `, the first ${counted(found.events.length)} of them are gone through` : "";
      selection.say(`${counted(at + 1)} of ${counted(found.count)} events, ${duration(found.seconds)} together${more}.`);
      model.reveal(place);
      model.mark(place.event);
    };
    if (known.current?.key === key) {
      const { found, at } = known.current;
      const { length } = found.events;
      known.current.at = length ? (at + by + length) % length : 0;
      return go(known.current);
    }
    questions
      .request("timeline events of", { doc: selected.doc, row: selected.row })
      .then((reply) => {
        const found = readEventsOf(reply);
        known.current = { key, found, at: by > 0 ? 0 : Math.max(0, found.events.length - 1) };
        go(known.current);
      })
      .catch((error: unknown) => selection.say(messageOf(error)));
  };
}
