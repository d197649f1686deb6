import { useEffect, useRef, useState } from "preact/hooks";
import { text } from "../../wire/check";
import { messageOf } from "../../wire/errors";
import { gunzip } from "../../wire/gzip";
import { focused } from "../../parts/focused";
import { useKept, useQuestions, useSelection, useStore } from "../../parts/hooks";
import type { TimelineModel } from "./model";

/** Saves bytes under a name; the page itself goes nowhere. */
function save(name: string, bytes: BlobPart, type: string): void {
  const address = URL.createObjectURL(new Blob([bytes], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

const SCALE = 2;

/** A picture made of lines and text as one of pixels, twice as fine. */
async function pixels(svg: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.naturalWidth * SCALE;
  canvas.height = image.naturalHeight * SCALE;
  const context = canvas.getContext("2d");
  if (!context) throw new Error("This browser draws no pictures.");
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("This browser made no picture.")))));
}

const FORMATS: readonly (readonly [format: string, title: string, hint: string])[] = [
  ["chrome", "Chrome JSON (Perfetto)", "opens in Perfetto and chrome://tracing"],
  ["speedscope", "speedscope", "opens in speedscope.app as a flame graph"],
  ["csv", "CSV of the table", "the table below, of the range if one is selected"],
  ["svg", "SVG of the view", "the lanes that are in view, with labels"],
  ["png", "PNG of the view", "the same as pixels"],
];

/** Saves the profile, the table or the picture as a file. */
export function ExportMenu({ model }: { model: TimelineModel }) {
  const selection = useSelection();
  const questions = useQuestions();
  const kept = useKept();
  const range = useStore(model.store, (s) => s.range);
  const [state, setState] = useState("");
  const menu = useRef<HTMLDetailsElement>(null);
  const close = () => {
    const held = menu.current?.contains(focused(menu.current));
    menu.current?.removeAttribute("open");
    if (held) menu.current?.querySelector("summary")?.focus({ preventScroll: true });
  };
  useEffect(() => {
    const outside = (event: Event) => menu.current && !event.composedPath().includes(menu.current) && close();
    document.addEventListener("pointerdown", outside, true);
    return () => document.removeEventListener("pointerdown", outside, true);
  }, []);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || !menu.current?.open) return;
    event.stopPropagation();
    close();
  };
  const run = async (format: string) => {
    setState("making the file…");
    try {
      const { visible } = model.now;
      const part = format === "svg" || format === "png" ? visible : range;
      const table = (kept.recall(`timeline table ${selection.call}`) as string | undefined) ?? "lines";
      const params = { format: format === "png" ? "svg" : format, table, ...(part && { from: part.from, to: part.to }) };
      const reply = await questions.ask("timeline export", params);
      const bytes = await gunzip(reply.buffers[0] ?? new ArrayBuffer(0));
      const [name, type] = [text(reply.result.name) || "timeline", text(reply.result.type)];
      if (format === "png") save(name.replace(/\.svg$/, ".png"), await pixels(new TextDecoder().decode(bytes)), "image/png");
      else save(name, bytes.slice().buffer, type);
      const note = text(reply.result.note);
      setState(note);
      if (!note) close();
    } catch (error) {
      setState(messageOf(error));
    }
  };
  return (
    <details class="jxs-tl-export" ref={menu} onKeyDown={onKeyDown}>
      <summary class="jxs-button jxs-boxed">Export</summary>
      <div class="jxs-tl-menu" role="group" aria-label="export as">
        {FORMATS.map(([format, title, hint]) => (
          <button type="button" class="jxs-button" key={format} data-export={format} title={hint} onClick={() => void run(format)}>
            {title}
          </button>
        ))}
        {state && (
          <p class="jxs-dim jxs-anywhere" role="status">
            {state}
          </p>
        )}
      </div>
    </details>
  );
}
