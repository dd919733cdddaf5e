import type { Log, World } from '../runtime/world.ts';
import type { Chain } from './chain.ts';
import type { Network } from './network.ts';
import type { Signer } from './signer.ts';

/** The part of a chain family that the program needs before it connects. Its chains then have the ports. */
export interface Family {
  createChain(input: ChainInput): Chain;
  /** A signer with a key in this process. */
  createLocalSigner(key: string): Signer;
  /** A signer whose key is with another program. */
  createExternalSigner(input: ExternalSignerInput): Signer;
}

export interface ChainInput {
  readonly world: World;
  readonly network: Network;
  /** URLs of RPC endpoints, the preferred endpoint first. */
  readonly endpoints: readonly string[];
  readonly log?: Log;
  /** The hash of the first block, once it is known. An endpoint with another one is on another chain, and is not asked. */
  readonly genesis?: () => string | undefined;
}

export interface ExternalSignerInput {
  readonly timers: World['timers'];
  readonly url: string;
  readonly address: string;
}
