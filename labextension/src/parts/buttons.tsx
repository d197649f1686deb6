import { useLayoutStore, useSelected } from "./hooks";
import { IconButton } from "./icons";

export function LinkButton({ text, onClick }: { text: string; onClick: () => void }) {
  return (
    <button type="button" class="jxs-link" onClick={onClick}>
      {text}
    </button>
  );
}

export function Message() {
  const message = useSelected((s) => s.message);
  return <span role="status">{message && <span class="jxs-message">{message}</span>}</span>;
}

/** What concerns the whole panel. */
export function PanelButtons({ onFull }: { onFull: () => void }) {
  const layout = useLayoutStore();
  return (
    <span class="jxs-buttons">
      <IconButton icon="help" label="Keys (?)" onClick={() => layout.set({ help: true })} />
      <IconButton icon="full" label="Full screen (z)" onClick={onFull} />
    </span>
  );
}
