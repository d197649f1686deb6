/** The panel's code: a script of its own, loaded when a panel is first drawn, once a page. */

export type PanelCode = typeof import("./panel");

let loading: Promise<PanelCode> | null = null;

export function panelCode(): Promise<PanelCode> {
  loading ??= import("./panel").catch((error: unknown) => {
    loading = null;
    throw error;
  });
  return loading;
}
