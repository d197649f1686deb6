// Functions of what has the keyboard's focus, and of what Tab must lead to.
(() => {
  const CONTROLS = 'button, input, select, summary, a[href], [tabindex]';
  const rgba = (colour) => {
    const canvas = new OffscreenCanvas(1, 1).getContext('2d');
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = ([r, g, b, a], ground) => [r, g, b].map((part, i) => part * a + ground[i] * (1 - a));
  const ground = (node) => {
    const layers = [];
    for (let at = node; at; at = at.parentElement) layers.unshift(rgba(getComputedStyle(at).backgroundColor));
    return layers.reduce((below, layer) => over(layer, below), [255, 255, 255]);
  };
  const light = (rgb) => {
    const [r, g, b] = rgb.map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
  const isSeen = (node) => node.checkVisibility({ visibilityProperty: true }) && node.getClientRects().length > 0;
  const isOption = (node) => node.closest('details:not([open])') && node.tagName !== 'SUMMARY';
  window.tabWalk = {
    /** The controls that Tab must lead to, each numbered, in the order of the page. */
    number: (panel) => {
      panel.querySelectorAll('[data-stop]').forEach((node) => delete node.dataset.stop);
      const stops = [...panel.querySelectorAll(CONTROLS)].filter((node) => node.tabIndex >= 0 && !node.disabled && isSeen(node) && !isOption(node));
      stops.forEach((node, i) => (node.dataset.stop = String(i)));
      return stops.map((node) => (node.getAttribute('aria-label') || node.innerText || node.className).slice(0, 60));
    },
    /** The number of the focused control, -1 outside the panel; and how its focus can be seen. */
    now: (panel) => {
      const node = document.activeElement;
      if (!panel.contains(node)) return { stop: -1 };
      const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(node);
      const width = outlineStyle === 'none' ? 0 : Number.parseFloat(outlineWidth);
      return { stop: Number(node.dataset.stop ?? -2), width, contrast: contrast(rgba(outlineColor), ground(node)) };
    },
  };
})();
