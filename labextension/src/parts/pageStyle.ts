/** Style sheets of ours in the page, each once. All are put there in one way, for the layers rank as they come. */

const adopted = new Map<string, CSSStyleSheet>();

function adopt(name: string, style: string): void {
  const known = adopted.get(name);
  const sheet = known ?? new CSSStyleSheet();
  sheet.replaceSync(style);
  if (known) return;
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
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
