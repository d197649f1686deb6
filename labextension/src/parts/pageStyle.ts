/** Style sheets of ours in the page, each once. All are put there in one way, for the layers rank as they come. */

const adopted = new Map<string, CSSStyleSheet>();
/** What draws panels: the page, and shadow roots, which the page's sheets do not reach. */
const roots = new Set<DocumentOrShadowRoot>([document]);

function give(root: DocumentOrShadowRoot, sheets: Iterable<CSSStyleSheet>): void {
  root.adoptedStyleSheets = [...new Set([...root.adoptedStyleSheets, ...sheets])];
}

function adopt(name: string, style: string): void {
  const known = adopted.get(name);
  const sheet = known ?? new CSSStyleSheet();
  sheet.replaceSync(style);
  if (known) return;
  for (const root of roots) give(root, [sheet]);
  adopted.set(name, sheet);
}

/** Where the browser adopts none, or the page's policy forbids it. */
function append(name: string, style: string): void {
  const known = document.head.querySelector(`style[data-jaxstage="${name}"]`);
  const sheet = known ?? document.head.appendChild(document.createElement("style"));
  sheet.setAttribute("data-jaxstage", name);
  if (sheet.textContent !== style) sheet.textContent = style;
}

/** Gives the style of that name to the page, or replaces it. */
export function addStyle(name: string, style: string): void {
  try {
    adopt(name, style);
  } catch {
    append(name, style);
  }
}

/** Gives the sheets, and those to come, to the shadow root that an element is in, if any; what is returned ends that. */
export function styleWhere(element: Element): () => void {
  const root = element.getRootNode();
  if (!(root instanceof ShadowRoot)) return () => {};
  roots.add(root);
  give(root, adopted.values());
  return () => roots.delete(root);
}
