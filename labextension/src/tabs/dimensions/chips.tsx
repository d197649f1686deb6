import { counted } from "../../wire/figures";
import { colourStyle, nthColour } from "../../model/colours";
import type { Dimension } from "./read";

/** The colour of a dimension, by its place. */
export const styleOf = (place: number) => colourStyle(nthColour(place));

const STEPS: Record<string, number> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity };

/** Arrows go from button to button of a group. */
export function moveAmong(event: KeyboardEvent): void {
  const buttons = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>("button")];
  const [at, step] = [buttons.indexOf(event.target as HTMLElement), STEPS[event.key]];
  if (!step || at < 0 || event.ctrlKey || event.altKey || event.metaKey) return;
  buttons[Math.max(0, Math.min(at + step, buttons.length - 1))]?.focus();
  event.preventDefault();
  event.stopPropagation();
}

interface ChipsProps {
  dimensions: Dimension[];
  current: number;
  onPick: (place: number) => void;
}

/** One coloured chip for each dimension, with its size. */
export function Chips({ dimensions, current, onPick }: ChipsProps) {
  return (
    <div class="jxs-dimension-chips jxs-strip" role="group" aria-label="dimensions" onKeyDown={moveAmong}>
      {dimensions.map(({ name, number, size }, place) => (
        <button
          type="button"
          class="jxs-axis jxs-axis-chip"
          style={styleOf(place)}
          aria-pressed={place === current}
          tabIndex={place === current ? 0 : -1}
          title={`${number}; ${name}`}
          onClick={() => onPick(place)}
          key={number}
        >
          <b>{name}</b> {counted(size)}
        </button>
      ))}
    </div>
  );
}
