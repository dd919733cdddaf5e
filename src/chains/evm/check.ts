import { decodeAbiParameters } from 'viem';
import type { ChainCheck } from '../chain.ts';
import { COLLECTOR_ADDRESS, PERMIT2_ADDRESS } from './collector.ts';
import { ethCall, mapReturned, type Returned } from './eth-call.ts';
import type { AssetTerms, EvmContext } from './evm-context.ts';
import { readHash, readWord } from './rpc-values.ts';
import { hasCodeCall } from './token-calls.ts';
import { separatorOf } from './typed-data.ts';
import { functionCall } from './words.ts';

const decimals = functionCall('decimals()');
const domainSeparator = functionCall('DOMAIN_SEPARATOR()');
const eip712Domain = functionCall('eip712Domain()');

/**
 * Holds what `networks.ts` says against the chain. That the chain is the right one needs no check here: no answer of an
 * endpoint is believed before.
 */
export async function check(context: EvmContext): Promise<ChainCheck> {
  const { rpc, network, assets } = context;
  const [hasCollector, hasPermit2, found] = await Promise.all([
    rpc.call(hasCodeCall(COLLECTOR_ADDRESS)),
    rpc.call(hasCodeCall(PERMIT2_ADDRESS)),
    Promise.all(assets.map((terms) => problemOf(context, terms))),
  ]);
  if (!hasCollector) {
    const problem = `The Collector is not deployed at ${COLLECTOR_ADDRESS}, so nothing can be paid on ${network.name}.`;
    return { payable: [], problems: [problem] };
  }
  const problems = assets.map(({ known, pay }, index) => {
    if (pay.method === 'permit2' && !hasPermit2) return `${nameOf(known)} is switched off: Permit2 is not deployed.`;
    return found[index] === undefined ? undefined : `${nameOf(known)} is switched off: ${found[index]}.`;
  });
  return {
    payable: assets.flatMap(({ known }, index) => (problems[index] === undefined ? [known.id] : [])),
    problems: problems.filter((problem) => problem !== undefined),
  };
}

async function problemOf({ rpc, chainId }: EvmContext, terms: AssetTerms): Promise<string | undefined> {
  const { known, pay, token } = terms;
  if (pay.method === 'native') return undefined;
  const told = mapReturned(ethCall({ to: token, data: decimals() }), readDecimals);
  if (pay.method === 'permit2') return decimalsProblem(known.decimals, await rpc.call(told));

  const [count, separator, domain] = await Promise.all([
    rpc.call(told),
    rpc.call(mapReturned(ethCall({ to: token, data: domainSeparator() }), readSeparator)),
    rpc.call(mapReturned(ethCall({ to: token, data: eip712Domain() }), (returned) => readDomain(returned, chainId))),
  ]);
  const problem = decimalsProblem(known.decimals, count);
  if (problem !== undefined) return problem;
  const onChain = separator ?? domain;
  if (onChain === undefined) return 'the contract does not tell its EIP-712 domain';
  if (onChain !== `0x${terms.domainSeparator?.toString('hex')}`) {
    return `its EIP-712 domain is not the one of name "${pay.domain.name}" and version "${pay.domain.version}"`;
  }
  return undefined;
}

function decimalsProblem(expected: number, found: bigint | undefined): string | undefined {
  if (found === undefined) return 'there is no token at its address';
  return found === BigInt(expected) ? undefined : `the contract has ${found} decimals and not ${expected}`;
}

const readDecimals = (returned: Returned) =>
  'data' in returned && returned.data !== '0x' ? readWord(returned.data) : undefined;

const readSeparator = (returned: Returned) =>
  'data' in returned && returned.data.length === 66 ? readHash(returned.data) : undefined;

/** EIP-5267: the domain told in its parts. */
function readDomain(returned: Returned, chainId: number): string | undefined {
  if (!('data' in returned) || returned.data.length < 66) return undefined;
  const types = ['bytes1', 'string', 'string', 'uint256', 'address', 'bytes32'].map((type) => ({ type }));
  const [, name, version, , contract] = decodeAbiParameters(types, returned.data) as readonly string[];
  return `0x${separatorOf({ name: name ?? '', version: version ?? '', contract: contract ?? '' }, chainId).toString('hex')}`;
}

const nameOf = ({ symbol, id }: { readonly symbol: string; readonly id: string }) => `${symbol} (${id})`;
