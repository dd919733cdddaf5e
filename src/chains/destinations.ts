import type { Account } from '../domain/caip.ts';
import { type Chains, isIntermediate } from './chains.ts';
import { findFamily } from './families.ts';
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
  const { chainId, address } = account;
  // A family knows its contracts even on networks that are not connected.
  const ofContract = findFamily(chainId)?.contractProblem(address);
  if (ofContract !== undefined) return ofContract;
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
