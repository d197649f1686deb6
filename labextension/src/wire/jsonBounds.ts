/** How much JSON text holds, before it is parsed: a few bytes packed may stand for more objects than a page can hold. */

const DEEPEST = 100;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);

/** Where a string that begins at `at` has ended. */
function afterString(json: Uint8Array, at: number): number {
  let end = at;
  do {
    end = json.indexOf(QUOTE, end + 1);
    if (end < 0) return json.length;
  } while (isEscaped(json, end));
  return end + 1;
}

function isEscaped(json: Uint8Array, at: number): boolean {
  let before = at - 1;
  while (json[before] === BACKSLASH) before--;
  return (at - before) % 2 === 0;
}

/** Whether it nests at most 100 deep, and has at most so many values. */
export function isBounded(json: Uint8Array, mostValues: number): boolean {
  let depth = 0;
  let values = 0;
  for (let at = 0; at < json.length; ) {
    const byte = json[at] ?? 0;
    if (OPENING.has(byte)) depth++;
    else if (CLOSING.has(byte)) depth--;
    if (byte === COMMA || OPENING.has(byte)) values++;
    if (depth > DEEPEST || values > mostValues) return false;
    at = byte === QUOTE ? afterString(json, at) : at + 1;
  }
  return true;
}
