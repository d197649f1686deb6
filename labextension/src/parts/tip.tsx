/** What the pointer or the keyboard is on, beside it, and read out. */
export function Tip({ x, y, width, lines }: { x: number; y: number; width: number; lines: string[] }) {
  const [head, ...rest] = lines;
  const left = x < width / 2;
  const style = { top: `${y + 14}px`, ...(left ? { left: `${x + 12}px` } : { right: `${width - x + 12}px` }) };
  return (
    <div class="jxs-tip jxs-anywhere jxs-column" role="status" aria-live="polite" style={style} hidden={!lines.length}>
      <b>{head}</b>
      {rest.map((line) => (
        <span key={line}>{line}</span>
      ))}
    </div>
  );
}
