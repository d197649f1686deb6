/** A sentence of the kernel's, in which what stands between back-quotes is code. */
export function Said({ text }: { text: string }) {
  const parts = text.split("`");
  return <>{parts.length % 2 ? parts.map((part, at) => (at % 2 ? <code key={at}>{part}</code> : part)) : text}</>;
}

/** The same where nothing can be set as code: in a tooltip. */
export const unquoted = (text: string | null | undefined): string | undefined => text?.replaceAll("`", "");
