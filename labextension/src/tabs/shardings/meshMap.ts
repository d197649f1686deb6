/** Which device holds which slice, laid out as a grid: by mesh axes, by the torus, or by the parts of the array. */

import { count, fields, list, number, text, texts } from "../../wire/check";
import type { Reply } from "../../wire/source";
import { Columns } from "../../wire/columns";

export interface Axis {
  name: string;
  size: number;
}

export interface Place {
  id: number;
  host: number | null;
  coords: number[] | null;
  core: number | null;
}

export interface Layout {
  name: string;
  dtype: string;
  shape: number[];
  spec: string;
  chosen: string;
  bytes: number | null;
  copies: number | null;
  padding: number | null;
  /** What each process holds of it; "" where there is one process. */
  local: string;
  /** Devices that hold partial sums of the same part, and those that hold each its own. */
  sums: number;
  own: number;
  /** Why it is not known who holds what; "" where it is. */
  problem: string;
  shard: number[];
  tiles: number[];
  mesh: Axis[];
  /** The devices of each part, one part after another. */
  holders: Int32Array;
  /** The devices of the mesh, the last axis fastest. */
  order: Int32Array;
}

/** A grid of any number of axes. `devices` are those at a place, `part` the part of the array that they hold. */
export interface Chart {
  name: string;
  title: string;
  hint: string;
  axes: Axis[];
  at: (index: number[]) => { devices: number[]; part: number };
}

export const MOST_DEVICES = 1 << 17;
const MOST_RANK = 32;

const wholeList = (raw: unknown, most = MOST_RANK): number[] => list(raw, most).map(count);
export const product = (sizes: number[]): number => sizes.reduce((all, size) => all * size, 1);

export function readPlaces(raw: unknown): Place[] {
  return list(raw, MOST_DEVICES).map((one) => {
    const [id, host, coords, core] = list(one, 4);
    return { id: count(id), host: number(host), coords: Array.isArray(coords) ? wholeList(coords, 4) : null, core: number(core) };
  });
}

export async function readLayout(reply: Reply): Promise<Layout> {
  const { result } = reply;
  const mesh = fields(result.mesh);
  const [names, sizes] = [texts(mesh.names, MOST_RANK), wholeList(mesh.sizes)];
  const columns = await Columns.of(reply);
  const [holders, order] = [columns.ints("holders"), columns.ints("order")];
  const tiles = wholeList(result.tiles);
  const parts = product(tiles);
  const torn = !parts || !holders.length || holders.length > MOST_DEVICES || holders.length % parts !== 0;
  return {
    name: text(result.name),
    dtype: text(result.dtype),
    shape: wholeList(result.shape),
    spec: text(result.spec),
    chosen: text(result.chosen),
    bytes: number(result.bytes),
    copies: number(result.copies),
    padding: number(result.padding),
    local: text(result.local),
    sums: count(result.sums),
    own: count(result.own),
    problem: text(result.problem) || (torn ? "the kernel's reply does not say which device holds what" : ""),
    shard: wholeList(result.shard),
    tiles,
    mesh: product(sizes) === order.length ? names.map((name, i) => ({ name, size: sizes[i] ?? 1 })) : [],
    holders,
    order,
  };
}

export const partsOf = ({ tiles }: Layout): number => product(tiles);

/** The numbers in a mixed base, the last digit fastest. */
export function digits(value: number, sizes: number[]): number[] {
  const found = new Array<number>(sizes.length).fill(0);
  for (let i = sizes.length - 1; i >= 0; i--) {
    const size = sizes[i] || 1;
    found[i] = value % size;
    value = Math.floor(value / size);
  }
  return found;
}

export const flat = (index: number[], axes: Axis[]): number => axes.reduce((at, { size }, i) => at * size + (index[i] ?? 0), 0);

/** From a device to the part that it holds. */
function partByDevice(layout: Layout): Map<number, number> {
  const copies = layout.holders.length / partsOf(layout);
  const found = new Map<number, number>();
  layout.holders.forEach((device, i) => found.set(device, Math.floor(i / copies)));
  return found;
}

