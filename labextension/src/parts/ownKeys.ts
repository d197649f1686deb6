/** The keys that the panel keeps from the page around it; all others, such as Ctrl+S, are the page's as everywhere. */

const SUPPRESS = "data-lm-suppress-shortcuts";

/** Plain keys are the panel's, used or not: a slip among them must not cut a cell. With Ctrl, Cmd or Alt only those that it uses. */
export function isOwnKey(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey) return event.key === "f" && !event.altKey;
  if (event.altKey) return event.key === "ArrowLeft";
  if (event.key === "Enter") return !event.shiftKey;
  return !/^F\d+$/.test(event.key);
}

/** JupyterLab takes keys at the document, before they come to the panel, unless the element they go to forbids it. */
export function keepOwnKeys(root: HTMLElement): () => void {
  root.setAttribute(SUPPRESS, "true");
  const look = (event: KeyboardEvent) => {
    if (!event.composedPath().includes(root)) return;
    if (isOwnKey(event)) root.setAttribute(SUPPRESS, "true");
    else root.removeAttribute(SUPPRESS);
  };
  window.addEventListener("keydown", look, true);
  return () => window.removeEventListener("keydown", look, true);
}
