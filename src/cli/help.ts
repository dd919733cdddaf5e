import type { Command } from './command.ts';
import { GLOBAL_OPTIONS } from './command-line.ts';
import { COMMANDS, GROUPS } from './commands.ts';
import type { Option, Options } from './options.ts';
import { align } from './table.ts';

const CALL = 'npm run till --';

/** Help for a command, for a group such as `keys`, or the overview. */
export function helpFor(topic: Command | string | undefined): string {
  if (topic === undefined) return overview();
  return typeof topic === 'string' ? groupHelp(topic) : commandHelp(topic);
}

/** The command line that prints this help. */
export function helpCall(topic: Command | string | undefined): string {
  const words = typeof topic === 'string' ? topic : topic?.name;
  return [CALL, ...(words === undefined ? [] : [words]), '--help'].join(' ');
}

function overview(): string {
  const parts = Object.entries(GROUPS).map(([group, summary]) => section(summary, commandLines(inGroup(group))));
  return join([
    'The operator commands of Till.',
    section('Usage', [[`${CALL} <command> [options]`]]),
    ...parts,
    section('System', [
      ...commandLines(COMMANDS.filter(({ name }) => !name.includes(' '))),
      ['help', 'Show this help, or with a command after it, the help of that command.'],
    ]),
    section('With every command', optionLines(GLOBAL_OPTIONS)),
    section('Examples', [[`${CALL} partners create --name "Shop Ltd"`], [`${CALL} keys rotate --help`]]),
    section('Exit codes', [
      ['0', 'done'],
      ['1', 'refused or failed'],
      ['2', 'wrong usage or configuration'],
    ]),
    'The version of this program: `npm run till -- --version`.',
    'For programs: `npm run --silent till -- … --json` keeps npm from printing lines of its own.',
  ]);
}

function groupHelp(group: string): string {
  const commands = inGroup(group);
  return join([
    `${GROUPS[group as keyof typeof GROUPS]}.`,
    section('Usage', [[`${CALL} ${group} <command> [options]`]]),
    section('Commands', commandLines(commands)),
    section('With every command', optionLines(GLOBAL_OPTIONS)),
    section(
      'Examples',
      commands.map(({ examples }) => [`${CALL} ${examples[0]}`]),
    ),
  ]);
}

function commandHelp({ name, summary, positionals, options, examples }: Command): string {
  return join([
    summary,
    section('Usage', [
      [[CALL, name, ...Object.keys(positionals).map((word) => `<${word}>`), usageOf(options)].join(' ').trimEnd()],
    ]),
    section(
      'Arguments',
      Object.entries(positionals).map(([word, { doc }]) => [`<${word}>`, doc]),
    ),
    section('Options', optionLines({ ...options, ...GLOBAL_OPTIONS })),
    section(
      'Examples',
      examples.map((example) => [`${CALL} ${example}`]),
    ),
  ]);
}

/** The options in the usage line. Required options are spelled out; the others are listed in a section of their own. */
function usageOf(options: Options): string {
  const needed = Object.entries(options).flatMap(([name, option]) => (option.isRequired ? [spell(name, option)] : []));
  return [...needed, '[options]'].join(' ');
}

function optionLines(options: Options): string[][] {
  return Object.entries(options).map(([name, option]) => {
    const marks = `${option.isRequired ? ' Required.' : ''}${option.isRepeatable ? ' Repeatable.' : ''}`;
    return [spell(name, option), `${option.doc}${marks}`];
  });
}

function spell(name: string, { placeholder }: Option<unknown>): string {
  return placeholder === undefined ? `--${name}` : `--${name} <${placeholder}>`;
}

function inGroup(group: string): Command[] {
  return COMMANDS.filter(({ name }) => name.startsWith(`${group} `));
}

function commandLines(commands: readonly Command[]): string[][] {
  return commands.map(({ name, positionals, summary }) => [
    [name, ...Object.keys(positionals).map((word) => `<${word}>`)].join(' '),
    summary,
  ]);
}

function section(title: string, lines: readonly (readonly string[])[]): string | undefined {
  if (lines.length === 0) return undefined;
  const body = align(lines)
    .split('\n')
    .map((line) => `  ${line}`);
  return [title, ...body].join('\n');
}

function join(parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined).join('\n\n');
}
