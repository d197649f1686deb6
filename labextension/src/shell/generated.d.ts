/** Modules that the build makes of the folders; see tabs.mjs. */

declare module "jaxstage:tabs" {
  export const TABS: Record<string, import("../tabs/tab").Tab>;
}

declare module "jaxstage:offline" {
  /** The views of the tabs that are not part of the panel, and their style. */
  export const VIEWS: Record<string, import("../tabs/tab").View>;
  export const STYLE: string;
}

declare module "jaxstage:views" {
  /** The views of all tabs that are not part of the panel. */
  export const VIEWS: Record<string, import("../tabs/tab").View>;
}

declare module "jaxstage:style" {
  /** The style of the panel and of all tabs. */
  export const STYLE: string;
}

declare module "jaxstage:side-style" {
  /** The style of the side panel and of the tabs beside a notebook. */
  export const SIDE_STYLE: string;
}

declare module "jaxstage:shared" {
  /** What scripts that are loaded later take from the panel's, by name. */
  export const SHARED: Record<string, unknown>;
}

declare module "jaxstage:build" {
  /** A name for the sources that this was built from. */
  export const BUILD: string;
}
