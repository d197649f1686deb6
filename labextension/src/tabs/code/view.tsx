import { Fragment } from "preact";
import { useEffect } from "preact/hooks";
import { openPanes } from "../../parts/panes";
import type { Session } from "../../model/session";
import { DetailStrip } from "../../parts/detailStrip";
import { useLayout, useLayoutStore } from "../../parts/layout";
import { useShared } from "../../parts/hooks";
import { Pane } from "../../parts/pane";
import { Splitter } from "../../parts/splitter";
import type { TabProps } from "../tab";
import { Toolbar } from "./toolbar";

function Panes({ session, open }: { session: Session; open: string[] }) {
  const widths = useLayout((s) => s.widths);
  const height = useLayout((s) => s.height);
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
            {before && <Splitter left={before.kind} right={doc.kind} />}
            <Pane doc={doc} session={session} weight={widths[doc.kind] ?? 1} />
          </Fragment>
        );
      })}
    </div>
  );
}

/** The documents side by side, linked. */
export default function CodeView({ session, width, onFull }: TabProps) {
  const chosen = useLayout((s) => s.panes);
  const active = useShared(session, (s) => s.active);
  const more = useShared(session, (s) => s.librarySource);
  const layout = useLayoutStore();
  useEffect(() => {
    if (more && chosen && !chosen.includes(more.kind)) layout.set({ panes: [...chosen, more.kind] });
  }, [more]);
  const open = openPanes(chosen, session.documents, width, active);
  return (
    <>
      <Toolbar session={session} open={open} onFull={onFull} />
      <Panes session={session} open={open} />
      <DetailStrip session={session} />
    </>
  );
}
