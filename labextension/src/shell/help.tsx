import { useEffect, useRef } from "preact/hooks";
import { focused } from "../parts/focused";
import { IconButton } from "../parts/icons";

const KEYS: [string, string][] = [
  ["1 … 9", "open the first, … ninth tab; on the tabs, ← → move and Enter opens"],
  ["↑ ↓ PgUp PgDn Home End", "move the current line; its counterparts light up"],
  ["Enter", "select: other panes scroll to the counterparts"],
  ["n / p", "next / previous linked line in this pane"],
  ["f, ← →", "fold or unfold the block"],
  ["F", "fold all, unfold all"],
  ["/ or Ctrl+F", "search this pane; Enter, Shift+Enter: next, previous"],
  ["d or Ctrl+click", "go to the definition of a name; from the definition to its uses"],
  ["Alt+←", "back to where you were"],
  ["s", "whole call stack of the line"],
  ["k", "machine code of the selected HLO line's kernel"],
  ["w", "next warning: resharding, full rematerialisation"],
  ["h", "history: follow the instruction through XLA's passes"],
  ["t, l, m", "show types, layouts, metadata"],
  ["c, Shift+C", "copy the line, copy the pane"],
  ["↑ ↓, Enter", "among the options: move, copy as --xla name=value"],
  ["↑ ↓, ← →", "in a log of compiles: next row of the list, next bar of the strip; / filters both"],
  ["W S, A D, F, R, B", "in the timeline: zoom, move, fit, choose what is on screen, bookmark; n / p: events of the selection"],
  ["z", "full screen"],
  ["Tab", "next pane or control"],
  ["Esc", "close what is open, then clear the selection"],
];

export function Help({ onClose }: { onClose: () => void }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const before = box.current && (focused(box.current) as HTMLElement | null);
    box.current?.focus({ preventScroll: true });
    return () => before?.focus({ preventScroll: true });
  }, []);
  const stay = (event: KeyboardEvent) => {
    if (event.key !== "Tab") return;
    box.current?.querySelector("button")?.focus();
    event.preventDefault();
  };
  return (
    <div class="jxs-help" role="dialog" aria-modal="true" aria-label="Keyboard help" tabIndex={-1} ref={box} onKeyDown={stay}>
      <div class="jxs-help-head">
        <h3>Keys</h3>
        <IconButton icon="close" label="Close (Esc)" onClick={onClose} />
      </div>
      <div class="jxs-keys">
        {KEYS.map(([keys, what]) => (
          <div key={keys}>
            <span class="jxs-key">{keys}</span>
            <span>{what}</span>
          </div>
        ))}
      </div>
      <p class="jxs-dim">
        Lines with the same colour come from the same source line. A dashed bar marks an inferred link: the compiler dropped
        the source location. Faint highlights come from another expression on the same line, or from functions it calls.
      </p>
    </div>
  );
}
