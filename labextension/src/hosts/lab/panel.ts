/** The panel with the views of all tabs and its style. */

import { VIEWS } from "jaxstage:views";
import { STYLE } from "jaxstage:style";
import { TABS } from "jaxstage:tabs";
import { addStyle } from "../../parts/pageStyle";

for (const [name, component] of Object.entries(VIEWS)) Object.assign(TABS[name] ?? {}, { component });

addStyle("panel", STYLE);

export { widget } from "../anywidget";
export { MOUNTED } from "../../model/mounted";
export { SESSIONS } from "../../model/sessions";
export { SavedSource } from "../../wire/savedForm";
export { mount } from "../mount";
