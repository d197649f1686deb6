import type { ComponentChildren } from "preact";

interface Props {
  label: string;
  placeholder?: string;
  value: string;
  onInput: (value: string) => void;
}

export function FilterBox({ label, placeholder = "Filter", value, onInput }: Props) {
  // the second Escape leaves the panel
  const clear = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || !value) return;
    event.preventDefault();
    event.stopPropagation();
    onInput("");
  };
  return (
    <input
      type="search"
      spellcheck={false}
      placeholder={placeholder}
      aria-label={label}
      value={value}
      onKeyDown={clear}
      onInput={(event) => onInput((event.target as HTMLInputElement).value)}
    />
  );
}

/** A box that filters the table below it, and what stands beside the box. */
export function FilterBar({ children, ...box }: Props & { children?: ComponentChildren }) {
  return (
    <div class="jxs-filter-bar jxs-strip">
      <FilterBox {...box} />
      {children && <span class="jxs-grow" />}
      {children}
    </div>
  );
}

export const NO_MATCHES = "No matches.";
