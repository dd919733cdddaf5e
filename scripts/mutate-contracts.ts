import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

/**
 * Mutants of our contracts: each has one small fault, made by a rule. The contract tests run against each of them, and at
 * least one should fail. Survivors are printed, and `docs/contracts-mutants.md` explains those that no test can kill.
 *
 *     npm run mutate -- [--file Deposits.sol] [--every 3] [--from 0] [--line 120]
 *
 * All mutants take hours. `--every 3` takes each third one. Compiling dominates, so few optimizer runs are asked for, and
 * tests of the exact gas are left out.
 */
const ROOT = join(import.meta.dirname, '..');
const CONTRACTS = join(ROOT, 'contracts');
const SOURCES = ['Batch.sol', 'Collector.sol', 'Deposits.sol'] as const;
const TEST_TIMEOUT_MS = 240_000;

/** The tests of each contract, the quickest first. */
const TESTS: Readonly<Record<string, readonly string[]>> = {
  Deposits: ['deposits', 'deposits-authorized', 'deposits-fees', 'deposits-attacks', 'deposits-fuzz', 'hostile-fuzz'],
  Collector: [
    'collector-batches',
    'collector-native',
    'collector-attacks',
    'collector-awkward',
    'collector-fuzz',
    'hostile-fuzz',
  ],
};

interface Mutant {
  readonly file: (typeof SOURCES)[number];
  readonly line: number;
  readonly rule: string;
  readonly before: string;
  readonly after: string;
}

type Fate = 'killed' | 'survived' | 'same code' | 'not compiled';

/** A rule finds the places in a line, and says what stands there instead. */
interface Rule {
  readonly name: string;
  readonly find: RegExp;
  readonly replace: (match: RegExpExecArray) => string;
}

const exchange = (name: string, find: RegExp, pairs: Readonly<Record<string, string>>): Rule => ({
  name,
  find,
  replace: ([text]) => pairs[text] ?? text,
});

