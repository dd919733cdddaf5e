import assert from 'node:assert/strict';
import { command } from '../../src/actions/command.ts';
import { putEvents } from '../../src/store/chain/chain-events.ts';
import { type PayingShop, result, USDC } from './paying-shop.ts';
import { happen } from './shop.ts';

/** A payment that has succeeded, as relayer and watcher leave it. Its transaction is named after its commitment. */
export async function paidPayment(paying: PayingShop, fields: object = {}): Promise<string> {
  const { gateway, wallet, network, time } = paying;
  const payer = paying.newPayer({ [USDC]: 100_000_000n });
  const id = await paying.created(fields);
  const option = await wallet.option(id, payer.account, USDC);
  const confirmed = await wallet.confirm(id, option.id, [result(await payer.sign(option))]);
  assert.equal(confirmed.statusCode, 200, confirmed.body);
  const commitment = (await paying.items(id))[0]?.commitment ?? '';
  await happen(gateway, id, 'succeeded');
  const block = { blockNumber: 1, blockHash: `0x${'cd'.repeat(32)}` };
  const event = {
    ...block,
    commitment,
    transactionHash: `0x${commitment.slice(2)}`,
    logIndex: 0,
    type: 'paid',
  } as const;
  await command(gateway, async (tx, at) => {
    await putEvents(tx, network().chain.network.chainId, [{ ...event, fields: {} }], at);
    await tx`update items set state = 'paid', ended_at = ${new Date(time.clock.nowMs())} where commitment = ${commitment}`;
  });
  return id;
}
