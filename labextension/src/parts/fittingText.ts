/** Names on a canvas, cut where they have no room. */

const LEAST_LETTERS = 2;
/** No letter of the interface's font is thinner: what is certainly too long is cut before it is measured. */
const THINNEST_PX = 2;

/** As much of a name as has room in the font that the canvas has; "" where that would say nothing. */
export function fittingText(g: Pick<CanvasRenderingContext2D, "measureText">, name: string, room: number): string {
  if (room <= 0) return "";
  const widthOf = (text: string) => g.measureText(text).width;
  const most = name.slice(0, Math.ceil(room / THINNEST_PX) + 1);
  const whole = widthOf(most);
  if (whole <= room && most.length === name.length) return name;
  let letters = Math.min(most.length - 1, Math.floor((most.length * room) / Math.max(whole, 1)) + 1);
  while (letters >= LEAST_LETTERS && widthOf(`${name.slice(0, letters)}…`) > room) letters--;
  return letters >= LEAST_LETTERS ? `${name.slice(0, letters)}…` : "";
}
