/** Replies are untrusted JSON: what each value must be, checked, and capped in size. */

export type Fields = Record<string, unknown>;

/** A table to look names of the payload up in: without what every object inherits, such as `__proto__`. */
export const byName = <T>(table: Record<string, T>): Record<string, T> => Object.assign(Object.create(null), table);

const MOST_LIST = 200;
const MOST_TEXT = 2000;
const MOST_TEXTS = 2_000_000;

export const fields = (raw: unknown): Fields => (raw !== null && typeof raw === "object" ? (raw as Fields) : {});
export const list = (raw: unknown, most = MOST_LIST): unknown[] => (Array.isArray(raw) ? raw.slice(0, most) : []);
/** A text of at most so many characters. */
export const capped = (raw: unknown, most: number): string => (typeof raw === "string" ? raw.slice(0, most) : "");
export const textOrNull = (raw: unknown): string | null => (typeof raw === "string" ? raw.slice(0, MOST_TEXT) : null);
export const text = (raw: unknown): string => capped(raw, MOST_TEXT);
export const texts = (raw: unknown, most = MOST_TEXTS): string[] => list(raw, most).map((one) => text(one));
/** Those of a list of sentences that say something. */
export const sentences = (raw: unknown, most = MOST_LIST): string[] => texts(raw, most).filter(Boolean);
export const number = (raw: unknown): number | null => (typeof raw === "number" && Number.isFinite(raw) ? raw : null);
/** A whole number of any sign, 0 where there is none. */
export const whole = (raw: unknown): number => Math.floor(number(raw) ?? 0);
/** A whole number that is not negative, 0 where there is none. */
export const count = (raw: unknown): number => Math.max(0, whole(raw));
export const entries = (raw: unknown, most = MOST_LIST): [name: string, value: unknown][] => Object.entries(fields(raw)).slice(0, most);
