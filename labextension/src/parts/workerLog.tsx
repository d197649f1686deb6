import { messageOf } from "../wire/errors";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Reply } from "../wire/source";
import { useQuestions } from "./hooks";

const MAX_LINES = 1000;
const MAX_TEXT = 2000;

/** The log's end as text; says how much of it is left out. */
export function readLog({ result }: Reply): string {
  const raw = Array.isArray(result.lines) ? (result.lines as unknown[]).slice(-MAX_LINES) : [];
  const lines = raw.map((line) => (typeof line === "string" ? line.slice(0, MAX_TEXT) : ""));
  const left = typeof result.left_out === "number" && result.left_out > 0 ? [`… ${result.left_out} earlier lines`] : [];
  return [...left, ...lines].join("\n").trim();
}

/** A button for what the compile worker has printed: asked for when it is opened, anew each time. */
export function WorkerLog() {
  const questions = useQuestions();
  const [open, setOpen] = useState(false);
  const [text, setText] = useState<string | null>(null);
  const log = useRef<HTMLPreElement>(null);
  useEffect(() => {
    if (!open) return undefined;
    let there = true;
    const show = (said: string) => there && setText(said);
    questions
      .request("log")
      .then((reply) => show(readLog(reply) || "The worker printed nothing."))
      .catch((error: unknown) => show(messageOf(error)));
    return () => {
      there = false;
    };
  }, [open]);
  useEffect(() => {
    if (log.current) log.current.scrollTop = log.current.scrollHeight;
  }, [text]);
  return (
    <div class="jxs-log">
      <button type="button" class="jxs-button jxs-boxed" aria-expanded={open} onClick={() => setOpen(!open)}>
        {open ? "Hide the worker's log" : "Worker's log"}
      </button>
      {open && (
        <pre tabIndex={0} ref={log} aria-label="the worker's log">
          {text ?? "…"}
        </pre>
      )}
    </div>
  );
}
