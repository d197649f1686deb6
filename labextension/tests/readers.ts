/** Each request's reader, as the panel uses it, and the keys of its reply that the panel has no use for. */

import { Doc } from "../src/model/document";
import { readFrames } from "../src/model/frames";
import { Heat } from "../src/model/heat";
import { Lane, Warned } from "../src/model/lane";
import { readOperations } from "../src/model/operations";
import { PagedText } from "../src/model/pagedText";
import { definition, nextUse } from "../src/model/symbols";
import { readExchanges } from "../src/shell/warnings";
import { read as readAnswer } from "../src/tabs/answers/view";
import { read as readCollectives } from "../src/tabs/collectives/view";
import { readCache, readMisses } from "../src/tabs/compile_cache/read";
import { readCauses, readCompiles } from "../src/tabs/compiles/read";
import { readDifference } from "../src/parts/readDifference";
import { readCause, readPrograms, readRecords } from "../src/tabs/job_compiles/read";
import { readRecord } from "../src/tabs/compiles/readRecord";
import { readCosts, readOverview } from "../src/tabs/cost/read";
import { readRoofline } from "../src/tabs/cost/roofline";
import { read as readDtypes } from "../src/tabs/dtypes/view";
import { read as readEffects } from "../src/tabs/effects/view";
import { readCopies, readValues } from "../src/tabs/layouts/view";
import { readFindings, readTried } from "../src/tabs/findings/read";
import { readFigures, readInfo, readKernels } from "../src/tabs/machine/read";
import { readMemory } from "../src/tabs/memory/read";
import { readAdvice, readAt, readKept, readTrial } from "../src/tabs/memory/view";
import { readFlags } from "../src/tabs/options/read";
import { readDiff, readHistory, readPasses } from "../src/tabs/passes/read";
import { readAbout, readSearch } from "../src/tabs/sharding_search/read";
import { readDimensions } from "../src/tabs/dimensions/read";
import { readLayout, readPlaces } from "../src/tabs/shardings/meshMap";
import { read as readShardings } from "../src/tabs/shardings/view";
import { readComparison } from "../src/tabs/timeline/compareRead";
import { readEvent as readAboutEvent } from "../src/tabs/timeline/eventRead";
import { readOverview as readLanes, readEvent, readEventsOf, readTile } from "../src/tabs/timeline/read";
import { readHits } from "../src/tabs/timeline/searchRead";
import { readHead, readTimelineTable } from "../src/tabs/timeline/tableRead";
import { readRows } from "../src/wire/columns";
import type { Reply } from "../src/wire/source";
import { readState } from "../src/wire/state";
import type { Recorded } from "./recorded";

export interface Reader {
  read: (reply: Reply, params: Recorded["params"]) => unknown;
  /** Keys and columns that the panel does not need. */
  unused?: string[];
  /** Keys that a view takes from the reply itself. */
  byView?: string[];
}

const INFO = { kind: "hlo", title: "", lines: 0, bytes: 0 };

/** A document whose every request is answered with this reply. */
function docOf(reply: Reply): Doc {
  const source = { state: () => readState({}), onState: () => () => undefined, request: async () => reply };
  return new Doc(source, 0, INFO);
}

async function readDocument(reply: Reply): Promise<unknown> {
  const doc = docOf(reply);
  await doc.load(async () => undefined);
  return { paged: doc.paged, text: doc.paged ? doc.text?.length : await doc.text?.all() };
}

const pages = (reply: Reply, rows: number) => new PagedText(rows, { page: async () => reply, search: async () => reply });

async function readPage(reply: Reply): Promise<unknown> {
  const text = pages(reply, 3);
  const come = new Promise<void>((resolve) => text.onChange(resolve));
  text.want(0, 2);
  await come;
  return { lines: [0, 1, 2].map((row) => text.line(row)), problem: text.problem };
}

async function readSymbol(reply: Reply): Promise<unknown> {
  const doc = docOf(reply);
  doc.paged = true;
  return { definition: await definition(doc, "%a", 0, true), use: await nextUse(doc, "%a", 0, true) };
}

