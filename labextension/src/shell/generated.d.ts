/** Modules that the build makes of the folders; see tabs.mjs. */

declare module "jaxstage:tabs" {
  export const TABS: Record<string, import("../tabs/tab").Tab>;
}

declare module "jaxstage:shared" {
  /** What scripts that are loaded later take from the panel's, by name. */
  export const SHARED: Record<string, unknown>;
}
