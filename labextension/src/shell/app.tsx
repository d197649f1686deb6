import { TABS } from "jaxstage:tabs";
import { useEffect, useRef } from "preact/hooks";
import { showMachineCode, toggle } from "../model/actions";
import type { Layout } from "../model/layout";
import type { Store } from "../model/observable";
import { focused } from "../parts/focused";
import { useDocuments, useKept, useLayout, usePanel, useSelected, useSelection, useWidth } from "../parts/hooks";
import { Header } from "./header";
import { Help } from "./help";
import { isOwnKey } from "../parts/ownKeys";
import { openSearch } from "../parts/searchBar";
import { HeightHandle } from "../parts/splitter";
import { Tabs, openTab, tabsOf } from "./tabBar";
import type { Tab, TabProps } from "../tabs/tab";
import { loadedView } from "./loaded";
import { nextWarning } from "./warnings";
import type { Documents } from "../model/documents";
import type { Selection } from "../model/selection";
import type { Kept } from "../model/kept";
import { BUILD } from "jaxstage:build";
import { offered } from "../wire/panelModule";

const MISSING = "With the JupyterLab extension (comes with pip install jaxstage-ext, reload the page) lines light up in the cells.";
const OTHER = "The JupyterLab extension is of another version of JAXStage: update jaxstage-ext beside JupyterLab, reload the page, and lines light up in the cells.";

/** JupyterLab and Notebook 7 have it in their pages; other hosts know no such extension. */
const isJupyter = (): boolean => document.getElementById("jupyter-config-data") !== null;

/** What the JupyterLab extension would add, in Jupyter pages where the panel is drawn without it. */
function MissingExtension() {
  const extension = offered();
  if (!isJupyter() || extension?.version === BUILD) return null;
  return <p class="jxs-extension jxs-dim">{extension ? OTHER : MISSING}</p>;
}

/** The browser's full screen; where it is refused, the whole window. */
async function toggleFull(root: HTMLElement, layout: Store<Layout>): Promise<void> {
  if (document.fullscreenElement === root) return document.exitFullscreen();
  if (layout.get().large) return layout.set({ large: false });
  try {
    await root.requestFullscreen();
  } catch {
    layout.set({ large: true });
  }
  return undefined;
}

function escape(selection: Selection, layout: Store<Layout>): boolean {
  const { help, large, stack } = layout.get();
  if (help) layout.set({ help: false });
  else if (stack) layout.set({ stack: false });
  else if (selection.get().selected) selection.set({ selected: null, hover: null });
  else if (large) layout.set({ large: false });
  else return false;
  return true;
}

/** The search box of a view that is not the code. */
const SEARCH = '.jxs-view input[type="search"]';

function searchView(root: HTMLElement): void {
  const box = root.querySelector<HTMLInputElement>(SEARCH);
  box?.focus({ preventScroll: true });
  box?.select();
}

function command(event: KeyboardEvent, root: HTMLElement, documents: Documents, selection: Selection, kept: Kept, layout: Store<Layout>): boolean {
  const control = event.ctrlKey || event.metaKey;
  const tabs = tabsOf(selection.summary);
  const inCode = openTab(selection.summary, selection.get().view) === "code";
  const search = () => (inCode ? openSearch(documents.loaded(selection.get().active), root) : searchView(root));
  if (event.key === "Escape") return escape(selection, layout);
  if (control && event.key === "f") return search(), true;
  if (inCode && event.altKey && event.key === "ArrowLeft") return selection.goBack(), true;
  if (control || event.altKey || (event.target as HTMLElement).matches("input, select, textarea")) return false;
  const view = tabs[Number(event.key) - 1];
  if (view && tabs.length > 1) return selection.set({ view }), true;
  const keys: Record<string, () => void> = {
    "/": search,
    "?": () => layout.set({ help: !layout.get().help }),
    s: () => inCode && layout.set({ stack: !layout.get().stack }),
    z: () => void toggleFull(root, layout),
    k: () => showMachineCode(selection),
    w: () => nextWarning(selection, kept),
    t: () => toggle(selection, "types"),
    l: () => toggle(selection, "layouts"),
    m: () => toggle(selection, "metadata"),
  };
  keys[event.key]?.();
  return event.key in keys;
}

