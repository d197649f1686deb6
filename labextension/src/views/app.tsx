import { Fragment } from "preact";
import { useEffect } from "preact/hooks";
import { toggle } from "../actions";
import { openPanes } from "../panes";
import type { Session } from "../session";
import { DetailStrip } from "./detailStrip";
import { Header } from "./header";
import { Help } from "./help";
import { useKernelState, useShared, useWidth } from "./hooks";
import { Pane } from "./pane";
import { openSearch } from "./searchBar";
import { HeightHandle, Splitter } from "./splitter";
import { Toolbar } from "./toolbar";

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

function command(event: KeyboardEvent, root: HTMLElement, session: Session): boolean {
  const { store } = session;
  const control = event.ctrlKey || event.metaKey;
  const search = () => openSearch(session.loaded(store.get().active), root);
  if (event.key === "Escape") return escape(session);
  if (control && event.key === "f") return search(), true;
  if (event.altKey && event.key === "ArrowLeft") return session.goBack(), true;
  if (control || event.altKey || (event.target as HTMLElement).matches("input, select, textarea")) return false;
  const keys: Record<string, () => void> = {
    "/": search,
    "?": () => store.set({ help: !store.get().help }),
    s: () => store.set({ stack: !store.get().stack }),
    z: () => void toggleFull(root, session),
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

function Panes({ session, open }: { session: Session; open: string[] }) {
  const widths = useShared(session, (s) => s.widths);
  const height = useShared(session, (s) => s.height);
  const holding = useShared(session, (s) => s.selected !== null);
  const docs = open.flatMap((kind) => session.doc(kind) ?? []);
  if (!docs.length) return <div class="jxs-panes jxs-no-panes" />;
  const lines = docs.map((doc) => doc.info.lines);
  const style = {
    "--jxs-lines": String(Math.max(...lines)),
    "--jxs-all-lines": String(lines.reduce((a, b) => a + b)),
    ...(height !== null && { height: `${height}px` }),
  };
  return (
    <div class={holding ? "jxs-panes jxs-holding" : "jxs-panes"} style={style}>
      {docs.map((doc, i) => {
        const before = docs[i - 1];
        return (
          <Fragment key={`${doc.call}/${doc.kind}`}>
            {before && <Splitter session={session} left={before.kind} right={doc.kind} />}
            <Pane doc={doc} session={session} weight={widths[doc.kind] ?? 1} />
          </Fragment>
        );
      })}
    </div>
  );
}

export function App({ session, root }: { session: Session; root: HTMLElement }) {
  useKernelState(session);
  useKeys(root, session);
  useFadingMessage(session);
  const width = useWidth(root);
  const chosen = useShared(session, (s) => s.panes);
  const help = useShared(session, (s) => s.help);
  const large = useShared(session, (s) => s.large);
  useShared(session, (s) => s.call);
  useEffect(() => void root.classList.toggle("jxs-large", large), [large]);
  const open = openPanes(chosen, session.summary?.documents ?? [], width);
  return (
    <>
      <Header session={session} />
      {open.length > 0 && (
        <>
          <Toolbar session={session} open={open} onFull={() => void toggleFull(root, session)} />
          <Panes session={session} open={open} />
          <DetailStrip session={session} />
          <HeightHandle session={session} />
        </>
      )}
      {help && <Help session={session} />}
    </>
  );
}
