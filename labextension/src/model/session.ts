/** All that one widget model has fetched and all that its user has done; outlives the DOM that shows it. */

import type { Source } from "../wire/source";
import { Documents } from "./documents";
import { Kept } from "./kept";
import { Panel } from "./panel";
import { Questions } from "./question";
import { Selection } from "./selection";

/** Views take of it the parts that they need: see `parts/hooks`. */
export class Session {
  readonly panel: Panel;
  readonly selection: Selection;
  readonly documents: Documents;
  readonly questions: Questions;
  readonly kept = new Kept();

  /** `id` is that of the panel in its kernel, "" where there is none. */
  constructor(
    source: Source,
    readonly id = "",
  ) {
    this.panel = new Panel(source, (isNewRun) => {
      if (isNewRun) for (const part of [this.documents, this.questions, this.kept, this.selection]) part.forget();
      this.documents.refresh();
    });
    this.selection = new Selection(this.panel);
    this.documents = new Documents(source, this.panel, this.selection);
    this.questions = new Questions(source, this.panel, this.selection);
  }
}
