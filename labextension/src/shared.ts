/** What scripts that are loaded later take from this one, instead of a copy of their own. The build reads the list here. */

import * as hooks from "preact/hooks";
import * as jsx from "preact/jsx-runtime";
import * as actions from "./actions";
import * as columns from "./columns";
import * as figures from "./figures";
import * as gzip from "./gzip";
import * as highlight from "./highlight";
import * as links from "./links";
import * as rewrite from "./rewrite";
import * as detailStrip from "./views/detailStrip";
import * as geometry from "./views/geometry";
import * as viewHooks from "./views/hooks";
import * as icons from "./views/icons";
import * as look from "./views/look";
import * as pane from "./views/pane";
import * as rowView from "./views/rowView";
import * as waiting from "./views/waiting";
import * as workerLog from "./views/workerLog";

export const SHARED: Record<string, unknown> = {
  "preact/hooks": hooks,
  "preact/jsx-runtime": jsx,
  "./actions": actions,
  "./columns": columns,
  "./figures": figures,
  "./gzip": gzip,
  "./highlight": highlight,
  "./links": links,
  "./rewrite": rewrite,
  "./views/detailStrip": detailStrip,
  "./views/geometry": geometry,
  "./views/hooks": viewHooks,
  "./views/icons": icons,
  "./views/look": look,
  "./views/pane": pane,
  "./views/rowView": rowView,
  "./views/waiting": waiting,
  "./views/workerLog": workerLog,
};
