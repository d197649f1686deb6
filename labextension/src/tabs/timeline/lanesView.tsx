import { useStore } from "../../parts/hooks";
import type { TimelineModel } from "./model";

/** The lanes of a timeline over time. */
export function LanesView({ model }: { model: TimelineModel }) {
  useStore(model.store, (s) => s.visible);
  return <p>{model.overview.lanes.length} lanes</p>;
}
