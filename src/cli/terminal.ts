import type { Readable, Writable } from 'node:stream';

/** A terminal with a person who answers questions. */
export interface Terminal {
  readonly input: Readable;
  readonly output: Writable;
}
