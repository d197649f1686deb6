/** The offline page: its data stands in the page itself, and there is no kernel to load a tab's script from. */

import { TABS } from "jaxstage:tabs";
import { Sessions } from "../model/sessions";
import CompareView from "../tabs/compare/view";
import { mount } from "./mount";

Object.assign(TABS.compare ?? {}, { component: CompareView });

const data = document.getElementById("jaxstage-data")?.textContent;
const parent = document.getElementById("jaxstage");
if (data && parent) mount(new Sessions().ofReport("page", JSON.parse(data)), parent);
