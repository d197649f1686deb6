/** Colours as the style sheets write them, as numbers: enough of CSS for the theme's tokens. */

export type Rgb = [number, number, number];
/** Channels of 0 to 1, and the opacity. */
export type Rgba = [...Rgb, number];
export type Scheme = "light" | "dark";

const toLinear = (part: number): number => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
const fromLinear = (part: number): number => {
  const inside = Math.max(0, Math.min(1, part));
  return inside <= 0.0031308 ? 12.92 * inside : 1.055 * inside ** (1 / 2.4) - 0.055;
};
export const linear = (rgb: Rgb): Rgb => rgb.map(toLinear) as Rgb;
export const gamma = (rgb: Rgb): Rgb => rgb.map(fromLinear) as Rgb;

function hex(text: string): Rgba {
  const digits = text.length < 6 ? [...text.slice(1)].map((digit) => digit + digit).join("") : text.slice(1);
  const [r = 0, g = 0, b = 0, a = 255] = (digits.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16));
  return [r / 255, g / 255, b / 255, a / 255];
}

/** https://bottosson.github.io/posts/oklab/ */
function oklch(l: number, c: number, h: number): Rgb {
  const [a, b] = [c * Math.cos((h * Math.PI) / 180), c * Math.sin((h * Math.PI) / 180)];
  const long = (l + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const middle = (l - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const short = (l - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return gamma([
    4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short,
    -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short,
    -0.0041960863 * long - 0.7034186147 * middle + 1.707614701 * short,
  ]);
}

function hsl(h: number, s: number, l: number): Rgb {
  const channel = (n: number) => {
    const k = (n + h / 30) % 12;
    return l - s * Math.min(l, 1 - l) * Math.max(-1, Math.min(k - 3, 9 - k, 1));
  };
  return [channel(0), channel(8), channel(4)];
}

/** What stands between commas of one level. */
function parts(list: string): string[] {
  const found = [""];
  let depth = 0;
  for (const letter of list) {
    depth += Number(letter === "(") - Number(letter === ")");
    if (letter === "," && depth === 0) found.push("");
    else found[found.length - 1] += letter;
  }
  return found.map((part) => part.trim());
}

const numbers = (text: string): number[] => (text.match(/-?[\d.]+%?/g) ?? []).map((one) => (one.endsWith("%") ? Number.parseFloat(one) / 100 : Number(one)));
const calculated = (text: string): string =>
  text.replaceAll(/calc\(([\d.]+) ([-+*]) ([\d.]+)(%?)\)/g, (_, a: string, sign: string, b: string, unit: string) => {
    const [x, y] = [Number(a), Number(b)];
    return `${sign === "*" ? x * y : sign === "-" ? x - y : x + y}${unit}`;
  });

/** A style sheet's custom properties, resolved in one scheme. */
export class Tokens {
  private readonly known: Map<string, string>;

  constructor(
    css: string,
    readonly scheme: Scheme,
    host: Record<string, string> = {},
  ) {
    const declared = [...css.matchAll(/(--[\w-]+)\s*:\s*([^;]+);/g)].map(([, name, value]) => [name, value] as [string, string]);
    this.known = new Map([...declared.reverse(), ...Object.entries(host)]); // of several the first: the theme's own
  }

  of(name: string): Rgba {
    const value = this.known.get(name);
    if (value === undefined) throw new Error(`no token ${name}`);
    return this.colour(value);
  }

  /** A colour as CSS writes it, with the numbers that stand for further properties. */
  colour(css: string, given: Record<string, number> = {}): Rgba {
    const filled = Object.entries(given).reduce((text, [name, value]) => text.replaceAll(`var(${name})`, String(value)), css.trim());
    const text = calculated(calculated(filled));
    const inside = text.slice(text.indexOf("(") + 1, -1);
    if (text.startsWith("#")) return hex(text);
    if (text === "transparent") return [0, 0, 0, 0];
    if (text === "white") return [1, 1, 1, 1];
    if (text.startsWith("light-dark(")) return this.colour(parts(inside)[this.scheme === "light" ? 0 : 1] as string);
    if (text.startsWith("var(")) return this.variable(parts(inside));
    if (text.startsWith("color-mix(")) return this.mixed(parts(inside));
    const [a = 0, b = 0, c = 0, opacity = 1] = numbers(inside);
    if (text.startsWith("oklch(")) return [...oklch(a, b, c), opacity];
    if (text.startsWith("hsl(")) return [...hsl(a, b, c), opacity];
    if (text.startsWith("rgb")) return [a / 255, b / 255, c / 255, opacity];
    throw new Error(`cannot read the colour ${css}`);
  }

  private variable([name = "", ...fallback]: string[]): Rgba {
    return this.known.has(name) ? this.of(name) : this.colour(fallback.join(","));
  }

  /** Of two opaque colours, or of one and nothing. */
  private mixed([, first = "", second = ""]: string[]): Rgba {
    const share = Number.parseFloat(/([\d.]+)%/.exec(first)?.[1] ?? "50") / 100;
    const [one, other] = [first, second].map((part) => this.colour(part.replace(/ [\d.]+%$/, ""))) as [Rgba, Rgba];
    if (other[3] === 0) return [one[0], one[1], one[2], one[3] * share];
    return over([one[0], one[1], one[2], share], other.slice(0, 3) as Rgb);
  }
}

export function over([r, g, b, a]: Rgba, ground: Rgb): Rgba {
  const blend = (part: number, i: number) => part * a + (ground[i] as number) * (1 - a);
  return [blend(r, 0), blend(g, 1), blend(b, 2), 1];
}

/** Layers from the lowest, which is opaque, to the highest. */
export const stacked = (...layers: Rgba[]): Rgb => layers.reduce((ground, layer) => over(layer, ground.slice(0, 3) as Rgb)).slice(0, 3) as Rgb;

const luminance = (rgb: Rgb): number => {
  const [r, g, b] = linear(rgb);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};

/** WCAG 2: from 1, not to be told apart, to 21, black on white. */
export function contrast(a: Rgb, b: Rgb): number {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

/**
 * How people see colours who lack a kind of cone: matrices on linear RGB for a severity of 1, from G. M. Machado, M. M. Oliveira and
 * L. A. F. Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency", IEEE TVCG 15(6), 2009.
 */
export const SIGHTS: Record<string, [Rgb, Rgb, Rgb]> = {
  usual: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};

export function seenWith(sight: string, rgb: Rgb): Rgb {
  const [r, g, b] = linear(rgb);
  return gamma((SIGHTS[sight] as [Rgb, Rgb, Rgb]).map(([x, y, z]) => x * r + y * g + z * b) as Rgb);
}

function lab(rgb: Rgb): Rgb {
  const [r, g, b] = linear(rgb);
  const f = (value: number) => (value > 216 / 24389 ? Math.cbrt(value) : (value * 24389) / 27 / 116 + 16 / 116);
  const [x, y, z] = [
    f((0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047),
    f(0.2126729 * r + 0.7151522 * g + 0.072175 * b),
    f((0.0193339 * r + 0.119192 * g + 0.9503041 * b) / 1.08883),
  ];
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/** CIE 1976: 2.3 is just noticeable side by side. */
export const distance = (a: Rgb, b: Rgb): number => Math.hypot(...lab(a).map((part, i) => part - (lab(b)[i] as number)));
