/** Names that begin alike are told apart by their ends. */

/** Names with fewer letters in common are told by their beginning. */
const ALIKE = 4;

const known = new WeakMap<readonly string[], Set<string>>();

function commonLetters(one: string, other: string): number {
  let letters = 0;
  while (letters < one.length && one[letters] === other[letters]) letters++;
  return letters;
}

/** For each text how many letters it shares at its beginning with the one most like it: in the alphabet's order they are neighbours. */
function sharedLetters(texts: readonly string[]): Map<string, number> {
  const sorted = [...texts].sort();
  const shared = sorted.map((text, at) => commonLetters(text, sorted[at + 1] ?? ""));
  return new Map(sorted.map((text, at) => [text, Math.max(shared[at] ?? 0, shared[at - 1] ?? 0)]));
}

const reversed = (text: string): string => [...text].reverse().join("");

function toldByTheirEnds(strings: readonly string[]): Set<string> {
  const texts = [...new Set(strings)];
  const [ahead, behind] = [sharedLetters(texts), sharedLetters(texts.map(reversed))];
  return new Set(texts.filter((text) => (ahead.get(text) ?? 0) >= Math.max(ALIKE, behind.get(reversed(text)) ?? 0)));
}

/** Whether a column's text is a name that begins as another of it does, so that where room lacks its beginning goes. */
export function isToldByItsEnd(strings: readonly string[], text: string): boolean {
  if (text.includes(" ")) return false;
  const found = known.get(strings) ?? toldByTheirEnds(strings);
  known.set(strings, found);
  return found.has(text);
}
