/** The shapes of kinds of layouts, which tell them apart without colours; each about as large as a circle of the radius. */

export type Outline = (g: CanvasRenderingContext2D, x: number, y: number, r: number) => void;

const polygon =
  (corners: readonly (readonly [number, number])[]): Outline =>
  (g, x, y, r) => {
    corners.forEach(([dx, dy], at) => (at ? g.lineTo(x + r * dx, y + r * dy) : g.moveTo(x + r * dx, y + r * dy)));
    g.closePath();
  };

const circle: Outline = (g, x, y, r) => {
  g.moveTo(x + r, y);
  g.arc(x, y, r, 0, 2 * Math.PI);
};

const [HALF, TIP, WIDE, LOW, BAR, ARM] = [0.89, 1.25, 1.25, 0.95, 0.42, 1.2];
const turned = (corners: readonly (readonly [number, number])[]) => corners.map(([x, y]) => [(x - y) * Math.SQRT1_2, (x + y) * Math.SQRT1_2] as const);
const PLUS = [
  [-BAR, -ARM], [BAR, -ARM], [BAR, -BAR], [ARM, -BAR], [ARM, BAR], [BAR, BAR],
  [BAR, ARM], [-BAR, ARM], [-BAR, BAR], [-ARM, BAR], [-ARM, -BAR], [-BAR, -BAR],
] as const;

/** By look; the last is that of the kinds beyond. */
export const OUTLINES: readonly Outline[] = [
  circle,
  polygon([[-HALF, -HALF], [HALF, -HALF], [HALF, HALF], [-HALF, HALF]]),
  polygon([[0, -TIP], [TIP, 0], [0, TIP], [-TIP, 0]]),
  polygon([[0, -TIP], [WIDE, LOW], [-WIDE, LOW]]),
  polygon([[0, TIP], [-WIDE, -LOW], [WIDE, -LOW]]),
  polygon(PLUS),
  polygon(turned(PLUS)),
  polygon([[TIP, 0], [-LOW, WIDE], [-LOW, -WIDE]]),
  polygon([[-TIP, 0], [LOW, -WIDE], [LOW, WIDE]]),
  polygon([[-ARM, -ARM], [ARM, -ARM], [-ARM, ARM], [ARM, ARM]]),
  polygon([[-ARM, -ARM], [ARM, ARM], [ARM, -ARM], [-ARM, ARM]]),
  polygon([[0, -TIP], [WIDE, -BAR], [HALF, ARM], [-HALF, ARM], [-WIDE, -BAR]]),
];

/** The same as the path of an SVG of 16 x 16. */
export function pathOf(look: number): string {
  const parts: string[] = [];
  const at = (letter: string) => (x: number, y: number) => parts.push(`${letter}${x.toFixed(1)} ${y.toFixed(1)}`);
  const pen = { moveTo: at("M"), lineTo: at("L"), closePath: () => parts.push("Z"), arc: () => parts.push("M8 3a5 5 0 1 0 .01 0Z") };
  (OUTLINES[look] ?? circle)(pen as unknown as CanvasRenderingContext2D, 8, 8, 5);
  return parts.join("");
}
