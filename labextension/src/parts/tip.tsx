interface TipProps {
  x: number;
  y: number;
  width: number;
  /** Without any there is no tip. */
  lines: string[];
}

/**
 * What the pointer or the keyboard is on, beside it, and read out. Screen readers hear a change of what is on the page
 * already: it is mounted while it says nothing.
 */
export function Tip({ x, y, width, lines: [head, ...rest] }: TipProps) {
  const style = { top: `${y + 14}px`, ...(x < width / 2 ? { left: `${x + 12}px` } : { right: `${width - x + 12}px` }) };
  return (
    <div role="status">
      {head !== undefined && (
        <div class="jxs-tip jxs-anywhere jxs-column" style={style}>
          <b>{head}</b>
          {rest.map((line) => (
            <span key={line}>{line}</span>
          ))}
        </div>
      )}
    </div>
  );
}
