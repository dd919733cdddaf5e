import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { REGISTRY } from '../../test/registry.ts';
import { readCommandLine, UsageError } from './command-line.ts';
import { COMMANDS, GROUPS } from './commands.ts';
import { helpFor } from './help.ts';

const NOW_MS = Date.parse('2026-11-15T12:00:00Z');
const PARTNER = 'prtn_01KHRZ5Q8MB2N4P6R8T0V2X4Z6';

describe('reading a line', () => {
  test('finds the command, its arguments and its options, defaults included', () => {
    assert.deepEqual(read('keys rotate key_1'), { name: 'keys rotate', values: { id: 'key_1', overlap: 86_400_000 } });
    assert.deepEqual(read('keys rotate --overlap=0s key_1').values, { id: 'key_1', overlap: 0 });
    assert.deepEqual(read('migrate'), { name: 'migrate', values: {} });
  });

  test('--json may stand anywhere', () => {
    for (const line of ['--json keys list', 'keys --json list', 'keys list --json']) {
      assert.deepEqual(read(line), { name: 'keys list', values: { partner: undefined } });
    }
  });

  test('repeatable options gather, and the same value counts once', () => {
    const line = `keys create --partner ${PARTNER} --mode live --label L --scope gateway --scope payments:read --scope gateway --expires 1h`;
    assert.deepEqual(read(line).values, {
      partner: PARTNER,
      mode: 'live',
      label: 'L',
      scope: ['gateway', 'payments:read'],
      merchant: [],
      address: [],
      expires: new Date(NOW_MS + 3_600_000),
    });
  });

  test('a value may begin with a dash when it is joined, and hold an equals sign', () => {
    assert.deepEqual(read('partners create --name=--x=y').values, { name: '--x=y' });
  });

  test('after -- everything is an argument', () => {
    assert.deepEqual(read('keys revoke -- --json').values, { id: '--json' });
  });
});

describe('problems are reported', () => {
  const cases: readonly [string, readonly (string | RegExp)[]][] = [
    ['', ['Name a command first.']],
    ['--name x', ['Name a command first.']],
    ['kyes list', ['There is no command "kyes". Did you mean "keys"?']],
    ['partner create', ['There is no command "partner". Did you mean "partners"?']],
    ['keys rotaet x', ['There is no command "keys rotaet". Did you mean "keys rotate"?']],
    ['migrat', ['There is no command "migrat". Did you mean "migrate"?']],
    ['toString', ['There is no command "toString".']],
    ['frobnicate everything', ['There is no command "frobnicate".']],
    [
      'keys',
      [/^"keys" is not a whole command.*"keys create", "keys list", "keys audit", "keys rotate", "keys revoke"/],
    ],
    ['keys rotate', ['<id> is missing']],
    ['keys revoke a b c', ['"b" is one argument too many', '"c" is one argument too many']],
    ['keys rotate a --overlap 1h --overlap 2h', ['--overlap may be given only once']],
    ['partners create --name', ['--name needs a value']],
    ['partners create --name --json', [/^--name needs a value; one that begins with a dash/]],
    ['partners create --name=', [/^--name must be 1 to 256 characters.*it is ""/]],
    ['partners list --json=yes', ['--json takes no value']],
    ['partners list --jsno', ['--jsno is no option of this command: did you mean --json?']],
    ['partners list -x', ['-x is no option of this command']],
    ['partners list --constructor 1', ['--constructor is no option of this command']],
    ['partners set p', ['there is nothing to change: give at least one option']],
    [
      'partners set p --frame-origin https://a.example --no-frame-origins',
      ['--frame-origin and --no-frame-origins exclude each other'],
    ],
    [
      'keys create --lable x --mode prod --scope a --scope b --merchant m extra --expires 1y',
      [
        '--lable is no option of this command: did you mean --label?',
        '"extra" is one argument too many',
        '--partner is missing',
        '--mode must be one of test, live (it is "prod")',
        '--label is missing',
        /^--scope must be one of .*it is "a"/,
        /^--scope must be one of .*it is "b"/,
        /^--expires must be a time with its offset/,
      ],
    ],
  ];
  for (const [line, expected] of cases) {
    test(`till ${line}`, () => {
      const { problems } = usageError(line);
      assert.equal(problems.length, expected.length, problems.join('\n'));
      for (const [index, sentence] of expected.entries()) {
        const problem = problems[index] ?? '';
        if (typeof sentence === 'string') assert.equal(problem, sentence);
        else assert.match(problem, sentence);
      }
    });
  }
});

describe('help', () => {
  test('is found at every level, before and after the command', () => {
    for (const line of ['help', '--help', '-h', 'help --help', 'help help'])
      assert.equal(helpText(line), helpFor(undefined));
    for (const line of ['help keys', 'keys --help', 'keys -h', '--help keys'])
      assert.equal(helpText(line), helpFor('keys'));
    const expected = helpText('keys rotate --help');
    for (const line of ['help keys rotate', '--help keys rotate', 'keys rotate key_1 --overlap nonsense -h']) {
      assert.equal(helpText(line), expected);
    }
    assert.match(expected, /^Issue a successor.*keys rotate <id>.*--overlap <duration>.*Default: 24h.*Examples/s);
  });

  test('of a command that does not exist is refused', () => {
    assert.throws(() => readCommandLine(['kyes', '--help'], NOW_MS, REGISTRY), UsageError);
  });

  test('the overview names every command, and every group has commands', () => {
    const overview = helpFor(undefined);
    for (const { name, summary } of COMMANDS) {
      assert.ok(overview.includes(name) && overview.includes(summary), name);
    }
    for (const group of Object.keys(GROUPS)) assert.ok(COMMANDS.some(({ name }) => name.startsWith(`${group} `)));
  });

  for (const command of COMMANDS) {
    test(`of ${command.name} fits the screen, and its examples work`, () => {
      const help = helpFor(command);
      for (const line of help.split('\n')) assert.ok(line.length <= 140, line);
      for (const name of Object.keys(command.options)) assert.ok(help.includes(`--${name}`));
      for (const example of command.examples) {
        assert.ok(help.includes(example));
        assert.equal(read(example).name, command.name);
      }
    });
  }
});

function read(line: string): { name: string; values: Readonly<Record<string, unknown>> } {
  const result = readCommandLine(words(line), NOW_MS, REGISTRY);
  assert.ok('command' in result);
  return { name: result.command.name, values: result.valuesAt(NOW_MS) };
}

function usageError(line: string): UsageError {
  try {
    readCommandLine(words(line), NOW_MS, REGISTRY);
  } catch (error) {
    assert.ok(error instanceof UsageError, String(error));
    return error;
  }
  throw new Error('The line was taken.');
}

function helpText(line: string): string {
  const result = readCommandLine(words(line), NOW_MS, REGISTRY);
  assert.ok('help' in result);
  return helpFor(result.help);
}

/** As a shell would, for quotes without escapes. */
function words(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');
}
