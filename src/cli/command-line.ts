import { parseArgs } from 'node:util';
import type { Registry } from '../chains/registry.ts';
import { nearest } from '../domain/nearest.ts';
import { quote } from '../settings/kinds.ts';
import type { Command } from './command.ts';
import { COMMANDS, GROUPS } from './commands.ts';
import { flag, type Option, type Options } from './options.ts';

export const GLOBAL_OPTIONS = {
  json: flag('Print one JSON value instead of text; errors as JSON too, on standard error.'),
  help: flag('Show this help. Also -h.'),
} as const satisfies Options;

export type CommandLine =
  | { readonly help: Command | string | undefined }
  | {
      readonly command: Command;
      readonly values: Readonly<Record<string, unknown>>;
      /** Parses the command line again. Durations such as `2h` are counted from `nowMs`. */
      readonly valuesAt: (nowMs: number) => Readonly<Record<string, unknown>>;
    };

export class UsageError extends Error {
  readonly problems: readonly string[];
  /** The command or group of commands that was recognised. It decides which help text is printed. */
  readonly topic: Command | string | undefined;

  constructor(problems: readonly string[], topic?: Command | string) {
    super(problems.join('; '));
    this.name = 'UsageError';
    this.problems = problems;
    this.topic = topic;
  }
}

/** Parses the command line, or throws a UsageError with all problems. */
export function readCommandLine(argv: readonly string[], nowMs: number, registry: Registry): CommandLine {
  const { words, rest } = splitWords(argv);
  const isHelp = words[0] === 'help' || hasFlag(argv, '--help') || hasFlag(argv, '-h');
  while (words[0] === 'help') words.shift();
  const topic = findTopic(words);
  if (isHelp) return { help: topic };
  if (topic === undefined) throw new UsageError(['Name a command first.']);
  if (typeof topic === 'string') {
    const names = COMMANDS.filter(({ name }) => name.startsWith(`${topic} `)).map(({ name }) => `"${name}"`);
    throw new UsageError([`"${topic}" is not a whole command: add a word, as in ${names.join(', ')}.`], topic);
  }
  const args = [...words.slice(topic.name.split(' ').length), ...rest];
  const valuesAt = (atMs: number) => readValues(topic, args, atMs, registry);
  // A command with the database's time is parsed again when that time is known. Until then, 1970 is taken as the present, so
  // every time counts as a future time, and only its form is checked.
  return { command: topic, values: valuesAt(topic.usesDatabaseTime ? 0 : nowMs), valuesAt };
}

/** True if the flag is on the command line. `--json` decides how problems are reported, so it is read before the line is parsed. */
export function hasFlag(argv: readonly string[], name: string): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end === -1 ? undefined : end).includes(name);
}

/** Splits off up to three leading words, such as `help keys rotate`. Flags that every command accepts may stand between the words. */
function splitWords(argv: readonly string[]): { words: string[]; rest: string[] } {
  const words: string[] = [];
  const flags: string[] = [];
  let next = 0;
  for (; next < argv.length && words.length < 3; next += 1) {
    const arg = argv[next] ?? '';
    if (arg === '--json' || arg === '--help' || arg === '-h') flags.push(arg);
    else if (arg.startsWith('-')) break;
    else words.push(arg);
  }
  return { words, rest: [...flags, ...argv.slice(next)] };
}

/** The command or group that the words name. Undefined if there are no words. */
function findTopic([first, second]: readonly string[]): Command | string | undefined {
  if (first === undefined) return undefined;
  const names = [first, `${first} ${second}`];
  const found = COMMANDS.find(({ name }) => names.includes(name));
  if (found !== undefined) return found;
  if (!Object.hasOwn(GROUPS, first)) {
    const candidates = [
      ...Object.keys(GROUPS),
      ...COMMANDS.map(({ name }) => name).filter((name) => !name.includes(' ')),
      'help',
    ];
    throw new UsageError([unknown(first, nearest(first, candidates))]);
  }
  if (second === undefined) return first;
  const verbs = COMMANDS.flatMap(({ name }) => (name.startsWith(`${first} `) ? [name.slice(first.length + 1)] : []));
  const verb = nearest(second, verbs);
  throw new UsageError([unknown(`${first} ${second}`, verb && `${first} ${verb}`)], first);
}

