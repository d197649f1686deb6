import { TABS } from "jaxstage:tabs";
import { useEffect, useRef } from "preact/hooks";
import { showMachineCode, toggle } from "../model/actions";
import type { Session } from "../model/session";
import { Header } from "./header";
import { Help } from "./help";
import { useKernelState, useShared, useWidth } from "../parts/hooks";
import { openSearch } from "../parts/searchBar";
import { HeightHandle } from "../parts/splitter";
import { Tabs } from "./tabBar";
import { openTab, tabsOf } from "./tabs";
import type { Tab, TabProps } from "../tabs/tab";
import { loadedView } from "./loaded";
import { nextWarning } from "./warnings";

/** The browser's full screen; where it is refused, the whole window. */
async function toggleFull(root: HTMLElement, session: Session): Promise<void> {
  if (document.fullscreenElement === root) return document.exitFullscreen();
  if (session.store.get().large) return session.store.set({ large: false });
  try {
    await root.requestFullscreen();
  } catch {
    session.store.set({ large: true });
  }
  return undefined;
}

function escape(session: Session): boolean {
  const { help, large, stack, selected } = session.store.get();
  if (help) session.store.set({ help: false });
  else if (stack) session.store.set({ stack: false });
  else if (selected) session.store.set({ selected: null, hover: null });
  else if (large) session.store.set({ large: false });
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

function command(event: KeyboardEvent, root: HTMLElement, session: Session): boolean {
  const { store } = session;
  const control = event.ctrlKey || event.metaKey;
  const tabs = tabsOf(session.summary);
  const inCode = openTab(session.summary, store.get().view) === "code";
  const search = () => (inCode ? openSearch(session.loaded(store.get().active), root) : searchView(root));
  if (event.key === "Escape") return escape(session);
  if (control && event.key === "f") return search(), true;
  if (inCode && event.altKey && event.key === "ArrowLeft") return session.goBack(), true;
  if (control || event.altKey || (event.target as HTMLElement).matches("input, select, textarea")) return false;
  const view = tabs[Number(event.key) - 1];
  if (view && tabs.length > 1) return store.set({ view }), true;
  const keys: Record<string, () => void> = {
    "/": search,
    "?": () => store.set({ help: !store.get().help }),
    s: () => inCode && store.set({ stack: !store.get().stack }),
    z: () => void toggleFull(root, session),
    k: () => showMachineCode(session),
    w: () => nextWarning(session),
    t: () => toggle(session, "types"),
    l: () => toggle(session, "layouts"),
    m: () => toggle(session, "metadata"),
  };
  keys[event.key]?.();
  return event.key in keys;
}

/** Keys pressed in the panel are the panel's: the notebook around it must not take them for commands. */
function useKeys(root: HTMLElement, session: Session): void {
  useEffect(() => {
    const listener = (event: KeyboardEvent) => {
      if (command(event, root, session)) event.preventDefault();
      event.stopPropagation();
    };
    root.addEventListener("keydown", listener);
    return () => root.removeEventListener("keydown", listener);
  }, [root, session]);
}

const MESSAGE_MS = 4000;

function useFadingMessage(session: Session): void {
  const message = useShared(session, (s) => s.message);
  useEffect(() => {
    if (!message) return undefined;
    const timer = setTimeout(() => session.say(""), MESSAGE_MS);
    return () => clearTimeout(timer);
  }, [message]);
}

/** The keyboard stays in the panel when what it was in goes away with its view; another view of the panel takes none. */
function useFocusIn(root: HTMLElement, session: Session, view: string): void {
  const before = useRef(view);
  const mine = useRef(false);
  useEffect(() => {
    const heard = (event: FocusEvent) => (mine.current = root.contains(event.target as Node));
    document.addEventListener("focusin", heard);
    return () => document.removeEventListener("focusin", heard);
  }, [root]);
  useEffect(() => {
    if (before.current === view) return;
    before.current = view;
    if (!mine.current || root.contains(document.activeElement)) return;
    const { active } = session.store.get();
    const own = view === "code" ? `[data-doc="${active}"] .jxs-code` : SEARCH;
    const tab = '[role="tab"][aria-selected="true"]';
    const place = root.querySelector<HTMLElement>(own) ?? root.querySelector<HTMLElement>(tab);
    place?.focus({ preventScroll: true });
  }, [root, session, view]);
}

function OpenTab({ name, ...props }: TabProps & { name: string }) {
  const { session } = props;
  const height = useShared(session, (s) => s.height);
  const { component: View = loadedView(name), bare, tall, title } = TABS[name] as Tab;
  if (bare) return <View {...props} />;
  const style = height === null ? {} : { height: `${height}px`, maxHeight: "none" };
  return (
    <div class={tall ? "jxs-view jxs-tall" : "jxs-view"} role="tabpanel" aria-label={title} data-view={name} style={style}>
      <View {...props} key={session.call} />
    </div>
  );
}

export function App({ session, root }: { session: Session; root: HTMLElement }) {
  useKernelState(session);
  useKeys(root, session);
  useFadingMessage(session);
  const width = useWidth(root);
  const help = useShared(session, (s) => s.help);
  const large = useShared(session, (s) => s.large);
  const chosen = useShared(session, (s) => s.view);
  useShared(session, (s) => s.call);
  useEffect(() => void root.classList.toggle("jxs-large", large), [large]);
  const tabs = tabsOf(session.summary);
  const open = openTab(session.summary, chosen);
  useFocusIn(root, session, open);
  const full = () => void toggleFull(root, session);
  const filled = open !== "code" || (session.summary?.documents.length ?? 0) > 0;
  return (
    <>
      <Header session={session} />
      {filled && (
        <>
          {tabs.length > 1 && <Tabs session={session} tabs={tabs} open={open} onFull={full} />}
          <OpenTab name={open} session={session} width={width} onFull={tabs.length > 1 ? null : full} />
          <HeightHandle session={session} />
        </>
      )}
      {help && <Help session={session} />}
    </>
  );
}
