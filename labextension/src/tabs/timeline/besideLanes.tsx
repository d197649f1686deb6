import { useQuestion, useStore } from "../../parts/hooks";
import { Waiting } from "../../parts/waiting";
import { EventStrip } from "./eventStrip";
import { ExportMenu } from "./exportMenu";
import { Head } from "./head";
import type { TimelineModel } from "./model";
import type { EventPlace } from "./read";
import { Search } from "./search";
import type { Hits } from "./searchRead";
import { TABLES, readHead } from "./tableRead";
import { Tables } from "./tables";

interface Props {
  model: TimelineModel;
}

/** Brings an event on screen, as wide as it can be told from others. */
function goTo(model: TimelineModel, place: EventPlace): void {
  const { from, to } = model.now.visible;
  model.reveal(place, true);
  if (place.seconds > to - from) model.zoomTo({ from: place.start, to: place.start + place.seconds });
}

/** Above the lanes: what the profile says in a sentence, how much of it is known, and the search. */
export function AboveLanes({ model }: Props) {
  const question = useQuestion("timeline head", {}, readHead);
  const light = (hits: Hits | null) => model.store.set({ hits: hits?.total ? hits.looks : null });
  return (
    <>
      {question.value ? <Head head={question.value} /> : <Waiting question={question} what="Summing up" />}
      <div class="jxs-tl-tools jxs-strip">
        <Search
          from={() => model.now.visible.from}
          onHits={light}
          onGo={(place) => {
            goTo(model, place);
            void model.select(place.event);
          }}
        />
        <span class="jxs-grow" />
        <ExportMenu model={model} />
      </div>
    </>
  );
}

/** Below the lanes: the selected event, and the tables of all or of the range. */
export function BelowLanes({ model }: Props) {
  const range = useStore(model.store, (s) => s.range);
  const selected = useStore(model.store, (s) => s.selected);
  const head = useQuestion("timeline head", {}, readHead).value;
  const go = async (event: number) => {
    goTo(model, await model.detail(event));
    await model.select(event);
  };
  return (
    <>
      {selected >= 0 && (
        <EventStrip event={selected} isPredicted={!!head?.predicted} onEvent={(event) => void go(event)} onClose={() => void model.select(-1)} />
      )}
      <Tables
        names={head?.tables ?? TABLES.map(([name]) => name)}
        range={range}
        onClear={() => model.store.set({ range: null })}
        onGo={(span) => model.zoomTo(span)}
      />
    </>
  );
}
