import { render } from "preact";
import type { Session } from "../model/session";
import { App } from "../shell/app";

/** Draws a session into an element; gives what takes it away again. */
export function mount(session: Session, parent: HTMLElement): () => void {
  const root = document.createElement("div");
  root.className = "jaxstage";
  root.dataset.lmSuppressShortcuts = "true";
  parent.append(root);
  render(<App session={session} root={root} />, root);
  return () => {
    render(null, root);
    root.remove();
  };
}
