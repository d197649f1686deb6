/** Tabs whose script is not part of the panel's: every panel is sent its own, and few tabs are opened. */

import { SHARED } from "jaxstage:shared";
import { addStyle } from "../parts/pageStyle";
import { Waiting } from "../parts/waiting";
import type { View } from "../tabs/tab";
import { importScript } from "../wire/importScript";
import type { Reply } from "../wire/source";
import { useQuestion } from "../parts/hooks";

/** A script gives a function of what it shares with the panel, and its style: in a layer, whose place the panel's has fixed. */
async function read(name: string, reply: Reply): Promise<{ view: View }> {
  const script = (await importScript(reply.buffers[0] ?? new ArrayBuffer(0))) as { default(shared: typeof SHARED): { default: View; style: unknown } };
  const { default: view, style } = script.default(SHARED);
  addStyle(name, String(style ?? ""));
  return { view };
}

const loaded = new Map<string, View>();

/** The view that the kernel's script of this name draws. */
export function loadedView(name: string): View {
  const known = loaded.get(name);
  if (known) return known;
  const made: View = function Loaded(props) {
    const question = useQuestion("script", { doc: name }, (reply) => read(name, reply));
    if (!question.value) return <Waiting question={question} what="Loading the view" />;
    const { view: View } = question.value;
    return <View {...props} />;
  };
  loaded.set(name, made);
  return made;
}
