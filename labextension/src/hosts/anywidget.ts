/** The panel as an anywidget; its stub imports this script, see stub.ts. */

import { SESSIONS } from "../model/sessions";
import type { PanelWidget } from "../wire/panelModule";
import type { Model } from "../wire/source";
import { mount } from "./mount";

export { addStyle } from "../parts/pageStyle";

/**
 * Called once a model. Views come and go and each gets a proxy of its own, so the session is that of the
 * model given to `initialize`: a view drawn again finds everything as it was.
 */
export function widget(): PanelWidget {
  let own: Model | null = null;
  const sessionOf = (model: Model) => SESSIONS.ofModel((own ??= model));
  return {
    initialize: ({ model }) => {
      sessionOf(model);
      return () => SESSIONS.forget(model);
    },
    render: ({ model, el }) => mount(sessionOf(model), el),
  };
}
