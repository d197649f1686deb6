/** How much the parts of one saved report may unpack to, all together: a few kB packed may stand for gigabytes. */

import { Refusal } from "./errors";
import { unpack } from "./gzip";

const MB = 1024 * 1024;

export class UnpackBudget {
  private left: number;
  private checked = new Map<string, Promise<void>>();

  constructor(private total: number) {
    this.left = total;
  }

  /** Rejects with a Refusal where the buffers of this reply are too much; what is refused leaves room for others. */
  check(name: string, buffers: ArrayBuffer[]): Promise<void> {
    const checking = this.checked.get(name) ?? this.spend(buffers);
    this.checked.set(name, checking);
    return checking;
  }

  private async spend(buffers: ArrayBuffer[]): Promise<void> {
    let spent = 0;
    const take = (chunk: Uint8Array) => {
      spent += chunk.byteLength;
      this.left -= chunk.byteLength;
      if (this.left < 0) throw new Refusal(`This is not shown: the saved output unpacks to more than ${Math.round(this.total / MB)} MB.`);
    };
    for (const buffer of buffers) {
      try {
        await unpack(buffer, take);
      } catch (error) {
        if (!(error instanceof Refusal)) continue; // not packed, or damaged: its reader says so
        this.left += spent;
        throw error;
      }
    }
  }
}
