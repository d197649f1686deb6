import { render } from "preact";
import { newLayout } from "../model/layout";
import type { Session } from "../model/session";
import { LayoutContext } from "../parts/layout";
import { App } from "../shell/app";

/** Draws a session into an element, in a layout of its own; gives what takes it away again. */
export function mount(session: Session, parent: HTMLElement, layout = newLayout()): () => void {
  const root = document.createElement("div");
  root.className = "jaxstage";
  root.dataset.lmSuppressShortcuts = "true";
  parent.append(root);
  render(
    <LayoutContext.Provider value={layout}>
      <App session={session} layout={layout} root={root} />
    </LayoutContext.Provider>,
    root,
  );
  return () => {
    render(null, root);
    root.remove();
  };
}
