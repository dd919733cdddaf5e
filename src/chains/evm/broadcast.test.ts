import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { BroadcastOutcome } from '../sender.ts';
import { readOutcome } from './broadcast.ts';

/** Messages of known Ethereum clients. */
const MESSAGES: readonly (readonly [client: string, message: string, outcome: BroadcastOutcome | undefined])[] = [
  ['geth', 'already known', 'known'],
  ['geth', 'nonce too low: next nonce 5, tx nonce 4', 'slot_used'],
  ['geth', 'replacement transaction underpriced', 'underpriced'],
  ['geth', 'transaction underpriced: gas tip cap 1, minimum needed 1000000', 'underpriced'],
  ['geth', 'max fee per gas less than block base fee: address 0x00, maxFeePerGas: 1, baseFee: 7', 'underpriced'],
  ['geth', 'insufficient funds for gas * price + value: balance 0, tx cost 21000', 'short_balance'],
  ['geth', 'nonce too high: tx nonce 9, gapped', 'slot_early'],
  ['erigon', 'ALREADY_EXISTS: already known', 'known'],
  ['erigon', 'could not replace existing tx', 'underpriced'],
  ['erigon', 'INTERNAL_ERROR: nonce too low', 'slot_used'],
  ['nethermind', 'AlreadyKnown', 'known'],
  ['nethermind', 'OldNonce, Current nonce: 5, nonce of rejected tx: 4', 'slot_used'],
  ['nethermind', 'NonceGap, Future nonce. Expected nonce: 5', 'slot_early'],
  ['nethermind', 'FeeTooLow, EffectivePriorityFeePerGas too low', 'underpriced'],
  ['nethermind', 'ReplacementNotAllowed', 'underpriced'],
  ['nethermind', 'InsufficientFunds, Account balance: 0, cumulative cost: 1', 'short_balance'],
  ['besu', 'Known transaction', 'known'],
  ['besu', 'Nonce too low', 'slot_used'],
  ['besu', 'Nonce too distant in the future', 'slot_early'],
  ['besu', 'Upfront cost exceeds account balance', 'short_balance'],
  ['reth', 'already known', 'known'],
  ['reth', 'transaction underpriced', 'underpriced'],
  ['edr', 'Nonce too low. Expected nonce to be 5 but got 4.', 'slot_used'],
  [
    'edr',
    "Nonce too high. Expected nonce to be 5 but got 9. Note that transactions can't be queued when automining.",
    'slot_early',
  ],
  ['edr', 'Known transaction: 0xabcd', 'known'],
  [
    'edr',
    'Transaction maxFeePerGas (1) is too low for the next block, which has a baseFeePerGas of 875000000',
    'underpriced',
  ],
  [
    'edr',
    "Sender doesn't have enough funds to send tx. The max upfront cost is: 5 and the sender's balance is: 0.",
    'short_balance',
  ],
  ['any', 'internal error', undefined],
  ['any', 'upstream request timeout', undefined],
  ['any', 'header not found', undefined],
  ['any', '', undefined],
];

describe('the answer of a client to a broadcast', () => {
  for (const [client, message, outcome] of MESSAGES) {
    it(`${client}: "${message}" is ${outcome ?? 'no answer'}`, () => {
      assert.equal(readOutcome({ message: message.toLowerCase() }), outcome);
    });
  }
});
