/** Host 1: the anywidget. */

import { mount } from "./mount";
import { Session } from "../model/session";
import { KernelSource, type Model } from "../wire/source";

/**
 * anywidget calls this once a model. Views come and go and each gets a proxy of its own, so the session hangs on the
 * model given to `initialize`: a view drawn again finds everything as it was.
 */
export default function widget() {
  let session: Session | null = null;
  const sessionOf = (model: Model) => {
    session ??= new Session(new KernelSource(model));
    return session;
  };
  return {
    initialize: ({ model }: { model: Model }) => void sessionOf(model),
    render: ({ model, el }: { model: Model; el: HTMLElement }) => mount(sessionOf(model), el),
  };
}
