import assert from 'node:assert/strict';
import { it } from 'node:test';
import { findNetwork } from '../../../test/registry.ts';
import type { ChainEvent, ChainReader, Receipt, Witness } from '../../chains/chain-reader.ts';
import type { Network } from '../../chains/network.ts';
import { SHOWN, showings } from './prove-events.ts';
import { storedEvent } from './read-events.ts';

const EVENTS = 3_000;

// Anybody can have the Collector refuse known items thousands of times in one transaction.
it('reads each event of a receipt at most twice, however many of its events are proved', async () => {
  const block = { number: 7, hash: '0x07' };
  const refusals = Array.from({ length: EVENTS }, (_, logIndex): ChainEvent => {
    const commitment = `0x${logIndex}`;
    return { type: 'refused', reason: 'used', block, transactionHash: '0x01', logIndex, collector: '0x02', commitment };
  });
  let reads = 0;
  const events = refusals.map(
    (event) =>
      new Proxy(event, {
        get: (target, name) => {
          if (name === 'logIndex') reads += 1;
          return Reflect.get(target, name);
        },
      }),
  );
  const receipt = { block, isReverted: false, from: '', workSpent: 0n, coinSpent: 0n, events } as Receipt;
  const witness = {
    name: 'endpoint 1',
    receipt: async () => receipt,
    block: async () => ({ ...block, parentHash: '0x06', timestampS: 0 }),
  } as unknown as Witness;
  const network = findNetwork('eip155:31337') as Network;
  const reader = { network: { ...network, isTrustedAlone: false }, witnesses: () => [witness] };
  const stored = refusals.map(storedEvent);
  const show = showings(reader as unknown as ChainReader, stored);
  const seen = await Promise.all(stored.map((event) => show(witness, event)));
  assert.deepEqual(new Set(seen), new Set([SHOWN]));
  assert.ok(reads <= 2 * EVENTS, `${reads} reads`);
  const other = { ...stored[5], fields: { reason: 'late' } } as (typeof stored)[number];
  assert.notEqual(await show(witness, other), SHOWN, 'the receipt shows another reason');
});
