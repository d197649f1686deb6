const PATHS = {
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9M10.4 10.4 14 14",
  copy: "M5.5 5.5V2.5h8v8h-3M2.5 5.5h8v8h-8z",
  fold: "M4 2.5l4 4 4-4M4 13.5l4-4 4 4",
  unfold: "M4 6l4-4 4 4M4 10l4 4 4-4",
  full: "M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10",
  close: "M3.5 3.5l9 9M12.5 3.5l-9 9",
  up: "M3.5 10 8 5.5l4.5 4.5",
  down: "M3.5 6 8 10.5 12.5 6",
  back: "M7 3 2.5 8 7 13M2.5 8h11",
  help: "M5.6 6a2.4 2.4 0 1 1 3.4 2.2c-.7.3-1 .8-1 1.6M8 12.4v.6",
  stack: "M2.5 5 8 2l5.5 3L8 8zM2.5 8 8 11l5.5-3M2.5 11 8 14l5.5-3",
  goto: "M3 8h9M8.5 4l4 4-4 4",
};

function Icon({ name }: { name: keyof typeof PATHS }) {
  return (
    <svg class="jxs-icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}

interface ButtonProps {
  icon: keyof typeof PATHS;
  label: string;
  onClick: () => void;
  pressed?: boolean;
  disabled?: boolean | undefined;
  /** -1 where arrows lead to it, not Tab. */
  tabIndex?: number;
}

export function IconButton({ icon, label, onClick, pressed, disabled, tabIndex }: ButtonProps) {
  return (
    <button
      type="button"
      class="jxs-button jxs-icon-button"
      title={label}
      aria-label={label}
      aria-pressed={pressed}
      disabled={disabled}
      tabIndex={tabIndex}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  );
}
