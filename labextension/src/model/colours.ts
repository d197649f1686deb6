/** The colours of source lines: those that are near each other in the source are far apart in colour. */

const HUES = 18;
/** Coprime to HUES: neighbours are 140° apart, and lines of neighbouring hues at least five lines. */
const STRIDE = 7;
const TONES = 2;

/** As many lines in a row have different colours. */
export const DISTINCT = HUES * TONES;

/** A colour as one number: its hue in degrees, and 360 more for the darker tone. */
export function nthColour(n: number): number {
  const tone = Math.floor(n / HUES) % TONES;
  return ((n * STRIDE) % HUES) * (360 / HUES) + 360 * tone;
}

/** A name's own colour, for what has no source line. */
export function colourOfName(name: string): number {
  return nthColour([...name].reduce((sum, c) => (sum * 31 + (c.codePointAt(0) ?? 0)) % 9973, 7));
}

/** Lets an element with the class jxs-coloured have the colour. */
export const colourStyle = (colour: number): Record<string, string> => ({
  "--jxs-h": String(colour % 360),
  "--jxs-tone": String(Math.floor(colour / 360)),
});
