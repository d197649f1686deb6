/** Numbers as people read them. */

const PREFIXES: [number, string][] = [
  [1e15, "P"],
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
];
const SMALL: [number, string][] = [
  [1, ""],
  [1e-3, "m"],
  [1e-6, "µ"],
  [1e-9, "n"],
];

const figures = (value: number) => Number(value.toPrecision(3)).toLocaleString("en-US", { maximumFractionDigits: 20, useGrouping: false });

const isOf = (size: number) => ([least]: [number, string]) => size >= least * 0.9995;

/** 81.2 ms: less than a minute or two. */
function smallDuration(seconds: number): string {
  const [factor, prefix] = seconds ? (SMALL.find(isOf(Math.abs(seconds))) ?? [1e-9, "n"]) : [1, ""];
  return `${figures(seconds / factor)} ${prefix}s`;
}

/** 1.1 MB, 34 B, 2.5 GFLOP, 3.2 µs: three significant figures, powers of 1000. */
export function scaled(value: number, unit: string): string {
  const large = PREFIXES.find(isOf(Math.abs(value)));
  if (!large && unit === "s") return smallDuration(value);
  const [factor, prefix] = large ?? [1, ""];
  return `${figures(value / factor)} ${prefix}${unit}`;
}

/** 400 µs, 81.2 ms, 1.25 s, 2 min 3 s: how long something took. */
export function duration(seconds: number): string {
  if (seconds < 99.95) return smallDuration(seconds);
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** 12,345 */
export const counted = (value: number): string => value.toLocaleString("en-US");

const signOf = (value: number) => (value > 0 ? "+" : value < 0 ? "−" : "");

/** A difference, "" for none: +12, −2 GB. */
export function difference(value: number, unit = ""): string {
  if (!value) return "";
  return `${signOf(value)}${unit ? scaled(Math.abs(value), unit) : counted(Math.abs(value))}`;
}

/** 7.3 s, 2 min 5 s: a time that still grows. */
export function clock(seconds: number): string {
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
}

/** A share in words; what is next to nothing, or nearly all, is not called nothing or all. */
export function percent(part: number, whole: number): string {
  const share = (100 * part) / whole;
  if (part > 0 && share < 1) return "<1%";
  return `${part < whole && share > 99 ? Math.min(99.9, Math.floor(share * 10) / 10) : Math.round(share)}%`;
}

/** A number as a cell shows it; "unknown" where there is none. */
export function written(value: number | null, unit: string): string {
  if (value === null || !Number.isFinite(value)) return "unknown";
  if (unit) return scaled(value, unit);
  return value.toLocaleString("en-US", Number.isInteger(value) ? undefined : { maximumSignificantDigits: 3 });
}
