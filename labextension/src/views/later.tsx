/** Views whose script is not part of the panel's: every panel is sent its own, and few are looked at this way. */

import type { JSX } from "preact";
import { gunzip } from "../gzip";
import type { Session } from "../session";
import { SHARED } from "../shared";
import type { Reply } from "../source";
import { useLook } from "./look";
import { Waiting } from "./waiting";

type Component = (props: { session: Session }) => JSX.Element;

/** A script gives a function of what it shares with the panel; it is imported as the panel itself was. */
async function read(reply: Reply): Promise<{ component: Component }> {
  const script = await gunzip(reply.buffers[0] ?? new ArrayBuffer(0));
  const url = URL.createObjectURL(new Blob([script as BlobPart], { type: "text/javascript" }));
  try {
    return (await import(url)).default(SHARED);
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** The view that the kernel's script of this name draws. */
export function later(name: string): Component {
  return function Later({ session }) {
    const look = useLook(session, "script", { doc: name }, read);
    if (!look.value) return <Waiting look={look} what="Loading the view" />;
    const { component: View } = look.value;
    return <View session={session} />;
  };
}
