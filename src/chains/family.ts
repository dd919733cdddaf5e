import type { Item, ItemMethod } from '../domain/item.ts';
import type { CommittedTerms } from '../domain/receipt.ts';
import type { Log, World } from '../runtime/world.ts';
import type { Chain } from './chain.ts';
import type { Network } from './network.ts';
import type { Signer } from './signer.ts';

/** The functions of a chain family that need no connection. The functions that need one are those of `Chain`. */
export interface Family {
  createChain(input: ChainInput): Chain;
  /** A signer with a key in this process. */
  createLocalSigner(key: string): Signer;
  /** A signer whose key is with another program. */
  createExternalSigner(input: ExternalSignerInput): Signer;

  /**
   * True if wallets get the actions for this method in the list of options. False if they fetch the actions. Wallets in use
   * expect one or the other, depending on the method.
   */
  listsActions(method: ItemMethod): boolean;
  /**
   * The reason why money that is sent to this address is lost, as the end of a sentence. Undefined if the family uses no contract
   * at this address.
   */
  contractProblem(address: string): string | undefined;
  /** True if the events of our contract at this address show a sealed subject of 32 bytes, and every committed term. */
  isSealed(contract: string): boolean;
  /** True if our contract of deposit addresses at this address accepts authorizations of payers. */
  takesAuthorizations(contract: string): boolean;
  /**
   * The terms from which a receipt recomputes the commitment. Undefined if the computed commitment differs, because stored data
   * was lost.
   */
  committedTerms(item: Item, commitment: string): CommittedTerms | undefined;
}

export interface ChainInput {
  readonly world: World;
  readonly network: Network;
  /** URLs of RPC endpoints, the preferred endpoint first. */
  readonly endpoints: readonly string[];
  readonly log?: Log;
  /** The hash of the first block, once it is known. An endpoint that reports another first block is on another chain, and is not asked. */
  readonly genesis?: () => string | undefined;
}

export interface ExternalSignerInput {
  readonly timers: World['timers'];
  readonly url: string;
  readonly address: string;
}
