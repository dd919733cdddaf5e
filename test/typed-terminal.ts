import { PassThrough, Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { until } from './until.ts';

export const ENTER = '\r';
export const DOWN = '\x1b[B';
export const CTRL_C = '\x03';

/** A terminal without a person: the test types. */
export function openTypedTerminal() {
  const input = new PassThrough();
  let shown = '';
  let readTo = 0;
  const output = new Writable({
    write(chunk, _, done) {
      shown += chunk;
      done();
    },
  });
  return {
    terminal: { input, output },
    /** Everything that was shown, without control characters. */
    screen: () => stripVTControlCharacters(shown),
    /** Types when the words appear, after those of the last call. */
    async type(words: string, keys: string): Promise<void> {
      const seen = () => stripVTControlCharacters(shown).indexOf(words, readTo);
      await until(`the terminal shows: ${words}`, () => seen() >= 0).catch((error: Error) => {
        throw new Error(`${error.message} It shows: ${stripVTControlCharacters(shown).slice(readTo)}`);
      });
      readTo = seen() + words.length;
      input.write(keys);
    },
  };
}
