import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { difference } from "../../wire/figures";
import { type History, type Pass, type PassList, type Step, deltaBytes, duration, fuzzy, groups } from "./read";
import { IconButton } from "../../parts/icons";

function Bar({ n, most }: { n: number; most: number }) {
  const width = n ? Math.max(4, 100 * Math.sqrt(Math.abs(n) / most)) : 0;
  return (
    <span class="jxs-pass-bar" aria-hidden="true">
      <i class={n < 0 ? "jxs-less" : "jxs-more"} style={{ width: `${width}%` }} />
    </span>
  );
}

function tell(pass: Pass): string {
  const parts = [
    pass.instructions && `${difference(pass.instructions)} instructions`,
    pass.fusions && `${difference(pass.fusions)} fusions`,
    pass.bytes && `${deltaBytes(pass.bytes)} of results`,
    `time ${duration(pass.seconds)}${pass.seconds === null ? "" : ", including its dump"}`,
  ];
  return [pass.pipeline && `${pass.pipeline}: ${pass.name}`, ...parts].filter(Boolean).join("\n");
}

interface RowProps {
  pass: Pass;
  most: number;
  step: Step | undefined;
  selected: boolean;
  id: string;
  onPick: () => void;
}

function Row({ pass, most, step, selected, id, onPick }: RowProps) {
  const classes = ["jxs-pass", selected && "jxs-current", !pass.changed && "jxs-idle"].filter(Boolean).join(" ");
  return (
    <div role="option" id={id} class={classes} aria-selected={selected} aria-label={`${step ? `${step.what}: ` : ""}${tell(pass)}`} title={tell(pass)} data-pass={pass.index} onClick={onPick}>
      <span class="jxs-pass-name jxs-cut">
        {step && <span class={`jxs-badge jxs-step-${step.what}`}>{step.what}</span>}
        {pass.name}
      </span>
      <Bar n={pass.instructions} most={most} />
      <span class="jxs-pass-n jxs-tabular">{difference(pass.instructions)}</span>
      <span class="jxs-pass-n jxs-tabular">{difference(pass.fusions)}</span>
      <span class="jxs-pass-n jxs-tabular jxs-pass-bytes">{deltaBytes(pass.bytes)}</span>
      <span class={pass.seconds === null ? "jxs-pass-n jxs-tabular jxs-pass-time jxs-dim" : "jxs-pass-n jxs-tabular jxs-pass-time"}>{duration(pass.seconds)}</span>
    </div>
  );
}

interface PassListProps {
  list: PassList;
  current: number | null;
  history: History | null;
  onPick: (pass: Pass) => void;
  onUnfollow: () => void;
}

let lists = 0;

/** The passes by pipeline. Where an instruction is followed, those that touched it. */
export function Passes({ list, current, history, onPick, onUnfollow }: PassListProps) {
  const [query, setQuery] = useState("");
  const [all, setAll] = useState(false);
  const [id] = useState(() => `jxs-passes-${lists++}`);
  const scroll = useRef<HTMLDivElement>(null);
  const steps = useMemo(() => new Map(history?.steps.map((step) => [step.pass, step])), [history]);
  const shown = useMemo(
    () =>
      list.passes.filter((pass) =>
        history ? steps.has(pass.index) : (all || pass.changed) && fuzzy(query, `${pass.pipeline} ${pass.name}`),
      ),
    [list, query, all, history],
  );
  const most = useMemo(() => Math.max(1, ...list.passes.map((pass) => Math.abs(pass.instructions))), [list]);
  const idle = list.passes.filter((pass) => !pass.changed).length;
  const isTimed = list.passes.some((pass) => pass.seconds !== null);
  useEffect(() => {
    const row = scroll.current?.querySelector<HTMLElement>(".jxs-current");
    if (row && scroll.current) reveal(scroll.current, row);
  }, [current, shown]);
  const key = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const at = shown.findIndex((pass) => pass.index === current);
    const isWriting = (event.target as HTMLElement).matches("input");
    const steps: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + 10, PageUp: at - 10, ...(!isWriting && { Home: 0, End: shown.length }) };
    const to = steps[event.key];
    const next = to === undefined ? undefined : shown[Math.max(0, Math.min(to, shown.length - 1))];
    if (next) onPick(next);
    else if (event.key === "Escape" && (query || history)) (setQuery(""), onUnfollow());
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class={["jxs-pass-side jxs-column", history && "jxs-few", !isTimed && "jxs-untimed"].filter(Boolean).join(" ")} onKeyDown={key}>
      {history ? (
        <div class="jxs-pass-bar-top jxs-following">
          <span class="jxs-dim">following</span>
          <code title={history.line}>{history.line.trim()}</code>
          <IconButton icon="close" label="Stop following (Esc)" onClick={onUnfollow} />
        </div>
      ) : (
        <div class="jxs-pass-bar-top">
          <input
            type="search"
            spellcheck={false}
            placeholder="Filter passes"
            aria-label="Filter passes; arrows move"
            aria-controls={id}
            aria-activedescendant={current === null ? undefined : `${id}-${current}`}
            value={query}
            onInput={(event) => setQuery((event.target as HTMLInputElement).value)}
          />
          {list.complete && (
            <button type="button" class="jxs-toggle" aria-pressed={all} onClick={() => setAll(!all)}>
              unchanged <span class="jxs-dim">{idle}</span>
            </button>
          )}
        </div>
      )}
      <div class="jxs-pass jxs-pass-head" aria-hidden="true">
        <span class="jxs-pass-name jxs-cut">pass</span>
        <span class="jxs-pass-bar" />
        <span class="jxs-pass-n jxs-tabular">instr.</span>
        <span class="jxs-pass-n jxs-tabular">fus.</span>
        <span class="jxs-pass-n jxs-tabular jxs-pass-bytes">bytes</span>
        <span class="jxs-pass-n jxs-tabular jxs-pass-time">time</span>
      </div>
      <div
        class="jxs-pass-list"
        role="listbox"
        id={id}
        tabIndex={0}
        aria-label={list.title}
        aria-activedescendant={current === null ? undefined : `${id}-${current}`}
        ref={scroll}
      >
        {history && <p class="jxs-note">{firstOf(history)}</p>}
        {groups(shown).map((group) => (
          <div role="group" aria-label={group.pipeline} key={group.passes[0]?.index}>
            <div class="jxs-pass-group jxs-cut">{group.pipeline || "after the last pass"}</div>
            {group.passes.map((pass) => (
              <Row
                key={pass.index}
                pass={pass}
                most={most}
                step={steps.get(pass.index)}
                selected={pass.index === current}
                id={`${id}-${pass.index}`}
                onPick={() => onPick(pass)}
              />
            ))}
          </div>
        ))}
        {!shown.length && !history && <p class="jxs-note">No passes match.</p>}
      </div>
      <div class="jxs-pass-foot jxs-dim" role="status">
        {isTimed || !list.passes.length ? list.title : `${list.title}; the time of every pass is unknown`}
      </div>
    </div>
  );
}

function firstOf(history: History): string {
  if (history.first >= 0) return "Present before the first pass; these passes changed it.";
  return history.steps.length ? "Created and changed by these passes." : "No pass changed it.";
}

function reveal(list: HTMLElement, row: HTMLElement): void {
  const [outer, inner] = [list.getBoundingClientRect(), row.getBoundingClientRect()];
  if (inner.top < outer.top) list.scrollTop -= outer.top - inner.top + 24;
  else if (inner.bottom > outer.bottom) list.scrollTop += inner.bottom - outer.bottom + 24;
}
