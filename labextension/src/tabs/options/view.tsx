import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { copy } from "../../model/actions";
import { type Flag, type FlagTable, KINDS, type Kind, canSet, isChanged, isOf, matching, onLine, readFlags } from "./read";
import { IconButton } from "../../parts/icons";
import { Waiting } from "../../parts/waiting";
import { WorkerLog } from "../../parts/workerLog";
import { useQuestion, useSelection } from "../../parts/hooks";
import { Said } from "../../parts/said";

const said = (value: string | null) => (value === null ? "not known" : value || "(empty)");

function Values({ flag, tabIndex, onCopy }: { flag: Flag; tabIndex: number; onCopy: (value: string) => void }) {
  const taken = (flag.set ?? flag.fallback ?? "").split(",");
  return (
    <span role="gridcell" class="jxs-flag-values">
      {flag.values.map((value) => (
        <button
          type="button"
          tabIndex={tabIndex}
          key={value}
          class={taken.includes(value) ? "jxs-flag-value jxs-taken" : "jxs-flag-value"}
          title={`Copy ${onLine(flag, value)}`}
          onClick={() => onCopy(value)}
        >
          {value}
        </button>
      ))}
    </span>
  );
}

function Hint({ flag }: { flag: Flag }) {
  if (!canSet(flag)) return <span role="gridcell" class="jxs-flag-hint">a structured flag; jaxlib reads it from XLA_FLAGS only</span>;
  return (
    <span role="gridcell" class="jxs-flag-hint">
      Enter copies <code>{onLine(flag)}</code>
    </span>
  );
}

interface RowProps {
  flag: Flag;
  id: string;
  current: boolean;
  onCopy: (value?: string) => void;
  onPick: () => void;
}

function Row({ flag, id, current, onCopy, onPick }: RowProps) {
  const classes = ["jxs-flag", current && "jxs-current", flag.set !== null && "jxs-set"].filter(Boolean).join(" ");
  const tabIndex = current ? 0 : -1;
  const choices = flag.values.length > 0 && (current || flag.type !== "bool");
  return (
    <div role="row" aria-selected={current} id={id} class={classes} data-flag={flag.name} onClick={onPick}>
      <code role="rowheader" class="jxs-flag-name jxs-anywhere">
        {flag.name}
      </code>
      <span role="gridcell" class="jxs-flag-type">{flag.type ?? "not checked"}</span>
      <span role="gridcell" class="jxs-flag-now">
        {flag.set !== null && <b class={isChanged(flag) ? "jxs-changed" : ""}>{said(flag.set)}</b>}
        <span class="jxs-dim" title={flag.fallback ?? undefined}>
          {flag.set !== null && flag.type !== null && "default "}
          {(flag.set === null || flag.type !== null) && said(flag.fallback)}
        </span>
      </span>
      {canSet(flag) && (
        <span role="gridcell" class="jxs-flag-copy">
          <IconButton icon="copy" label={`Copy ${onLine(flag)}`} tabIndex={tabIndex} onClick={() => onCopy()} />
        </span>
      )}
      {choices && <Values flag={flag} tabIndex={tabIndex} onCopy={onCopy} />}
      {current && <Hint flag={flag} />}
    </div>
  );
}

