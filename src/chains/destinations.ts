import type { Account } from '../domain/caip.ts';
import { type Chains, isIntermediate } from './chains.ts';
import { COLLECTORS, type ContractRelease, DEPOSIT_CONTRACTS } from './collectors.ts';
import { PERMIT2_ADDRESS } from './evm/collector.ts';
import { assetsOf, type RegistryDeps } from './registry.ts';

/**
 * The reason why an account cannot be a destination, as the end of a sentence. Undefined for a good destination. Money sent to our
 * contracts is lost. Money sent to an account of the operator would count as paid out although it is still there.
 */
export function destinationProblem(
  { chains, registry }: RegistryDeps & { readonly chains: Chains },
  account: Account,
  asset: string,
): string | undefined {
  const { chainId, namespace, address } = account;
  // These contracts have the same address on every EVM chain, connected or not.
  const isOneOf = (releases: readonly ContractRelease[]) => releases.some((release) => release.address === address);
  if (namespace === 'eip155' && isOneOf(COLLECTORS)) return 'must not be the Collector, which passes all on';
  if (namespace === 'eip155' && isOneOf(DEPOSIT_CONTRACTS)) {
    return 'must not be the contract of deposit addresses, which can give nothing back';
  }
  if (namespace === 'eip155' && address === PERMIT2_ADDRESS) return 'must not be Permit2, which can give nothing back';
  const tokens = [asset, ...assetsOf(registry, chainId).map(({ id }) => id)];
  if (tokens.some((token) => contractOf(token) === address)) return 'must not be the contract of a token';
  const connected = chains.find(chainId);
  const isOurs =
    connected !== undefined &&
    (isIntermediate(connected, address) || connected.relayers.some((relayer) => relayer.address === address));
  if (isOurs) return "must not be the operator's own account";
  return undefined;
}

/** The address of the token's contract. The asset id must be in canonical spelling. */
function contractOf(asset: string): string | undefined {
  return /\/(?:erc20|token):(.+)$/.exec(asset)?.[1];
}
