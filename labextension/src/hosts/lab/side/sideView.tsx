import type { ComponentChildren } from "preact";
import { useEffect, useReducer } from "preact/hooks";
import type { Inspections, Shown } from "./inspections";
import { InspectionsList, type ListActions } from "./list";

const WHAT_TO_TYPE = "%%compile";

function Note({ children }: { children: ComponentChildren }) {
  return <div class="jxs-side-note">{children}</div>;
}

function NotLoaded({ shown, onLoad }: { shown: Shown; onLoad: () => void }) {
  return (
    <Note>
      <p>JAXStage is not loaded in this notebook's kernel.</p>
      <p>
        <button type="button" class="jxs-button jxs-boxed jxs-side-primary" disabled={shown.isLoading} onClick={onLoad}>
          {shown.isLoading ? "Loading…" : "Load JAXStage"}
        </button>
      </p>
      <p class="jxs-dim">
        Or run <code>%load_ext jaxstage_ext</code> in a cell.
      </p>
    </Note>
  );
}

function Empty() {
  return (
    <Note>
      <p>No inspections yet.</p>
      <p class="jxs-dim">
        Write <code>{WHAT_TO_TYPE}</code> as the first line of a cell that calls a JAX function, and run it.
      </p>
    </Note>
  );
}

function Connecting({ shown }: { shown: Shown }) {
  return (
    <Note>
      <p class="jxs-dim" role="status">
        {shown.isWaiting ? "The kernel is busy; the list comes when it answers." : "Asking the kernel…"}
      </p>
    </Note>
  );
}

function Body({ shown, actions, onLoad }: { shown: Shown; actions: ListActions; onLoad: () => void }) {
  if (shown.place === "no notebook") return <Note><p>No notebook is open. Open one to see its inspections.</p></Note>;
  if (shown.place === "no kernel") return <Note><p>This notebook has no kernel. Start one to see its inspections.</p></Note>;
  if (shown.place === "not loaded") return <NotLoaded shown={shown} onLoad={onLoad} />;
  if (!shown.rows) return <Connecting shown={shown} />;
  if (!shown.rows.length) return <Empty />;
  return <InspectionsList rows={shown.rows} leftOut={shown.leftOut} actions={actions} />;
}

/** The side panel: what there is, or why there is nothing. */
export function SideView({ inspections, actions }: { inspections: Inspections; actions: ListActions }) {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  useEffect(() => inspections.onChange(() => redraw(undefined as never)), [inspections]);
  const { shown } = inspections;
  return (
    <div class="jxs-side-body jxs-column" data-place={shown.place}>
      <div class="jxs-side-title jxs-strip">
        <b>Inspections</b>
        <span class="jxs-cut jxs-dim" title={shown.notebook}>
          {shown.notebook}
        </span>
      </div>
      {shown.isRestarted && <p class="jxs-side-line" role="status">The kernel was restarted: its inspections are gone.</p>}
      {shown.rows && shown.isWaiting && <p class="jxs-side-line" role="status">The kernel is busy; the list may be out of date.</p>}
      {shown.problem && (
        <p class="jxs-side-line jxs-side-problem jxs-anywhere" role="alert">
          {shown.problem}
        </p>
      )}
      <Body shown={shown} actions={actions} onLoad={() => void inspections.load()} />
    </div>
  );
}
