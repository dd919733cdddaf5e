import { isNamespace, type Namespace } from '../domain/addresses/families.ts';
import { EVM } from './evm/evm-family.ts';
import type { Family } from './family.ts';

/**
 * The adapter of each family of `domain/addresses/families.ts`. Without an adapter, the gateway reads accounts of the family, and
 * never pays from them.
 */
const ADAPTERS: Readonly<Record<Namespace, Family | undefined>> = { eip155: EVM, solana: undefined };

/** The family of a network, by any CAIP id on it. Undefined for a network whose family has no adapter. */
export function findFamily(id: string): Family | undefined {
  const namespace = id.slice(0, id.indexOf(':'));
  return isNamespace(namespace) ? ADAPTERS[namespace] : undefined;
}

/** Like `findFamily`. Throws for a network whose family has no adapter. */
export function familyOf(chainId: string): Family {
  const family = findFamily(chainId);
  if (family === undefined) throw new RangeError(`${chainId} is of a chain family that Till cannot use`);
  return family;
}
