/** What is on screen, for those who do not see it. */

import { duration } from "../../wire/figures";
import type { Item } from "./laneItems";
import type { TimelineModel } from "./model";
import { shortNames } from "./laneNames";
import { moment } from "./timeAxis";
import { lengthOf } from "../../parts/axis";

const MOST = 6;

export function lanesInWords({ now, overview }: TimelineModel, items: readonly Item[]): string {
  const { visible, detail, range } = now;
  const short = shortNames(overview.lanes);
  const lanes = items.filter(({ kind }) => kind === "lane").map(({ title, lane }) => (lane && short.get(lane.lane)) || title);
  const named = lanes.slice(0, MOST).join(", ") + (lanes.length > MOST ? ` and ${lanes.length - MOST} more` : "");
  const parts = [`${moment(visible.from, visible)} to ${moment(visible.to, visible)}, ${duration(lengthOf(visible))} on screen, of ${overview.predicted ? `the ${duration(overview.end - overview.base)} that are drawn of a prediction` : `a profile of ${duration(overview.end - overview.base)}`}; lanes: ${named || "none"}.`];
  if (detail) parts.push(`Selected: ${detail.name.slice(0, 200)}, ${duration(detail.seconds)} from ${moment(detail.start, visible)} on.`);
  if (range) parts.push(`Chosen: ${duration(lengthOf(range))} from ${moment(range.from, range)} on.`);
  return parts.join(" ");
}