/** What a part holds of each dimension: [start, stop]. */
export function bounds(layout: Layout, part: number): [number, number][] {
  const at = digits(part, layout.tiles);
  return layout.shape.map((size, dim) => {
    const step = layout.shard[dim] ?? size;
    return [Math.min((at[dim] ?? 0) * step, size), Math.min(((at[dim] ?? 0) + 1) * step, size)];
  });
}

/** The share of what is allocated for a part that holds data, 0 to 1. */
export function filled(layout: Layout, part: number): number {
  const room = product(layout.shard);
  return room ? product(bounds(layout, part).map(([start, stop]) => stop - start)) / room : 1;
}

export function spelled(layout: Layout, part: number): string {
  const held = bounds(layout, part);
  if (layout.shape.length && held.some(([start, stop]) => start >= stop) && product(layout.shape)) return "nothing";
  return `[${held.map(([start, stop]) => `${start}:${stop}`).join(", ")}]`;
}

/** The ways in which the devices of a layout can be drawn. */
export function charts(layout: Layout, places: Place[]): Chart[] {
  const parts = partByDevice(layout);
  const one = (device: number | undefined) => ({ devices: device === undefined || device < 0 ? [] : [device], part: parts.get(device ?? -1) ?? -1 });
  const found: Chart[] = [];
  if (!layout.mesh.length || parts.size < places.length) {
    const devices = [...new Set([...parts.keys(), ...places.keys()])].sort((a, b) => a - b);
    const axes = square(devices.length);
    found.push({ name: "devices", title: "Devices", hint: "all devices in their order", axes, at: (index) => one(devices[flat(index, axes)]) });
  }
  if (layout.mesh.length) {
    const { mesh, order } = layout;
    found.push({ name: "mesh", title: "Mesh", hint: "devices by mesh axis", axes: mesh, at: (index) => one(order[flat(index, mesh)]) });
  }
  const torus = byTorus(layout, places);
  if (torus) found.push({ name: "torus", title: "Torus", hint: "devices by the position of their chips", axes: torus.axes, at: (index) => one(torus.device(index)) });
  const dims = layout.tiles.map((size, dim) => ({ name: `dimension ${dim}`, size }));
  const copies = layout.holders.length / partsOf(layout);
  found.push({
    name: "array",
    title: "Array",
    hint: "shards of the array, with the devices that hold each",
    axes: dims,
    at: (index) => {
      const part = flat(index, dims);
      return { devices: [...layout.holders.subarray(part * copies, (part + 1) * copies)], part };
    },
  });
  return found;
}

/** Two axes as near to a square as the number of devices allows. */
function square(count: number): Axis[] {
  let rows = Math.max(1, Math.floor(Math.sqrt(count)));
  while (count % rows) rows--;
  return [
    { name: "", size: rows },
    { name: "device", size: Math.max(1, count / rows) },
  ];
}

function byTorus(layout: Layout, places: Place[]): { axes: Axis[]; device: (index: number[]) => number | undefined } | null {
  const devices = [...layout.holders];
  const placed = devices.map((device) => places[device]);
  if (!placed.length || placed.some((place) => !place?.coords)) return null;
  const rank = Math.max(...placed.map((place) => place?.coords?.length ?? 0));
  const most = Array.from({ length: rank }, (_, i) => 1 + Math.max(...placed.map((place) => place?.coords?.[i] ?? 0)));
  const cores = 1 + Math.max(...placed.map((place) => place?.core ?? 0));
  const named = [...most.map((size, i) => ({ name: "xyzw"[i] ?? `axis ${i}`, size })), { name: "core", size: cores }];
  const kept = named.map(({ size }, i) => (size > 1 || i < 2 ? i : -1)).filter((i) => i >= 0);
  const axes = kept.map((i) => named[i] as Axis);
  if (product(axes.map(({ size }) => size)) > MOST_DEVICES) return null;
  const at = new Map<string, number>();
  devices.forEach((device) => {
    const place = places[device] as Place;
    const index = [...(place.coords ?? []), ...new Array<number>(Math.max(0, rank - (place.coords?.length ?? 0))).fill(0), place.core ?? 0];
    at.set(kept.map((i) => index[i] ?? 0).join(), device);
  });
  return { axes, device: (index) => at.get(index.join()) };
}

