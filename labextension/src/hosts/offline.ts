/** The offline page: its data stands in the page itself, and there is no kernel to load a tab's script from. */

import { STYLE, VIEWS } from "jaxstage:offline";
import { TABS } from "jaxstage:tabs";
import { SESSIONS } from "../model/sessions";
import { SavedSource } from "../wire/savedForm";
import { mount } from "./mount";

for (const [name, component] of Object.entries(VIEWS)) Object.assign(TABS[name] ?? {}, { component });

const style = document.createElement("style");
style.textContent = STYLE;
document.head.append(style);

const data = document.getElementById("jaxstage-data")?.textContent;
const parent = document.getElementById("jaxstage");
if (data && parent) mount(SESSIONS.ofReport("page", () => new SavedSource(JSON.parse(data))), parent);
