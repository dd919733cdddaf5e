import { decodeAbiParameters } from 'viem';
import type { ChainCheck, ChainProblem } from '../chain-check.ts';
import { type Asked, askTwo, eachEndpoint, type Word } from './ask-two.ts';
import { PERMIT2_ADDRESS } from './collector.ts';
import type { ContractRelease } from './collectors.ts';
import { ethCall } from './eth-call.ts';
import type { AssetTerms, EvmContext } from './evm-context.ts';
import type { RpcCall } from './json-rpc.ts';
import { type Hex, readHash, readWord } from './rpc-values.ts';
import { codeHashCall, hasCodeCall } from './token-calls.ts';
import { separatorOf } from './typed-data.ts';
import { functionCall, uint } from './words.ts';

const decimals = functionCall('decimals()');
const domainSeparator = functionCall('DOMAIN_SEPARATOR()');
const eip712Domain = functionCall('eip712Domain()');
const authorizationState = functionCall('authorizationState(address,bytes32)');
const ZERO = uint(0);

/** The check of an EVM network, with the deployed releases of our contracts. */
export interface EvmCheck extends ChainCheck {
  /** The deployed releases of the Collector, the oldest first. */
  readonly collectors: readonly ContractRelease[];
  readonly depositContracts: readonly ContractRelease[];
}

/**
 * Compares the chain with the record of its network and `collectors.ts`. A difference counts only if two endpoints report it.
 * While endpoints contradict each other, contracts and assets keep their previous state. The chain id is not checked here: it is
 * checked for every endpoint before the endpoint's first answer counts. A wrong or unreachable asset does not affect other
 * assets.
 */
export async function check(context: EvmContext): Promise<EvmCheck> {
  const { network, assets } = context;
  const endpoints = eachEndpoint(context);
  const codesOf = (releases: readonly ContractRelease[]) =>
    Promise.all(releases.map((release) => codeOf(context, endpoints, release)));
  const [codes, depositCodes, permit2, tokens] = await Promise.all([
    codesOf(context.collectors),
    codesOf(context.depositContracts),
    askTwo(endpoints, async ({ rpc }) => ((await rpc.call(hasCodeCall(PERMIT2_ADDRESS))) ? FINE : NO_PERMIT2)),
    Promise.all(assets.map((terms) => askTwo(endpoints, async (asked) => (await problemOf(asked, terms)) ?? FINE))),
  ]);
  const { collectors, problems } = judgeCollectors(context, codes);
  // A network without the contract that sweeps has no deposit addresses. All other payment methods work.
  const depositContracts = context.depositContracts.filter(
    ({ codeHash }, index) => depositCodes[index]?.is === codeHash,
  );
  const findings = assets.map(({ known, pay }, index) => {
    const words = [...(pay.method === 'permit2' ? [permit2] : []), ...tokens.slice(index, index + 1)];
    const finding = words.map(findingOf).find(({ is }) => is !== 'good') ?? GOOD;
    return { ...finding, asset: known.id, name: `${known.symbol} (${known.id})` };
  });
  const disputes = [
    ...[...codes, ...depositCodes].flatMap(({ dispute }) => dispute ?? []),
    ...findings.flatMap(({ name, dispute }) => (dispute === undefined ? [] : [`${name}: ${dispute}`])),
  ].map((dispute) => `The endpoints of ${network.name} contradict each other about ${dispute}.`);
  if (collectors.length === 0) {
    const unchecked = codes.some(({ is }) => is === UNKNOWN) ? assets.map(({ known }) => known.id) : [];
    return { payable: [], unchecked, problems, disputes, collectors, depositContracts };
  }
  const assetsThat = (is: Finding['is']) => findings.filter((each) => each.is === is).map(({ asset }) => asset);
  return {
    payable: assetsThat('good'),
    unchecked: assetsThat('unchecked'),
    problems: [
      ...problems,
      ...findings.flatMap((each): ChainProblem[] => {
        if (each.is === 'good') return [];
        const what = each.is === 'wrong' ? 'is switched off' : 'could not be checked';
        return [{ subject: each.asset, message: `${each.name} ${what}: ${each.problem}.` }];
      }),
    ],
    disputes,
    collectors,
    depositContracts,
  };
}

/** The usable releases of the Collector, and the problems of the other releases. */
function judgeCollectors({ network, collectors }: EvmContext, codes: readonly Code[]) {
  const deployed = collectors.filter(({ codeHash }, index) => codes[index]?.is === codeHash);
  const problem = (message: string): ChainProblem => ({ subject: network.chainId, message });
  const foreign = collectors.filter(
    ({ codeHash }, index) => ![codeHash, NO_CODE, UNKNOWN].includes(codes[index]?.is ?? ''),
  );
  const problems = foreign.map(({ address }) =>
    problem(`The contract at ${address} on ${network.name} is not the Collector: its code is another one.`),
  );
  const newest = collectors.at(-1);
  // A missing older release is no problem: where it was never deployed, no payment was signed for it.
  if (newest !== undefined && !deployed.includes(newest) && !foreign.includes(newest)) {
    const last = deployed.at(-1);
    const consequence =
      last === undefined
        ? `so nothing can be paid on ${network.name}`
        : `so payments on ${network.name} are signed for the older one at ${last.address}`;
    const { is, doubt = '' } = codes.at(-1) ?? { is: NO_CODE };
    problems.push(
      problem(
        is === UNKNOWN
          ? `It is unknown whether the Collector is deployed at ${newest.address} (${doubt}), ${consequence}.`
          : `The Collector is not deployed at ${newest.address}, ${consequence}.`,
      ),
    );
  }
  return { collectors: deployed, problems };
}