/** A place on a chart, ready to be drawn. */
export interface Spot {
  devices: number[];
  part: number;
  /** The share of its room that holds data, 0 to 1. */
  share: number;
}

/** Two axes of a chart, row by row; `fixed` are the places on the others. */
export function spots(chart: Chart, layout: Layout, rows: number, columns: number, fixed: number[]): Spot[][] {
  const [height, width] = [chart.axes[rows]?.size ?? 1, chart.axes[columns]?.size ?? 1];
  const place = (row: number, column: number) =>
    chart.axes.map((_, axis) => (axis === rows ? row : axis === columns ? column : (fixed[axis] ?? 0)));
  return Array.from({ length: height }, (_, row) =>
    Array.from({ length: width }, (_, column) => {
      const { devices, part } = chart.at(place(row, column));
      return { devices, part, share: part < 0 ? 1 : filled(layout, part) };
    }),
  );
}

/** Lines of a sheet one after another whose devices are of one process. */
export interface Band {
  process: number;
  from: number;
  size: number;
}

/** The processes of the devices at a place, each once. */
export const processesAt = ({ devices }: Spot, places: Place[]): number[] => [...new Set(devices.flatMap((device) => places[device]?.host ?? []))].sort((a, b) => a - b);

/** The processes by rows, or by columns, of a sheet; none where a line has devices of several, or all are of one. */
export function bands(lines: Spot[][], places: Place[]): Band[] {
  const found: Band[] = [];
  for (const [at, line] of lines.entries()) {
    const held = new Set(line.flatMap((spot) => processesAt(spot, places)));
    const [process] = held;
    if (process === undefined || held.size > 1) return [];
    const last = found[found.length - 1];
    if (last?.process === process) last.size++;
    else found.push({ process, from: at, size: 1 });
  }
  return found.length > 1 ? found : [];
}

/** "of 2 processes", or "of process 1" where it is another than the first; else "". */
export function processesOf(places: Place[]): string {
  const [first, ...others] = new Set(places.flatMap(({ host }) => host ?? []));
  if (others.length) return `of ${others.length + 1} processes`;
  return first ? `of process ${first}` : "";
}

/** The columns of a sheet as lines. */
export const transposed = (sheet: Spot[][]): Spot[][] => (sheet[0] ?? []).map((_, column) => sheet.map((line) => line[column] as Spot));

/** Who is at a place and what it holds, in a sentence. */
export function describeSpot({ devices, part, share }: Spot, layout: Layout, places: Place[], percent: (part: number, whole: number) => string): string {
  if (!devices.length) return "no device of this program";
  const named = devices.slice(0, 8).map((device) => placeText(device, places)).join(", ");
  const who = devices.length > 8 ? `${named} and ${devices.length - 8} more` : named;
  if (part < 0) return `${who}: nothing of ${layout.name}`;
  return `${who}: ${layout.name}${spelled(layout, part)}${share < 1 ? `, ${percent(share, 1)} filled` : ""}`;
}

/** "device 5 at (1, 1, 0) of process 0" */
function placeText(device: number, places: Place[]): string {
  const place = places[device];
  if (!place) return `device ${device}`;
  const at = place.coords ? ` at (${place.coords.join(", ")})` : "";
  return `device ${place.id}${at}${place.host === null ? "" : ` of process ${place.host}`}`;
}

/** Parts that get hues of their own; more than these are told apart by where they lie in the array. */
const MOST_HUES = 16;

/** A hue in degrees and a saturation in percent for each part: neighbours differ, or run along the array's cut dimensions. */
export function colourOf({ tiles }: Layout, part: number): { hue: number; saturation: number } {
  if (product(tiles) <= MOST_HUES) return { hue: Math.round((part * 137.508 + 210) % 360), saturation: 62 };
  const at = digits(part, tiles);
  const shares = tiles.flatMap((size, dim) => (size > 1 ? [(at[dim] ?? 0) / (size - 1)] : []));
  return { hue: Math.round(300 * (shares[0] ?? 0)), saturation: Math.round(shares.length > 1 ? 25 + 70 * (shares[1] ?? 0) : 62) };
}
