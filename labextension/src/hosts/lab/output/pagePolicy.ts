/** Whether this page's Content-Security-Policy forbids the scripts of widgets, which anywidget imports from blob: addresses. */

let forbidsBlobs = false;

document.addEventListener("securitypolicyviolation", ({ blockedURI, effectiveDirective }) => {
  if (blockedURI.startsWith("blob") && effectiveDirective.startsWith("script-src")) forbidsBlobs = true;
});

/** Why a widget could not be drawn, in one line. */
export const blockedReason = (): string =>
  forbidsBlobs
    ? "The live panel is blocked: this server's Content-Security-Policy needs blob: in script-src for widgets."
    : "The live panel could not be drawn; the browser's console says why.";
