/** Names on a canvas, cut where they have no room. */

const LEAST_LETTERS = 2;
/** No letter of the interface's font is thinner: what is certainly too long is cut before it is measured. */
const THINNEST_PX = 2;

/** Of a longer piece its end stays too, which tells names of one beginning apart: broadcast_multi…ion.177. */
const LEAST_OF_BOTH = 9;

/** A name without its middle, or without its end where only few letters stay. */
export function cutTo(name: string, letters: number): string {
  const end = letters < LEAST_OF_BOTH ? 0 : Math.floor(letters / 2.5);
  return `${name.slice(0, letters - end)}…${name.slice(name.length - end)}`;
}

/** As much of a name as has room in the font that the canvas has; "" where that would say nothing. */
export function fittingText(g: Pick<CanvasRenderingContext2D, "measureText">, name: string, room: number): string {
  if (room <= 0) return "";
  const widthOf = (text: string) => g.measureText(text).width;
  const most = name.slice(0, Math.ceil(room / THINNEST_PX) + 1);
  const whole = widthOf(most);
  if (whole <= room && most.length === name.length) return name;
  let letters = Math.min(most.length - 1, Math.floor((most.length * room) / Math.max(whole, 1)) + 1);
  while (letters + 1 < name.length && widthOf(cutTo(name, letters + 1)) <= room) letters++;
  while (letters >= LEAST_LETTERS && widthOf(cutTo(name, letters)) > room) letters--;
  return letters >= LEAST_LETTERS ? cutTo(name, letters) : "";
}
