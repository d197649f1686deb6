/** Tabs whose script is not part of the panel's: every panel is sent its own, and few tabs are opened. */

import { SHARED } from "jaxstage:shared";
import { useQuestion } from "../parts/useQuestion";
import { Waiting } from "../parts/waiting";
import type { View } from "../tabs/tab";
import { gunzip } from "../wire/gzip";
import type { Reply } from "../wire/source";

/** Puts a tab's style into the page, once; in a layer, whose place the panel's own style has fixed. */
function addStyle(name: string, style: string): void {
  const known = document.head.querySelector(`style[data-jaxstage-tab="${name}"]`);
  const sheet = known ?? document.head.appendChild(document.createElement("style"));
  sheet.setAttribute("data-jaxstage-tab", name);
  if (sheet.textContent !== style) sheet.textContent = style;
}

/** A script gives a function of what it shares with the panel; it is imported as the panel itself was. */
async function read(name: string, reply: Reply): Promise<{ view: View }> {
  const script = await gunzip(reply.buffers[0] ?? new ArrayBuffer(0));
  const url = URL.createObjectURL(new Blob([script as BlobPart], { type: "text/javascript" }));
  try {
    const { default: view, style } = (await import(url)).default(SHARED);
    addStyle(name, String(style ?? ""));
    return { view };
  } finally {
    URL.revokeObjectURL(url);
  }
}

const loaded = new Map<string, View>();

/** The view that the kernel's script of this name draws. */
export function loadedView(name: string): View {
  const known = loaded.get(name);
  if (known) return known;
  const made: View = function Loaded(props) {
    const question = useQuestion(props.session, "script", { doc: name }, (reply) => read(name, reply));
    if (!question.value) return <Waiting question={question} what="Loading the view" />;
    const { view: View } = question.value;
    return <View {...props} />;
  };
  loaded.set(name, made);
  return made;
}
