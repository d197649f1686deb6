import { scaled } from "../../wire/figures";
import { LOOKS, looksOf } from "./layoutMap";
import { KindMark } from "./legend";
import { COMPILED, ESTIMATE, FAILED, FITS, type Found, TOO_LARGE } from "./read";

const STEPS: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity };

/** Arrows go from row to row. */
function move(event: KeyboardEvent): void {
  const step = STEPS[event.key];
  if (!step || event.ctrlKey || event.altKey || event.metaKey) return;
  const rows = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>("button")];
  const at = rows.indexOf(event.target as HTMLElement);
  rows[Math.max(0, Math.min(rows.length - 1, at + step))]?.focus();
  event.preventDefault();
  event.stopPropagation();
}

interface Props {
  found: Found;
  chosen: number;
  onChoose: (row: number) => void;
}

const IN_A_WORD: Record<number, string> = { [FITS]: "fits", [TOO_LARGE]: "does not fit", [FAILED]: "failed", [COMPILED]: "compiles" };

/** Whether it fits, with the memory needed: "fits, 428 MB", never parted at the unit. */
export function compiledOf({ layouts }: Found, row: number): string {
  const needed = layouts.needed[row] as number;
  const word = IN_A_WORD[layouts.state[row] as number] ?? layouts.compiled(row);
  return needed > 0 ? `${word}, ${scaled(needed, "B").replace(" ", "\u00a0")}` : word;
}

/** The best layout of each kind, and the user's own: what each costs against the best. */
export function BestList({ found, chosen, onChoose }: Props) {
  const { layouts, best, own, bests } = found;
  const looks = looksOf(found);
  const rows = [...new Set([...bests, ...(own >= 0 ? [own] : [])])].sort((a, b) => a - b);
  const time = (row: number) => (found.hasSeconds && Number.isFinite(layouts.time[row]) ? scaled(layouts.time[row] as number, "s") : "–");
  const stop = rows.includes(chosen) ? chosen : rows[0];
  return (
    <div class="jxs-ss-listed">
      <table class="jxs-ss-list" aria-label="the best layout of each kind" onKeyDown={move}>
        <thead>
          <tr>
            {["best of each kind", "estimate", "vs. best", "arguments", "compiled"].map((title) => (
              <th scope="col" key={title}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr class={row === chosen ? "jxs-current" : ""} key={row} onClick={() => onChoose(row)}>
              <th scope="row">
                <button type="button" class="jxs-ss-pick" aria-pressed={row === chosen} tabIndex={row === stop ? 0 : -1} onClick={(event) => (event.stopPropagation(), onChoose(row))}>
                  <KindMark look={looks[layouts.kind[row] as number] ?? LOOKS} isFilled={layouts.state[row] !== ESTIMATE} />
                  <span>
                    {layouts.kinds[layouts.kind[row] as number]}
                    {row === own && <b class="jxs-ss-own"> yours</b>}
                      {" "}
                    <span class="jxs-ss-mesh jxs-dim">{layouts.mesh(row).split(/(?<=,)/).map((axis, at) => [at > 0 && <wbr />, axis])}</span>
                  </span>
                </button>
              </th>
              <td>{time(row)}</td>
              <td>{row === best ? <b>best</b> : layouts.ratio(row)}</td>
              <td>{scaled(layouts.arguments[row] as number, "B")}</td>
              <td data-state={layouts.state[row]} title={layouts.compiled(row)}>
                {compiledOf(found, row)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
