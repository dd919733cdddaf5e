import { decodeAbiParameters } from 'viem';
import type { ChainCheck, ChainProblem } from '../chain-check.ts';
import { ChainUnavailableError } from '../chain-errors.ts';
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
  /** The oldest first. */
  readonly collectors: readonly ContractRelease[];
  readonly depositContracts: readonly ContractRelease[];
}

/**
 * Compares the chain with the record of its network and `collectors.ts`. The chain id is not checked here: it is checked for every endpoint
 * before the endpoint's first answer counts. A wrong or unreachable asset does not affect other assets.
 */
export async function check(context: EvmContext): Promise<EvmCheck> {
  const { rpc, assets } = context;
  const codeHashesOf = (releases: readonly ContractRelease[]) =>
    Promise.all(releases.map(({ address }) => rpc.call(codeHashCall(address))));
  const [codeHashes, depositHashes, hasPermit2, findings] = await Promise.all([
    codeHashesOf(context.collectors),
    codeHashesOf(context.depositContracts),
    rpc.call(hasCodeCall(PERMIT2_ADDRESS)),
    Promise.all(assets.map((terms) => findingOf(context, terms))),
  ]);
  const { collectors, problems } = judgeCollectors(context, codeHashes);
  // A network without this contract has no deposit addresses. All other payment methods work.
  const depositContracts = context.depositContracts.filter(({ codeHash }, index) => depositHashes[index] === codeHash);
  if (collectors.length === 0) return { payable: [], unchecked: [], problems, collectors, depositContracts };
  const found = assets.map(({ known, pay }, index) => {
    const finding = pay.method === 'permit2' && !hasPermit2 ? NO_PERMIT2 : (findings[index] ?? GOOD);
    return { ...finding, asset: known.id, name: `${known.symbol} (${known.id})` };
  });
  const assetsThat = (is: Finding['is']) => found.filter((each) => each.is === is).map(({ asset }) => asset);
  return {
    payable: assetsThat('good'),
    unchecked: assetsThat('unchecked'),
    problems: [
      ...problems,
      ...found.flatMap((each): ChainProblem[] => {
        if (each.is === 'good') return [];
        const what = each.is === 'wrong' ? 'is switched off' : 'could not be checked';
        return [{ subject: each.asset, message: `${each.name} ${what}: ${each.problem}.` }];
      }),
    ],
    collectors,
    depositContracts,
  };
}

/** The usable releases of the Collector, and the problems of the other releases. */
function judgeCollectors({ network, collectors }: EvmContext, codeHashes: readonly (string | undefined)[]) {
  const deployed = collectors.filter(({ codeHash }, index) => codeHashes[index] === codeHash);
  const problem = (message: string): ChainProblem => ({ subject: network.chainId, message });
  const foreign = collectors.filter(({ codeHash }, index) => (codeHashes[index] ?? codeHash) !== codeHash);
  const problems = foreign.map(({ address }) =>
    problem(`The contract at ${address} on ${network.name} is not the Collector: its code is another one.`),
  );
  const newest = collectors.at(-1);
  // A missing older release is no problem: a chain that never had it has no payments signed for it.
  if (newest !== undefined && !deployed.includes(newest) && !foreign.includes(newest)) {
    const last = deployed.at(-1);
    const consequence =
      last === undefined
        ? `so nothing can be paid on ${network.name}`
        : `so payments on ${network.name} are signed for the older one at ${last.address}`;
    problems.push(problem(`The Collector is not deployed at ${newest.address}, ${consequence}.`));
  }
  return { collectors: deployed, problems };
}

type Finding = { readonly is: 'good' } | { readonly is: 'wrong' | 'unchecked'; readonly problem: string };

const GOOD: Finding = { is: 'good' };
const NO_PERMIT2: Finding = { is: 'wrong', problem: 'Permit2 is not deployed' };

async function findingOf(context: EvmContext, terms: AssetTerms): Promise<Finding> {
  try {
    const problem = await problemOf(context, terms);
    return problem === undefined ? GOOD : { is: 'wrong', problem };
  } catch (error) {
    if (error instanceof ChainUnavailableError) return { is: 'unchecked', problem: error.message };
    throw error;
  }
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
