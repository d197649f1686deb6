/** The anywidget. */

import { SESSIONS } from "../model/sessions";
import type { Model } from "../wire/source";
import { mount } from "./mount";

/**
 * anywidget calls this once a model. Views come and go and each gets a proxy of its own, so the session is that of the
 * model given to `initialize`: a view drawn again finds everything as it was.
 */
export default function widget() {
  let own: Model | null = null;
  const sessionOf = (model: Model) => SESSIONS.ofModel((own ??= model));
  return {
    initialize: ({ model }: { model: Model }) => {
      sessionOf(model);
      return () => SESSIONS.forget(model);
    },
    render: ({ model, el }: { model: Model; el: HTMLElement }) => mount(sessionOf(model), el),
  };
}
