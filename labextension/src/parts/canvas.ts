/** A canvas that fills its element, is as sharp as the screen and follows its size and the theme. */

import { useEffect, useRef } from "preact/hooks";

export interface Surface {
  g: CanvasRenderingContext2D;
  width: number;
  height: number;
  /** A colour of the theme, by the name of its variable. */
  colour: (name: string) => string;
  font: (px: number) => string;
}

/** What the theme says: asked for once, since an answer makes the browser style the page anew. */
interface Theme {
  colours: Map<string, string>;
  family: string | null;
}

/** The theme's colours as the canvas takes them: light-dark() is resolved by an element alone. */
function colours(host: HTMLElement, known: Map<string, string>): (name: string) => string {
  return (name) => {
    const found = known.get(name);
    if (found !== undefined) return found;
    const probe = host.ownerDocument.createElement("i");
    probe.style.cssText = `display:none;color:var(${name})`;
    host.append(probe);
    const colour = getComputedStyle(probe).color || "gray";
    probe.remove();
    known.set(name, colour);
    return colour;
  };
}

export function paint(canvas: HTMLCanvasElement, theme: Theme, draw: (surface: Surface) => void): void {
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  const g = canvas.getContext("2d");
  if (!g || !width || !height) return;
  const scale = globalThis.devicePixelRatio || 1;
  const [w, h] = [Math.round(width * scale), Math.round(height * scale)];
  if (canvas.width !== w || canvas.height !== h) Object.assign(canvas, { width: w, height: h });
  g.setTransform(scale, 0, 0, scale, 0, 0);
  g.clearRect(0, 0, width, height);
  const family = (theme.family ??= getComputedStyle(canvas).fontFamily || "sans-serif");
  draw({ g, width, height, colour: colours(canvas.parentElement ?? canvas, theme.colours), font: (px) => `${px}px ${family}` });
}

const THEME = { attributes: true, attributeFilter: ["data-jp-theme-light", "class", "theme"] };

/** Draws when what it draws has changed, at most once a frame. */
export function useCanvas(draw: (surface: Surface) => void, inputs: unknown[]) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const latest = useRef(draw);
  latest.current = draw;
  const frame = useRef(0);
  const known = useRef<Theme>({ colours: new Map(), family: null });
  const again = () => {
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(() => canvas.current && paint(canvas.current, known.current, latest.current));
  };
  const repaint = () => {
    known.current = { colours: new Map(), family: null };
    again();
  };
  useEffect(again, inputs);
  useEffect(() => {
    const size = new ResizeObserver(again);
    const theme = new MutationObserver(repaint);
    const dark = globalThis.matchMedia?.("(prefers-color-scheme: dark)");
    if (canvas.current) size.observe(canvas.current);
    theme.observe(document.body, THEME);
    theme.observe(document.documentElement, THEME);
    dark?.addEventListener?.("change", repaint);
    return () => {
      size.disconnect();
      theme.disconnect();
      dark?.removeEventListener?.("change", repaint);
      cancelAnimationFrame(frame.current);
    };
  }, []);
  return canvas;
}

/** Where the pointer is on its element. */
export function placeOf(event: MouseEvent): { x: number; y: number } {
  const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}
