import { isNamespace, type Namespace } from '../domain/addresses/families.ts';
import { createEvmChain } from './evm/evm-chain.ts';
import { createExternalSigner } from './evm/external-signer.ts';
import { createLocalSigner } from './evm/local-signer.ts';
import type { Family } from './family.ts';

/** The adapter of each family of `domain/addresses/families.ts`. Accounts of a family without one are read, and never paid from. */
const ADAPTERS: Readonly<Record<Namespace, Family | undefined>> = {
  eip155: { createChain: createEvmChain, createLocalSigner, createExternalSigner },
  solana: undefined,
};

/** The family of a network, by its CAIP-2 id. Throws for a network whose family has no adapter. */
export function familyOf(chainId: string): Family {
  const namespace = chainId.slice(0, chainId.indexOf(':'));
  const family = isNamespace(namespace) ? ADAPTERS[namespace] : undefined;
  if (family === undefined) throw new RangeError(`${chainId} is of a chain family that Till cannot use`);
  return family;
}
