import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

const require = createRequire(import.meta.url);

const CONTRACTS = join(import.meta.dirname, '../contracts');
const ARTIFACTS = join(CONTRACTS, 'artifacts');
const CHECKSUMS = join(CONTRACTS, 'checksums.json');
const COMPILED_WITH = ['solc', 'solc-for-permit2', '@openzeppelin/contracts', '@uniswap/v4-periphery'];

/** The parts of a contract that the code needs, without anything that depends on the machine. */
interface Artifact {
  readonly abi: readonly unknown[];
  readonly bytecode: string;
  readonly deployedBytecode: string;
}

interface Compiler {
  compile(input: string, callbacks: { import(path: string): { contents: string } | { error: string } }): string;
}

interface CompilerOutput {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[];
  readonly contracts: Record<
    string,
    Record<string, { abi: unknown[]; evm: { bytecode: { object: string }; deployedBytecode: { object: string } } }>
  >;
}

if (import.meta.main) await writeArtifacts();

async function writeArtifacts(): Promise<void> {
  const files = await artifactFiles();
  await rm(ARTIFACTS, { recursive: true, force: true });
  await mkdir(ARTIFACTS, { recursive: true });
  for (const [name, text] of files) await writeFile(join(ARTIFACTS, name), text);
  await writeFile(CHECKSUMS, `${JSON.stringify(await checksumsNow(), null, 2)}\n`);
}

/** True if neither the artifacts nor anything that they are made of has changed since they were compiled. */
export async function areChecksumsCurrent(): Promise<boolean> {
  const recorded: unknown = JSON.parse(await readFile(CHECKSUMS, 'utf8'));
  return isDeepStrictEqual(recorded, await checksumsNow());
}

/** The inputs: our sources, the compilers and libraries by their versions, and this file with its settings. */
async function checksumsNow(): Promise<{ readonly inputs: string; readonly artifacts: string }> {
  const { devDependencies } = require('../package.json') as { devDependencies: Record<string, string> };
  const versions = COMPILED_WITH.map((name) => `${name} ${devDependencies[name]}`);
  const sources = await ownSources();
  return {
    inputs: checksum([...versions, readFileSync(import.meta.filename, 'utf8'), ...textsOf(CONTRACTS, sources)]),
    artifacts: checksum(textsOf(ARTIFACTS, (await readdir(ARTIFACTS)).sort())),
  };
}

function textsOf(folder: string, names: readonly string[]): string[] {
  return names.flatMap((name) => [name, readFileSync(join(folder, name), 'utf8')]);
}

function checksum(texts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(texts)).digest('hex');
}

/** The artifacts on disk that differ from the compiled sources, or have no source any more. Compiling takes a minute. */
export async function outdatedArtifacts(): Promise<string[]> {
  const files = new Map(await artifactFiles());
  const onDisk = await readdir(ARTIFACTS);
  const names = [...new Set([...files.keys(), ...onDisk])].sort();
  const current = await Promise.all(names.map((name) => readFile(join(ARTIFACTS, name), 'utf8').catch(() => '')));
  return names.filter((name, index) => files.get(name) !== current[index]);
}

async function artifactFiles(): Promise<[name: string, text: string][]> {
  const artifacts = [...(await compileOwn()), compilePermit2()];
  return artifacts.map(([name, artifact]) => [`${name}.json`, `${JSON.stringify(artifact, null, 2)}\n`]);
}

/**
 * Every deployable contract under `contracts/`. The Collector is compiled through the IR pipeline, which makes it
 * cheaper. The tokens are not, so that their dispatch is as cheap as that of the real tokens.
 */
async function compileOwn(): Promise<[name: string, artifact: Artifact][]> {
  const names = await ownSources();
  const isGateways = (name: string) => !name.includes('/');
  return [
    ...compileFiles(names.filter(isGateways), { viaIR: true }),
    ...compileFiles(
      names.filter((name) => !isGateways(name)),
      { viaIR: false },
    ),
  ];
}

async function ownSources(): Promise<string[]> {
  return (await readdir(CONTRACTS, { recursive: true })).filter((name) => name.endsWith('.sol')).sort();
}

function compileFiles(names: readonly string[], { viaIR }: { viaIR: boolean }): [name: string, artifact: Artifact][] {
  const output = compile(require('solc'), {
    sources: Object.fromEntries(names.map((name) => [name, { content: readFileSync(join(CONTRACTS, name), 'utf8') }])),
    settings: {
      // `cancun` has transient storage, and every known network supports it.
      evmVersion: 'cancun',
      viaIR,
      optimizer: { enabled: true, runs: 1_000_000 },
      // Metadata would tie the code, and the Collector's address, to the wording of comments.
      metadata: { bytecodeHash: 'none', appendCBOR: false },
    },
    importsFrom: join(dirname(require.resolve('@openzeppelin/contracts/package.json')), '../..'),
  });
  return names.flatMap((name) => {
    const contractName = basename(name, '.sol');
    const contract = output.contracts[name]?.[contractName];
    if (contract === undefined || contract.evm.bytecode.object === '') return [];
    return [[contractName, artifactOf(contract)] as [string, Artifact]];
  });
}

/**
 * Permit2 with the compiler and settings of its public deployments. The behaviour is the same, but not the bytecode:
 * this compiler orders functions by numbers that depend on the other compiled files.
 */
function compilePermit2(): [name: string, artifact: Artifact] {
  const sources = join(dirname(require.resolve('@uniswap/v4-periphery/package.json')), 'lib/permit2');
  const output = compile(require('solc-for-permit2'), {
    sources: { 'src/Permit2.sol': { content: readFileSync(join(sources, 'src/Permit2.sol'), 'utf8') } },
    settings: {
      viaIR: true,
      optimizer: { enabled: true, runs: 1_000_000 },
      metadata: { bytecodeHash: 'none' },
      remappings: ['solmate/=lib/solmate/'],
    },
    importsFrom: sources,
  });
  const contract = output.contracts['src/Permit2.sol']?.Permit2;
  if (contract === undefined) throw new Error('Permit2 did not compile');
  return ['Permit2', artifactOf(contract)];
}

function compile(
  compiler: Compiler,
  input: {
    readonly sources: Record<string, { content: string }>;
    readonly settings: Record<string, unknown>;
    readonly importsFrom: string;
  },
): CompilerOutput {
  const answer = compiler.compile(
    JSON.stringify({
      language: 'Solidity',
      sources: input.sources,
      settings: {
        ...input.settings,
        outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] } },
      },
    }),
    { import: (path) => ({ contents: readFileSync(join(input.importsFrom, path), 'utf8') }) },
  );
  const output = JSON.parse(answer) as CompilerOutput;
  const problems = (output.errors ?? []).filter(({ severity }) => severity !== 'info');
  if (problems.length > 0) throw new Error(problems.map((problem) => problem.formattedMessage).join('\n'));
  return output;
}

function artifactOf({ abi, evm }: CompilerOutput['contracts'][string][string]): Artifact {
  return {
    abi,
    bytecode: `0x${evm.bytecode.object}`,
    deployedBytecode: `0x${evm.deployedBytecode.object}`,
  };
}
