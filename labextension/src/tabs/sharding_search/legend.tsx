import { LOOKS, looksOf } from "./layoutMap";
import { colourName } from "./paintMap";
import type { Found } from "./read";
import { pathOf } from "./shapes";

/** The shape and colour of a kind. */
export function KindMark({ look, isFilled = false }: { look: number; isFilled?: boolean }) {
  const colour = `var(${colourName(look)})`;
  return (
    <svg class="jxs-ss-mark" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={pathOf(look)} style={{ stroke: colour, fill: isFilled ? colour : "none" }} />
    </svg>
  );
}

interface Props {
  found: Found;
  hidden: ReadonlySet<number>;
  onToggle: (kind: number) => void;
}

/** Which kind has which look; a click hides a kind and shows it again. */
export function Legend({ found, hidden, onToggle }: Props) {
  const looks = looksOf(found);
  const kinds = found.bests.map((row) => found.layouts.kind[row] as number);
  return (
    <div class="jxs-ss-legend jxs-strip">
      {kinds.map((kind) => (
        <button type="button" class="jxs-toggle jxs-ss-kind" aria-pressed={!hidden.has(kind)} title="Show or hide this kind" onClick={() => onToggle(kind)} key={kind}>
          <KindMark look={looks[kind] ?? LOOKS} /> {found.layouts.kinds[kind]}
        </button>
      ))}
      <span class="jxs-dim">hollow: an estimate · filled: compiled, with a bar up to the memory needed · line: nothing is faster and smaller</span>
    </div>
  );
}
