import { TABS } from "jaxstage:tabs";
import { useEffect, useRef } from "preact/hooks";
import { Message, PanelButtons } from "../parts/buttons";
import { focused } from "../parts/focused";
import { useSelection } from "../parts/hooks";
import type { Summary } from "../wire/state";

/** The names of a call's tabs, in Python's order. */
export function tabsOf(summary: Summary | null): string[] {
  return (summary?.views ?? ["code"]).filter((name) => Object.hasOwn(TABS, name));
}

/** The tab that is open: the one chosen; before that the one that the kernel proposes; else the first, which is the code of a call. */
export function openTab(summary: Summary | null, chosen: string): string {
  const tabs = tabsOf(summary);
  const wanted = [chosen, summary?.open ?? "", "code"].find((name) => tabs.includes(name));
  return wanted ?? tabs[0] ?? "code";
}

const STEPS: Record<string, (at: number, last: number) => number> = {
  ArrowRight: (at, last) => (at === last ? 0 : at + 1),
  ArrowLeft: (at, last) => (at === 0 ? last : at - 1),
  Home: () => 0,
  End: (_, last) => last,
};

/** Arrows move among the tabs and open none: to open one may mean to compile. */
function move(event: KeyboardEvent): void {
  const tabs = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('[role="tab"]')];
  const at = tabs.indexOf(focused(event.currentTarget as Node) as HTMLElement);
  const step = STEPS[event.key];
  if (!step || at < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
  tabs[step(at, tabs.length - 1)]?.focus();
  event.preventDefault();
  event.stopPropagation();
}

export function Tabs({ tabs, open, onFull }: { tabs: string[]; open: string; onFull: () => void }) {
  const selection = useSelection();
  const bar = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const at = bar.current?.querySelector<HTMLElement>('[aria-selected="true"]');
    if (at) bar.current?.scrollTo({ left: at.offsetLeft - at.offsetWidth });
  }, [open]);
  return (
    <div class="jxs-tabbar">
      <div class="jxs-tabs" ref={bar} role="tablist" aria-label="views" onKeyDown={move}>
        {tabs.map((name, i) => {
          const { title = name, hint = "" } = TABS[name] ?? {};
          return (
            <button
              type="button"
              role="tab"
              class="jxs-tab"
              key={name}
              data-view={name}
              title={i < 9 ? `${hint} (${i + 1})` : hint}
              aria-selected={name === open}
              tabIndex={name === open ? 0 : -1}
              onClick={() => selection.set({ view: name })}
            >
              {title}
            </button>
          );
        })}
      </div>
      <span class="jxs-grow" />
      {open !== "code" && <Message />}
      <PanelButtons onFull={onFull} />
    </div>
  );
}