function unknown(typed: string, meant: string | undefined): string {
  return `There is no command ${quote(typed)}.${meant === undefined ? '' : ` Did you mean "${meant}"?`}`;
}

function readValues(
  command: Command,
  args: readonly string[],
  nowMs: number,
  registry: Registry,
): Record<string, unknown> {
  const options: Options = { ...command.options, ...GLOBAL_OPTIONS };
  const { given, operands, problems } = readTokens(options, args);
  const values: Record<string, unknown> = {};
  const read = (name: string, shown: string, option: Option<unknown>, raws: readonly string[]) => {
    const result = option.read(raws, nowMs, registry);
    if ('value' in result) values[name] = result.value;
    else problems.push(...result.problems.map((problem) => `${shown} ${problem}`));
  };
  for (const [index, [name, option]] of Object.entries(command.positionals).entries()) {
    read(name, `<${name}>`, option, operands.slice(index, index + 1));
  }
  for (const extra of operands.slice(Object.keys(command.positionals).length)) {
    problems.push(`${quote(extra)} is one argument too many`);
  }
  for (const [name, option] of Object.entries(command.options)) {
    const raws = given.get(name) ?? [];
    // An option without a value was reported by `readTokens`. It is not reported a second time as missing.
    if (raws.every((raw) => raw !== undefined)) read(name, `--${name}`, option, raws);
  }
  if (problems.length === 0) problems.push(...(command.check?.(values, registry) ?? []));
  if (problems.length > 0) throw new UsageError(problems, command);
  return values;
}

interface Tokens {
  readonly given: ReadonlyMap<string, readonly (string | undefined)[]>;
  readonly operands: readonly string[];
  readonly problems: string[];
}

/** Reads options and arguments, and collects all mistakes. `parseArgs` in strict mode would stop at the first mistake. */
function readTokens(options: Options, args: readonly string[]): Tokens {
  const types = Object.entries(options).map(([name, { placeholder }]) => [
    name,
    { type: placeholder === undefined ? 'boolean' : 'string', multiple: true },
  ]);
  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(types) as Record<string, { type: 'boolean' | 'string'; multiple: true }>,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const given = new Map<string, (string | undefined)[]>();
  const operands: string[] = [];
  const problems: string[] = [];
  let afterUnknown = -1;
  for (const token of tokens) {
    if (token.kind === 'positional' && token.index !== afterUnknown) operands.push(token.value);
    if (token.kind !== 'option') continue;
    const { name, rawName, value, inlineValue: isInline } = token;
    const option = Object.hasOwn(options, name) && rawName === `--${name}` ? options[name] : undefined;
    if (option === undefined) {
      const meant = nearest(name, Object.keys(options));
      problems.push(
        `${rawName} is no option of this command${meant === undefined ? '' : `: did you mean --${meant}?`}`,
      );
      // The next word is most likely the value of the unknown option, so it is not reported as an extra argument.
      if (!isInline) afterUnknown = token.index + 1;
      continue;
    }
    const problem = valueProblem(option, value, isInline === true);
    if (problem !== undefined) problems.push(`${rawName} ${problem}`);
    given.set(name, [...(given.get(name) ?? []), problem === undefined ? (value ?? '') : undefined]);
  }
  return { given, operands, problems };
}

function valueProblem(option: Option<unknown>, value: string | undefined, isInline: boolean): string | undefined {
  if (option.placeholder === undefined) return value === undefined ? undefined : 'takes no value';
  if (value === undefined) return 'needs a value';
  // In `--name --json`, the value of `--name` was more likely forgotten than meant to be `--json`.
  if (!isInline && value.startsWith('-')) return `needs a value; one that begins with a dash is joined by "="`;
  return undefined;
}
