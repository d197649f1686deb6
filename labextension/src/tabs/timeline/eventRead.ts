/** All about one event, as the kernel tells it. */

import { fields, list, number, text, whole } from "../../wire/check";
import { duration as lasting } from "../../wire/figures";
import type { Reply } from "../../wire/source";

export interface Partner {
  event: number;
  name: string;
  words: string;
}

export interface OwnField {
  name: string;
  value: string;
  /** Parts of the value that cannot be true. */
  doubtful: string[];
}

export interface Neighbour {
  event: number;
  name: string;
  start: number;
  duration: number;
}

export interface EventAbout {
  event: number;
  name: string;
  kind: string;
  start: number;
  duration: number;
  selfTime: number;
  lane: string;
  device: string;
  op: string;
  module: string;
  category: string;
  scope: string;
  /** "In [2]:7", and what stands there. */
  line: string;
  code: string;
  isInferred: boolean;
  /** In the HLO document, -1 for none. */
  row: number;
  partner: Partner | null;
  parent: Neighbour | null;
  before: Neighbour | null;
  after: Neighbour | null;
  own: OwnField[];
  leftOut: number;
}

const MOST_FIELDS = 60;

function readNeighbour(raw: unknown): Neighbour | null {
  const found = fields(raw);
  const event = number(found.event);
  return event === null ? null : { event, name: text(found.name), start: number(found.start) ?? 0, duration: number(found.duration) ?? 0 };
}

function readPartner(raw: unknown): Partner | null {
  const found = fields(raw);
  const event = number(found.event);
  return event === null ? null : { event, name: text(found.name), words: text(found.words) };
}

export function readEvent({ result }: Reply): EventAbout {
  return {
    event: whole(result.event),
    name: text(result.name),
    kind: text(result.kind),
    start: number(result.start) ?? 0,
    duration: number(result.duration) ?? 0,
    selfTime: number(result.self) ?? 0,
    lane: text(result.lane),
    device: text(result.device),
    op: text(result.op),
    module: text(result.module),
    category: text(result.category),
    scope: text(result.scope),
    line: text(result.line),
    code: text(result.code),
    isInferred: result.inferred === true,
    row: number(result.row) ?? -1,
    partner: readPartner(result.partner),
    parent: readNeighbour(result.parent),
    before: readNeighbour(result.before),
    after: readNeighbour(result.after),
    own: list(result.fields, MOST_FIELDS).map(fields).map((one) => ({ name: text(one.name), value: text(one.value), doubtful: list(one.doubtful).map(text) })),
    leftOut: whole(result.left_out),
  };
}

/** What is known, in pairs of a name and words. */
export function factsOf(about: EventAbout): [name: string, words: string][] {
  const all: [string, string][] = [
    ["kind", about.kind],
    ["start", lasting(about.start)],
    ["duration", lasting(about.duration)],
    ["self", about.selfTime === about.duration ? "" : lasting(about.selfTime)],
    ["lane", about.lane],
    ["device", about.device],
    ["instruction", about.op],
    ["module", about.module],
    ["does", about.category],
    ["scope", about.scope],
  ];
  return all.filter(([, words]) => words);
}

/** As text for the clipboard: one line a fact. */
export function copied(about: EventAbout): string {
  const lines = [about.name, ...factsOf(about).map(([name, words]) => `${name}: ${words}`)];
  if (about.line) lines.push(`line: ${about.line}${about.code ? `  ${about.code}` : ""}`);
  if (about.partner) lines.push(about.partner.words);
  return [...lines, ...about.own.map(({ name, value, doubtful }) => `${name}: ${value}${doubtful.length ? ` (not plausible: ${doubtful.join(", ")})` : ""}`)].join("\n");
}
