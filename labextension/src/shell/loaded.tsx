/** Tabs whose script is not part of the panel's: every panel is sent its own, and few tabs are opened. */

import { SHARED } from "jaxstage:shared";
import { useQuestion } from "../parts/useQuestion";
import { Waiting } from "../parts/waiting";
import type { View } from "../tabs/tab";
import { gunzip } from "../wire/gzip";
import type { Reply } from "../wire/source";

/** A script gives a function of what it shares with the panel; it is imported as the panel itself was. */
async function read(reply: Reply): Promise<{ view: View }> {
  const script = await gunzip(reply.buffers[0] ?? new ArrayBuffer(0));
  const url = URL.createObjectURL(new Blob([script as BlobPart], { type: "text/javascript" }));
  try {
    return { view: (await import(url)).default(SHARED).default };
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
    const question = useQuestion(props.session, "script", { doc: name }, read);
    if (!question.value) return <Waiting question={question} what="Loading the view" />;
    const { view: View } = question.value;
    return <View {...props} />;
  };
  loaded.set(name, made);
  return made;
}