/** The code of a contract: its hash, `NO_CODE` or `UNKNOWN`. */
interface Code {
  readonly is: string;
  /** The answers of the endpoints, if they did not agree on the code. */
  readonly doubt?: string;
  readonly dispute?: string;
}

const NO_CODE = 'no code';
const UNKNOWN = 'unknown';

/**
 * The code at the address of a release. While the endpoints contradict each other, or only one answers, this is the code that was
 * accepted last. If none was accepted yet, a single answer is enough if it is the code of the release, so that a node can start
 * while an endpoint is down.
 */
async function codeOf(
  { codeMemory }: EvmContext,
  endpoints: readonly Asked[],
  { address, codeHash }: ContractRelease,
): Promise<Code> {
  const word = await askTwo(endpoints, async ({ rpc }) => (await rpc.call(codeHashCall(address))) ?? NO_CODE);
  if (word.is === 'silence') throw word.error;
  const isBelieved = word.is === 'agreed' || (word.is === 'alone' && word.value === codeHash);
  if (isBelieved && (word.is === 'agreed' || !codeMemory.has(address))) codeMemory.set(address, word.value);
  const is = codeMemory.get(address) ?? UNKNOWN;
  if (word.is === 'agreed') return { is };
  const { answers } = word;
  return { is, doubt: answers, ...(word.is === 'disputed' && { dispute: `the code at ${address}: ${answers}` }) };
}

type Finding =
  | { readonly is: 'good'; readonly dispute?: undefined }
  | { readonly is: 'wrong'; readonly problem: string; readonly dispute?: undefined }
  | { readonly is: 'unchecked'; readonly problem: string; readonly dispute?: string };

const GOOD: Finding = { is: 'good' };

/** The answer of an endpoint that finds no problem. */
const FINE = 'as known';
const NO_PERMIT2 = 'Permit2 is not deployed';

/** The finding about an asset from the answers. One endpoint suffices for a good asset, unless another endpoint contradicts it. */
function findingOf(word: Word): Finding {
  if (word.is === 'silence') return { is: 'unchecked', problem: word.error.message };
  if (word.is === 'disputed') return { is: 'unchecked', problem: word.answers, dispute: word.answers };
  if (word.value === FINE) return GOOD;
  return word.is === 'agreed'
    ? { is: 'wrong', problem: word.value }
    : { is: 'unchecked', problem: `${word.answers}, and no other endpoint answers` };
}

/** The problem of an asset, as the end of a sentence. Undefined if there is none. */
async function problemOf({ rpc, chainId, network }: EvmContext, terms: AssetTerms): Promise<string | undefined> {
  const { known, pay, token } = terms;
  if (pay.method === 'native') return undefined;
  const has3009 = pay.method !== 'permit2';
  const [count, separator, domain, state] = await Promise.all([
    rpc.call(published(token, decimals(), readWord)),
    has3009 ? rpc.call(published(token, domainSeparator(), readHash)) : undefined,
    has3009 ? rpc.call(published(token, eip712Domain(), (data) => readDomain(data, chainId))) : undefined,
    has3009 ? rpc.call(published(token, authorizationState(ZERO, ZERO), readWord)) : undefined,
  ]);
  if (count === undefined) return 'there is no token at its address';
  if (count !== BigInt(known.decimals)) {
    const place = network.places?.get(known.id);
    const way = place === undefined ? '' : `. Correct ${place}`;
    return `the contract has ${count} decimals and not ${known.decimals}${way}`;
  }
  if (pay.method === 'permit2') return undefined;
  if (state === undefined) return 'the contract does not have EIP-3009';
  const reported = [separator, domain].filter((each) => each !== undefined);
  if (reported.length === 0) return 'the contract has neither DOMAIN_SEPARATOR() nor eip712Domain()';
  const expected = `0x${terms.domainSeparator?.toString('hex')}`;
  if (reported.every((each) => each === expected)) return undefined;
  return `its EIP-712 domain is not the one of name "${pay.domain.name}" and version "${pay.domain.version}"`;
}

/**
 * The return value of a contract's function. Undefined if the contract lacks the function: the call reverts, or a fallback function
 * returns data of another form.
 */
export function published<T>(contract: string, data: Hex, read: (data: Hex) => T): RpcCall<T | undefined> {
  return ethCall({ to: contract, data }, (returned) => {
    try {
      return 'data' in returned ? read(returned.data) : undefined;
    } catch {
      return undefined;
    }
  });
}

/** Reads the answer to `eip712Domain()` (EIP-5267). It is hashed like our own domain, so that the hashes can be compared. */
function readDomain(data: Hex, chainId: number): string {
  const types = ['bytes1', 'string', 'string', 'uint256', 'address', 'bytes32'].map((type) => ({ type }));
  const [, name, version, , contract] = decodeAbiParameters(types, data) as readonly string[];
  return `0x${separatorOf({ name: name ?? '', version: version ?? '', contract: contract ?? '' }, chainId).toString('hex')}`;
}
