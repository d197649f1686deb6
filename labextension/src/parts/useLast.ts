import { useEffect, useState } from "preact/hooks";
import type { Answer } from "../model/question";

/** What a question last answered: it stays while the question is asked anew. */
export function useLast<T>({ value }: Answer<T>): T | null {
  const [last, setLast] = useState(value);
  useEffect(() => {
    if (value) setLast(value);
  }, [value]);
  return value ?? last;
}