/** Gives the keyboard to what holds the panel: in a notebook its cell. */
const leave = (root: HTMLElement) => root.parentElement?.closest<HTMLElement>("[tabindex]")?.focus({ preventScroll: true });

/** The panel's keys end here: the notebook around it must not take them for commands. */
function useKeys(root: HTMLElement, layout: Store<Layout>): void {
  const documents = useDocuments();
  const selection = useSelection();
  const kept = useKept();
  useEffect(() => {
    const listener = (event: KeyboardEvent) => {
      if (command(event, root, documents, selection, kept, layout)) event.preventDefault();
      else if (event.key === "Escape") leave(root);
      if (isOwnKey(event)) event.stopPropagation();
    };
    root.addEventListener("keydown", listener);
    return () => root.removeEventListener("keydown", listener);
  }, [root, selection]);
}

const MESSAGE_MS = 4000;

function useFadingMessage(): void {
  const selection = useSelection();
  const message = useSelected((s) => s.message);
  useEffect(() => {
    if (!message) return undefined;
    const timer = setTimeout(() => selection.say(""), MESSAGE_MS);
    return () => clearTimeout(timer);
  }, [message]);
}

/**
 * The keyboard stays in the panel when what it was in goes away with its view: in the code, else on the tab, where the
 * next number opens another. Another view of the panel takes none.
 */
function useFocusIn(root: HTMLElement, view: string): void {
  const selection = useSelection();
  const before = useRef(view);
  const mine = useRef(false);
  useEffect(() => {
    const heard = (event: FocusEvent) => (mine.current = event.composedPath().includes(root));
    document.addEventListener("focusin", heard);
    return () => document.removeEventListener("focusin", heard);
  }, [root]);
  useEffect(() => {
    if (before.current === view) return;
    before.current = view;
    const at = focused(root);
    const isOnTab = root.contains(at) && at?.getAttribute("role") === "tab";
    if (!mine.current || (root.contains(at) && !isOnTab)) return;
    const { active } = selection.get();
    const own = isOnTab ? "" : view === "code" ? `[data-doc="${active}"] .jxs-code` : "";
    const tab = '[role="tab"][aria-selected="true"]';
    const place = (own && root.querySelector<HTMLElement>(own)) || root.querySelector<HTMLElement>(tab);
    place?.focus({ preventScroll: true });
  }, [root, view]);
}

function OpenTab({ name, ...props }: TabProps & { name: string }) {
  const selection = useSelection();
  const height = useLayout((s) => s.height);
  const { component: View = loadedView(name), bare, tall, title } = TABS[name] as Tab;
  if (bare) {
    return (
      <div class="jxs-bare" role="tabpanel" aria-label={title}>
        <View {...props} />
      </div>
    );
  }
  const style = height === null ? {} : { height: `${height}px`, maxHeight: "none" };
  return (
    <div class={tall ? "jxs-view jxs-column jxs-tall" : "jxs-view jxs-column"} role="tabpanel" aria-label={title} data-view={name} style={style}>
      <View key={selection.call} {...props} />
    </div>
  );
}

interface Props {
  layout: Store<Layout>;
  root: HTMLElement;
}

export function App({ layout, root }: Props) {
  const selection = useSelection();
  usePanel();
  useKeys(root, layout);
  useFadingMessage();
  const width = useWidth(root);
  const help = useLayout((s) => s.help);
  const large = useLayout((s) => s.large);
  const chosen = useSelected((s) => s.view);
  useSelected((s) => s.call);
  useEffect(() => void root.classList.toggle("jxs-large", large), [large]);
  const tabs = tabsOf(selection.summary);
  const open = openTab(selection.summary, chosen);
  useFocusIn(root, open);
  const full = () => void toggleFull(root, layout);
  const filled = open !== "code" || (selection.summary?.documents.length ?? 0) > 0;
  return (
    <>
      <Header />
      {filled && (
        <>
          {tabs.length > 1 && <Tabs tabs={tabs} open={open} onFull={full} />}
          <OpenTab name={open} width={width} onFull={tabs.length > 1 ? null : full} />
          <HeightHandle />
          <MissingExtension />
        </>
      )}
      {help && <Help onClose={() => layout.set({ help: false })} />}
    </>
  );
}
