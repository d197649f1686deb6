/** The offline page: its data stands in the page itself. */

import { mount } from "./mount";
import { Session } from "../model/session";
import { EmbeddedSource } from "../wire/source";

const data = document.getElementById("jaxstage-data")?.textContent;
const parent = document.getElementById("jaxstage");
if (data && parent) mount(new Session(new EmbeddedSource(JSON.parse(data))), parent);