const RULES: readonly Rule[] = [
  exchange('comparison', / (==|!=|>=|<=|>|<) /g, {
    ...{ ' == ': ' != ', ' != ': ' == ', ' > ': ' >= ', ' >= ': ' > ', ' < ': ' <= ', ' <= ': ' < ' },
  }),
  exchange('comparison', /\b(gt|eq)\(/g, { 'gt(': 'lt(', 'eq(': 'gt(' }),
  exchange('arithmetic', / [-+*/] /g, { ' + ': ' - ', ' - ': ' + ', ' * ': ' / ', ' / ': ' * ' }),
  exchange('arithmetic', /\b(add|sub|shr|shl|and|or)\(/g, {
    ...{ 'add(': 'sub(', 'sub(': 'add(', 'shr(': 'shl(', 'shl(': 'shr(', 'and(': 'or(', 'or(': 'and(' },
  }),
  exchange('logic', / (&&|\|\|) /g, { ' && ': ' || ', ' || ': ' && ' }),
  exchange('logic', /\((!)(?=_|is)/g, { '(!': '(' }),
  exchange('logic', /\b(true|false)\b/g, { true: 'false', false: 'true' }),
  { name: 'requirement removed', find: /^\s*require\(.*\);$/g, replace: () => '' },
  {
    name: 'statement removed',
    find: /^\s*(mstore|mcopy|calldatacopy|returndatacopy|_append|_tell|_pull|emit|\w+ = [01]|\w+ \+= |\w+\[.*\] = ).*;?$/g,
    replace: () => '',
  },
  { name: 'number', find: /\b\d[\d_]*\b(?!x)/g, replace: ([text]) => `${Number(text.replaceAll('_', '')) + 1}` },
  {
    name: 'number',
    find: /\b0x[0-9a-f]{1,40}\b/g,
    replace: ([text]) => `0x${(BigInt(text) + 1n).toString(16).padStart(text.length - 2, '0')}`,
  },
  {
    name: 'arguments swapped',
    find: /(?<=\b_?\w+\()(?<!\b(?:add|and|or)\()(\w+), (\w+)(?=[,)])/g,
    replace: ([, a, b]) => `${b}, ${a}`,
  },
  {
    name: 'branches swapped',
    find: /\? ([^:?;,]+) : ([^;,?]+?)(?=[;,]|\)?;)/g,
    replace: ([, a, b]) => `? ${b} : ${a}`,
  },
  { name: 'checked', find: /\bunchecked\b/g, replace: () => '' },
];

if (import.meta.main) process.exitCode = await main();

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      file: { type: 'string' },
      line: { type: 'string' },
      every: { type: 'string' },
      from: { type: 'string' },
    },
  });
  const all = SOURCES.flatMap(mutantsOf)
    .filter(({ file }) => values.file === undefined || file === values.file)
    .filter(({ line }) => values.line === undefined || line === Number(values.line));
  const chosen = all.filter((_, at) => (at - Number(values.from ?? 0)) % Number(values.every ?? 1) === 0);
  print(`${chosen.length} of ${all.length} mutants`);
  const folder = mkdtempSync(join(tmpdir(), 'till-mutants-'));
  try {
    const original: Record<string, Artifact> = {};
    for (const name of Object.keys(TESTS)) {
      const artifact = compile(name);
      if (artifact === undefined) throw new Error(`${name} does not compile`);
      original[name] = artifact;
    }
    const files = new Set(chosen.map(({ file }) => file));
    for (const name of Object.keys(TESTS)) {
      const isTested = files.has('Batch.sol') || files.has(`${name}.sol` as Mutant['file']);
      if (isTested && !(await pass(folder, name, original)))
        throw new Error(`The tests of ${name} fail without a mutant`);
    }
    const fates: Fate[] = [];
    for (const mutant of chosen) {
      const fate = await judge(folder, mutant, original);
      fates.push(fate);
      const { file, line, rule, before, after } = mutant;
      print(`| ${fate} | ${file}:${line} | ${rule} | \`${before.trim()}\` | \`${after.trim()}\` |`);
    }
    for (const fate of ['killed', 'survived', 'same code', 'not compiled'] as const) {
      print(`${fate}: ${fates.filter((each) => each === fate).length}`);
    }
    return fates.includes('survived') ? 1 : 0;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** All mutants of a file, line by line. Comments, imports and declarations of events and errors are left alone. */
function mutantsOf(file: Mutant['file']): Mutant[] {
  const mutants: Mutant[] = [];
  let isComment = false;
  for (const [at, text] of linesOf(file).entries()) {
    isComment ||= /^\s*\/\*/.test(text);
    if (!isComment && !/^\s*(\/\/|pragma|import|event|error|function .*[{(]$|struct|enum)/.test(text)) {
      const code = text.replace(/ *\/\/.*$/, '');
      for (const { name, find, replace } of RULES) {
        for (const match of code.matchAll(find)) {
          const after =
            code.slice(0, match.index) + replace(match as RegExpExecArray) + code.slice(match.index + match[0].length);
          if (after !== code) mutants.push({ file, line: at + 1, rule: name, before: code, after });
        }
      }
    }
    if (isComment && text.includes('*/')) isComment = false;
  }
  return mutants;
}

function linesOf(file: string): string[] {
  return readFileSync(join(CONTRACTS, file), 'utf8').split('\n');
}

async function judge(folder: string, mutant: Mutant, original: Artifacts): Promise<Fate> {
  const lines = linesOf(mutant.file);
  lines[mutant.line - 1] = mutant.after;
  const replaced = new Map([[mutant.file, lines.join('\n')]]);
  const names = mutant.file === 'Batch.sol' ? Object.keys(TESTS) : [mutant.file.replace('.sol', '')];
  let fate: Fate = 'same code';
  for (const name of names) {
    const artifact = compile(name, replaced);
    if (artifact === undefined) return 'not compiled';
    if (artifact.bytecode === original[name]?.bytecode) continue;
    if (!(await pass(folder, name, { ...original, [name]: artifact }))) return 'killed';
    fate = 'survived';
  }
  return fate;
}

/** True if all tests of the contract pass. The first failure ends them. */
function pass(folder: string, name: string, artifacts: Artifacts): Promise<boolean> {
  for (const [each, artifact] of Object.entries(artifacts)) {
    writeFileSync(join(folder, `${each}.json`), JSON.stringify(artifact));
  }
  const files = (TESTS[name] ?? []).map((file) => join(ROOT, `test/contracts/${file}.test.ts`));
  const options = ['--test', '--test-isolation=none', '--test-reporter=tap', '--test-skip-pattern=/^cost /'];
  return new Promise((resolve) => {
    const child = spawn(
      process.execPath,
      [`--import=${join(import.meta.dirname, 'mutant-hook.ts')}`, ...options, ...files],
      {
        env: { ...process.env, TILL_MUTANT: folder },
        stdio: ['ignore', 'pipe', 'ignore'],
        timeout: TEST_TIMEOUT_MS,
        killSignal: 'SIGKILL',
      },
    );
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (/^\s*not ok /m.test(text)) child.kill('SIGKILL');
    });
    child.once('close', (code) => resolve(code === 0));
  });
}

interface Artifact {
  readonly abi: unknown;
  readonly bytecode: string;
  readonly deployedBytecode: string;
}

type Artifacts = Readonly<Record<string, Artifact>>;

/** A contract, with some sources replaced. The Collector needs the slower pipeline of the compiler. */
function compile(name: string, replaced: ReadonlyMap<string, string> = new Map()): Artifact | undefined {
  const read = (path: string) => replaced.get(path) ?? readFileSync(join(CONTRACTS, path), 'utf8');
  const input = {
    language: 'Solidity',
    sources: { [`${name}.sol`]: { content: read(`${name}.sol`) } },
    settings: {
      ...{ evmVersion: 'cancun', viaIR: name === 'Collector', optimizer: { enabled: true, runs: 1 } },
      metadata: { bytecodeHash: 'none', appendCBOR: false },
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] } },
    },
  };
  const solc = createRequire(import.meta.url)('solc');
  const answer = solc.compile(JSON.stringify(input), { import: (path: string) => ({ contents: read(path) }) });
  const output = JSON.parse(answer);
  if (output.errors?.some(({ severity }: { severity: string }) => severity === 'error')) return undefined;
  const { abi, evm } = output.contracts[`${name}.sol`][name];
  return { abi, bytecode: `0x${evm.bytecode.object}`, deployedBytecode: `0x${evm.deployedBytecode.object}` };
}
