import { Fragment } from "preact";
import { useEffect } from "preact/hooks";
import { openPanes } from "../../parts/panes";
import { DetailStrip } from "../../parts/detailStrip";
import { useDocuments, useLayout, useLayoutStore, useSelected } from "../../parts/hooks";
import { Pane } from "../../parts/pane";
import { Splitter } from "../../parts/splitter";
import type { TabProps } from "../tab";
import { Toolbar } from "./toolbar";

function Panes({ open }: { open: string[] }) {
  const documents = useDocuments();
  const widths = useLayout((s) => s.widths);
  const height = useLayout((s) => s.height);
  const holding = useSelected((s) => s.selected !== null);
  const docs = open.flatMap((kind) => documents.doc(kind) ?? []);
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
            <Pane doc={doc} weight={widths[doc.kind] ?? 1} />
          </Fragment>
        );
      })}
    </div>
  );
}

/** The documents side by side, linked. */
export default function CodeView({ width, onFull }: TabProps) {
  const documents = useDocuments();
  const chosen = useLayout((s) => s.panes);
  const active = useSelected((s) => s.active);
  const more = useSelected((s) => s.librarySource);
  const layout = useLayoutStore();
  useEffect(() => {
    if (more && chosen && !chosen.includes(more.kind)) layout.set({ panes: [...chosen, more.kind] });
  }, [more]);
  const open = openPanes(chosen, documents.listed, width, active);
  return (
    <>
      <Toolbar open={open} onFull={onFull} />
      <Panes open={open} />
      <DetailStrip />
    </>
  );
}