const readWithPlaces = async (reply: Reply) => ({ ...(await readShardings(reply)), places: readPlaces(reply.result.places) });
const OF_PASS = ["index", "instructions", "fusions", "bytes"].map((name) => `passes.${name}`);
const OF_COLLECTIVES = ["more.exposed", "more.groups", "more.instruction", "more.meanwhile", "warnings.line", "warnings.text"];

export const READERS: Record<string, Reader> = {
  sharding_search: { read: readSearch },
  sharding_search_layout: { read: readAbout },
  // the state has told the rest; of modes only "paged" matters
  document: { read: readDocument, unused: ["kind", "title", "lines", "bytes", "mode"] },
  page: { read: readPage, unused: ["start"] },
  columns: { read: (reply) => readRows(reply, 170) },
  frames: { read: readFrames },
  search: { read: (reply) => pages(reply, 170).search("fusion", false), unused: ["truncated"] },
  symbol: { read: readSymbol },
  operations: { read: async (reply) => readOperations(reply) },
  flags: { read: readFlags },
  answer: { read: readAnswer, unused: ["question"] },
  findings: { read: readFindings },
  try: { read: async (reply) => readTried(reply) },
  cost: { read: readCosts },
  cost_parts: { read: readCosts },
  members: { read: readCosts },
  cost_groups: { read: readCosts },
  equations: { read: readCosts },
  equation_groups: { read: readCosts },
  ledger: { read: readOverview },
  roofline: { read: readRoofline },
  heat: { read: (reply, { measure }) => Heat.read(String(measure), reply) },
  memory: { read: readMemory, unused: ["differing", "fit.needed", "kinds"] },
  "memory at": { read: readAt },
  kept: { read: readKept },
  policy: { read: readTrial },
  donation: { read: readAdvice },
  layouts: { read: readValues },
  layout_copies: { read: readCopies, byView: ["notes"] },
  effects: { read: readEffects, byView: ["notes"] },
  dimensions: { read: async (reply) => readDimensions(reply) },
  dtypes: { read: readDtypes, byView: ["headline"] },
  passes: { read: readPasses, unused: OF_PASS },
  pass_diff: { read: readDiff },
  pass_history: { read: readHistory },
  kernels: { read: readKernels },
  figures: { read: readFigures },
  kernel: { read: readInfo },
  exchanges: { read: readExchanges },
  shardings: { read: readWithPlaces, byView: ["mesh"], unused: ["values", "whole"] },
  sharding_map: { read: readLayout },
  collectives: { read: readCollectives, byView: ["headline", "notes", ...OF_COLLECTIVES] },
  lane: { read: Lane.read },
  warnings: { read: Warned.read },
  // of the coarse picture, as of a tile, the last count says no more than the number of segments
  timeline: { read: readLanes, unused: ["format", "picture.counts"] },
  "timeline tile": { read: (reply, { lanes }) => readTile(reply, String(lanes).split(",").map(Number)), unused: ["counts"] },
  "timeline event": { read: async (reply) => readEvent(reply), unused: ["device"] },
  "timeline events of": { read: async (reply) => readEventsOf(reply) },
  "timeline search": { read: readHits },
  "timeline detail": { read: async (reply) => readAboutEvent(reply) },
  "timeline head": { read: async (reply) => readHead(reply) },
  "timeline table": { read: readTimelineTable },
  "timeline compare": { read: readComparison },
  "timeline export": { read: async (reply) => reply, byView: [] },
  compiles: { read: readCompiles },
  compiles_causes: { read: readCauses },
  compile_record: { read: async (reply) => readRecord(reply) },
  difference: { read: async (reply) => readDifference(reply) },
  compile_compare: { read: async (reply) => readDifference(reply), unused: ["documents.lines", "number", "other"] },
  compile_cache: { read: readCache },
  job_compiles: { read: readRecords },
  job_compiles_programs: { read: readPrograms },
  job_compiles_record: { read: async (reply) => readCause(reply) },
  compile_cache_misses: { read: async (reply) => readMisses(reply) },
};
