/** Inside a shadow root, as marimo draws widgets, the page's own active element is the root's host. */

/** The focused element as the part of the page that holds this node names it. */
export const focused = (node: Node): Element | null => (node.getRootNode() as Document).activeElement;
