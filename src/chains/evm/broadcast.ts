import { keccak256 } from 'viem';
import { unlessUnavailable } from '../chain-errors.ts';
import type { BroadcastOutcome } from '../sender.ts';
import type { EvmContext } from './evm-context.ts';
import { gatherAnswers } from './gather-answers.ts';
import type { RpcCall, RpcError } from './json-rpc.ts';
import { type Hex, readHash } from './rpc-values.ts';

const SHORT = /insufficient (funds|balance)|insufficientfunds|enough funds|upfront cost exceeds/;

/**
 * True if the error says that the sender's balance is too low. Some clients check this balance even for `eth_call`, before they
 * run code.
 */
export const isShort = ({ message }: Pick<RpcError, 'message'>) => SHORT.test(message);

/**
 * The error texts of clients for a broadcast transaction. Clients give no error codes, so this table matches the texts of geth,
 * Erigon, Nethermind, Besu, Reth and EDR. Order matters: texts of earlier rows may contain texts of later rows.
 */
const ERROR_TEXTS: readonly (readonly [RegExp, BroadcastOutcome])[] = [
  [
    /already known|known transaction|already imported|already exists|already in (the )?(mem)?pool|alreadyknown|duplicate/,
    'known',
  ],
  [
    /nonce too low|nonce is too low|oldnonce|old nonce|nonce_too_low|lower than the current nonce|nonce.*already been used/,
    'slot_used',
  ],
  [
    /nonce too high|nonce is too high|nonce gap|noncegap|gapped|nonce.*(distant|far) (in the|in) future|nonce_too_high/,
    'slot_early',
  ],
  [
    /underpriced|could not replace|replacement|fee too low|feetoolow|less than block base fee|below.*base fee|too low for the next block|max fee.*(low|less)|gas price.*(low|less|below)|tip.*(low|below|less)/,
    'underpriced',
  ],
  [SHORT, 'short_balance'],
];

/**
 * The order in which answers of several endpoints to the same transaction count, the most favourable first: one endpoint that has
 * the transaction suffices.
 */
const BY_WORTH: readonly BroadcastOutcome[] = [
  'accepted',
  'known',
  'underpriced',
  'slot_early',
  'slot_used',
  'short_balance',
];

/** Sends the transaction to every endpoint at once. If none answers, it is sent to one endpoint after the other, in several rounds. */
export async function broadcastToAll({ rpc, world }: EvmContext, bytes: string): Promise<BroadcastOutcome> {
  const asked = broadcastCall(bytes);
  const answers = await gatherAnswers(
    world.timers,
    rpc.endpoints.map((endpoint) => unlessUnavailable(rpc.callOne(endpoint, asked))),
    (outcome) => outcome === 'accepted' || outcome === 'known',
  );
  return BY_WORTH.find((outcome) => answers.includes(outcome)) ?? rpc.call(asked);
}

/**
 * The call that broadcasts a signed transaction. The same bytes may be broadcast any number of times to any endpoint: they are
 * one transaction.
 */
export function broadcastCall(bytes: string): RpcCall<BroadcastOutcome> {
  const hash = keccak256(bytes as Hex);
  return {
    method: 'eth_sendRawTransaction',
    params: [bytes],
    read: (result) => {
      if (readHash(result) !== hash) throw new TypeError('another transaction');
      return 'accepted';
    },
    readError: (error) => {
      const outcome = readOutcome(error);
      return outcome && { value: outcome };
    },
    // A lagging node can still pass a transaction on to other nodes.
    toleratesLag: true,
  };
}

export function readOutcome({ message }: Pick<RpcError, 'message'>): BroadcastOutcome | undefined {
  return ERROR_TEXTS.find(([words]) => words.test(message))?.[1];
}