/** What XLA was given for this program, with what set it. */
function ReceivedTable({ table: { received, unknown, rest } }: { table: FlagTable }) {
  if (unknown) return <p class="jxs-note">{unknown}.</p>;
  return (
    <section class="jxs-received" tabIndex={0} aria-label="what XLA was given">
      <h4>What XLA was given</h4>
      {received.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">option</th>
              <th scope="col">value</th>
              <th scope="col">default</th>
              <th scope="col">from</th>
              <th scope="col">remarks</th>
            </tr>
          </thead>
          <tbody>
            {received.map(({ name, value, fallback, from, by, note }, at) => (
              <tr key={at} data-option={name} data-from={from}>
                <th scope="row" class="jxs-anywhere">{name}</th>
                <td class="jxs-anywhere"><b>{said(value)}</b></td>
                <td class="jxs-anywhere jxs-dim">{said(fallback)}</td>
                <td>{by === from || !by ? from : `${from}: ${by}`}</td>
                <td class="jxs-anywhere jxs-remarks"><Said text={note} /></td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {rest && <p class="jxs-dim">{rest}</p>}
    </section>
  );
}

function Filters({ flags, kind, onPick }: { flags: Flag[]; kind: Kind | null; onPick: (kind: Kind | null) => void }) {
  return (
    <span class="jxs-group" role="group" aria-label="show only">
      {KINDS.map((one) => (
        <button
          type="button"
          class="jxs-toggle"
          key={one}
          aria-pressed={kind === one}
          onClick={() => onPick(kind === one ? null : one)}
        >
          {one} <span class="jxs-dim">{flags.filter((flag) => isOf(one, flag)).length}</span>
        </button>
      ))}
    </span>
  );
}

function about(table: FlagTable, shown: number, similar: boolean, kind: Kind | null): string {
  if (!table.flags.length) return "";
  if (!shown) return kind === "set here" ? "This call sets no options." : "No matching flags.";
  if (similar) return "No exact match; similar flags:";
  return `${shown === table.flags.length ? "" : `${shown} of `}${table.flags.length} flags`;
}

let lists = 0;

function Browser({ table }: { table: FlagTable }) {
  const selection = useSelection();
  const [query, setQuery] = useState("");
  const [kind, setKind] = useState<Kind | null>(null);
  const [at, setAt] = useState(0);
  const [id] = useState(() => `jxs-flags-${lists++}`);
  const box = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const { flags, similar } = useMemo(() => matching(table.flags, query, kind), [table, query, kind]);
  const current = Math.min(at, flags.length - 1);
  useEffect(() => {
    const row = list.current?.children[current] as HTMLElement | undefined;
    if (row && list.current) reveal(list.current, row);
  }, [current, flags]);
  const take = (flag: Flag | undefined, value?: string) => {
    if (flag && canSet(flag)) void copy(selection, onLine(flag, value), Promise.resolve(onLine(flag, value)));
  };
  const key = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[event.key];
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (step) setAt(Math.max(0, Math.min(current + step, flags.length - 1)));
    else if (event.key === "Enter" && event.target === box.current) take(flags[current]);
    else if (event.key === "Escape" && query) setQuery("");
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="jxs-options-view jxs-column" onKeyDown={key}>
      <ReceivedTable table={table} />
      <div class="jxs-options-bar jxs-strip">
        <input
          ref={box}
          type="search"
          spellcheck={false}
          placeholder="Search XLA's flags"
          aria-label="Search XLA's flags; arrows move, Enter copies"
          aria-controls={id}
          aria-activedescendant={flags.length ? `${id}-${current}` : undefined}
          value={query}
          onInput={(e) => {
            setQuery((e.target as HTMLInputElement).value);
            setAt(0);
          }}
        />
        <Filters flags={table.flags} kind={kind} onPick={(one) => (setKind(one), setAt(0))} />
        <span class="jxs-dim jxs-flag-count" role="status">
          {about(table, flags.length, similar, kind)}
        </span>
        {selection.summary?.worker && <WorkerLog />}
      </div>
      {table.problem && (
        <p class="jxs-note">{table.problem}, so there is no list of flags; only XLA checks their names.</p>
      )}
      {kind === "tpu" && (
        <p class="jxs-note">
          libtpu's own list of flags cannot be read; other flags that start with xla_tpu_ are passed through unchecked.
        </p>
      )}
      <div class="jxs-flags" role="grid" aria-label="XLA's flags" id={id} ref={list} tabIndex={-1}>
        {flags.map((flag, i) => (
          <Row
            key={flag.name}
            id={`${id}-${i}`}
            flag={flag}
            current={i === current}
            onCopy={(value) => take(flag, value)}
            onPick={() => setAt(i)}
          />
        ))}
      </div>
    </div>
  );
}

/** Scrolls the list alone, never the notebook around it. */
function reveal(list: HTMLElement, row: HTMLElement): void {
  const [box, at] = [list.getBoundingClientRect(), row.getBoundingClientRect()];
  if (at.top < box.top) list.scrollTop -= box.top - at.top;
  else if (at.bottom > box.bottom) list.scrollTop += at.bottom - box.bottom;
}

/** The flag browser: every flag of this jaxlib, what holds where nothing is set, and what the call sets. */
export default function OptionsView() {
  const question = useQuestion("flags", {}, readFlags);
  if (!question.value) return <Waiting question={question} what="Reading XLA's flags" />;
  return <Browser table={question.value} />;
}
