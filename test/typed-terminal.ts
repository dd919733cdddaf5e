import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { type DebianProgram, missingProgram, programPath } from './debian-program.ts';
import { until } from './until.ts';

export const ENTER = '\r';
export const DOWN = '\x1b[B';
export const CTRL_C = '\x03';

/** A terminal without a person: the test types. */
export function openTypedTerminal() {
  const input = new PassThrough();
  const typing = typingInto(input);
  const output = new Writable({
    write(chunk, _, done) {
      typing.show(String(chunk));
      done();
    },
  });
  return { ...typing, terminal: { input, output } };
}

/** The program of util-linux that gives a command a terminal of its own. */
const SCRIPT: DebianProgram = { names: ['script'], debianPackage: 'bsdutils' };

export const missingScript = () => missingProgram(SCRIPT);

/** A command at a real terminal of the system. Its words must need no quoting. */
export function runAtTerminal(words: readonly string[], options: { cwd: string; env: Record<string, string> }) {
  const command = `stty cols 120 rows 50; exec ${words.join(' ')}`;
  const { PATH, HOME } = process.env;
  const child = spawn(programPath(SCRIPT) ?? '', ['-qec', command, '/dev/null'], {
    ...options,
    env: { PATH, HOME, TERM: 'xterm', ...options.env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const typing = typingInto(child.stdin);
  child.stdout.on('data', (bytes) => typing.show(String(bytes)));
  return {
    ...typing,
    ended: once(child, 'close').then(([code]) => code as number | null),
    kill: () => void child.kill('SIGKILL'),
  };
}

function typingInto(keyboard: Writable) {
  let shown = '';
  let readTo = 0;
  const screen = () => stripVTControlCharacters(shown);
  return {
    show(text: string): void {
      shown += text;
    },
    /** Everything that was shown, without control characters. */
    screen,
    /** Types when the words appear, after those of the last call. */
    async type(words: string, keys: string): Promise<void> {
      const seen = () => screen().indexOf(words, readTo);
      await until(`the terminal shows: ${words}`, () => seen() >= 0, { withinMs: 60_000 }).catch((error: Error) => {
        throw new Error(`${error.message} It shows: ${screen().slice(readTo)}`);
      });
      readTo = seen() + words.length;
      keyboard.write(keys);
    },
  };
}
