import { render } from "preact";
import { MOUNTED } from "../model/mounted";
import type { Session } from "../model/session";
import { VIEW_STATES } from "../model/viewStates";
import { LayoutContext, SessionContext } from "../parts/hooks";
import { keepOwnKeys } from "../parts/ownKeys";
import { styleWhere } from "../parts/pageStyle";
import { App } from "../shell/app";

/** Draws a session into an element, in a layout of its own; gives what takes it away again. */
export function mount(session: Session, parent: HTMLElement, layout = VIEW_STATES.open(session)): () => void {
  const root = document.createElement("div");
  root.className = "jaxstage";
  const releaseKeys = keepOwnKeys(root);
  parent.append(root);
  const unstyle = styleWhere(root);
  let drawn: string | null = null;
  /** Views keep what they have read, so that those of a new run are drawn anew. */
  const draw = () => {
    if (drawn === session.panel.state.run) return;
    drawn = session.panel.state.run;
    render(
      <SessionContext.Provider value={session}>
        <LayoutContext.Provider value={layout}>
          <App key={drawn} layout={layout} root={root} />
        </LayoutContext.Provider>
      </SessionContext.Provider>,
      root,
    );
  };
  const ignore = session.panel.onChange(draw);
  draw();
  const remove = MOUNTED.add({ session, root });
  const leave = VIEW_STATES.watch(session, layout);
  return () => {
    ignore();
    leave();
    remove();
    releaseKeys();
    unstyle();
    render(null, root);
    root.remove();
  };
}
