import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { command } from '../../src/actions/command.ts';
import { freeze, unfreeze } from '../../src/actions/parties/freeze.ts';
import { setFees } from '../../src/actions/parties/set-fees.ts';
import { isOwnDeposit, renewDepositMacs } from '../../src/actions/paying/deposit-rows.ts';
import { within } from '../../src/actions/renew-macs.ts';
import { type RowKeyDeps, rowKeysOf } from '../../src/actions/row-keys.ts';
import { createSecrets } from '../../src/runtime/secrets.ts';
import { findDeposit } from '../../src/store/chain/deposits.ts';
import { freshKey, TEST_SECRET } from '../gateway.ts';
import { REGISTRY } from '../registry.ts';
import {
  BASE_SEPOLIA,
  BASE_SEPOLIA_USDC,
  DESTINATION,
  ETH,
  EURC,
  openPayingShop,
  type PayingShop,
  refusal,
  SANDBOX,
  USDC,
  USDT,
} from './paying-shop.ts';
import { openShop } from './shop.ts';

describe('an address to send a payment to', () => {
  let paying: PayingShop;
  before(async () => {
    const depositMinimum = { everywhere: undefined, on: new Map([[SANDBOX, 0n]]) };
    paying = await openPayingShop({ chainIds: [SANDBOX, BASE_SEPOLIA], config: { depositMinimum } });
  });
  after(() => paying.gateway.stop());

  const ask = (id: string, asset: unknown) => paying.wallet.post(id, 'address', { asset });

  it('is the same at every request, with its amount and a link for wallets', async () => {
    const id = await paying.created();
    const first = await ask(id, USDC);
    assert.equal(first.statusCode, 200, first.body);
    const { address, amount, uri, expiresAt, confirmations } = first.json();
    const [, , account] = address.split(':');
    assert.match(address, /^eip155:31337:0x[0-9a-fA-F]{40}$/);
    assert.deepEqual([amount.unit, amount.value], [`caip19/${USDC}`, '10000000']);
    const token = USDC.slice(USDC.lastIndexOf(':') + 1);
    assert.equal(uri, `ethereum:${token}@31337/transfer?address=${account}&uint256=10000000`);
    assert.ok(expiresAt > 0 && confirmations >= 1);
    const again = await Promise.all([ask(id, USDC), ask(id, USDC.toLowerCase()), ask(id, USDC)]);
    for (const response of again) assert.deepEqual(response.json(), first.json());
    const { plainAddress, address: full } = (await ask(id, USDC)).json();
    assert.ok(full.endsWith(`:${plainAddress}`) && /^0x[0-9a-fA-F]{40}$/.test(plainAddress), 'one that can be pasted');
    assert.notEqual((await ask(id, USDT)).json().address, address);
    assert.notEqual((await ask(await paying.created(), USDC)).json().address, address);
    const items = await paying.items(id);
    assert.deepEqual(
      items.map(({ method, state }) => [method, state]),
      [
        ['deposit', 'offered'],
        ['deposit', 'offered'],
      ],
    );
    assert.equal((await paying.payment(id)).native_deadline?.getTime(), expiresAt * 1000);
  });

  it('keeps its terms when the destination of the merchant changes', async () => {
    const id = await paying.created();
    const before = (await ask(id, USDC)).json();
    const { gateway, shop } = paying;
    const changed = await gateway.call({
      method: 'POST',
      url: `/v1/merchants/${shop.merchant.id}/settlements/crypto`,
      headers: { ...shop.headers, 'idempotency-key': freshKey() },
      payload: { settlements: [{ asset: USDC, destination: `${SANDBOX}:${DESTINATION}` }] },
    });
    assert.ok(changed.statusCode < 300, changed.body);
    const recipients = new Set<string>();
    for (const each of [id, await paying.created()]) {
      await ask(each, USDC);
      for (const { recipient } of await paying.items(each)) recipients.add(recipient);
    }
    assert.ok(recipients.has(DESTINATION) && recipients.size === 2);
    assert.deepEqual((await ask(id, USDC)).json(), before);
  });

  it('keeps its terms when the fee of the merchant changes', async () => {
    const id = await paying.created();
    const before = (await ask(id, USDC)).json();
    const { gateway, shop } = paying;
    await setFees(
      { registry: REGISTRY, db: gateway.db, world: gateway.world },
      {
        actor: 'test',
        payee: { merchantId: shop.merchant.id },
        terms: { percentage: '50', fixed: [] },
        startsAt: undefined,
      },
    );
    // Nodes remember a merchant and its fees for a few seconds.
    await paying.time.advance(5_000);
    const fees: string[] = [];
    for (const each of [id, await paying.created()]) {
      await ask(each, USDC);
      fees.push(...(await paying.items(each)).map(({ fee }) => fee));
    }
    assert.deepEqual((await ask(id, USDC)).json(), before);
    const [first, second] = fees;
    assert.equal(second, '5000000');
    assert.notEqual(first, second);
  });

  it('is refused for coin, for tokens with a rate, and for anything else that does not pay', async () => {
    const id = await paying.created();
    for (const asset of [ETH, EURC, BASE_SEPOLIA_USDC.replace(/.$/, 'f'), 'nonsense', 7]) {
      assert.deepEqual(await refusal(ask(id, asset)), [400, 'params_validation'], String(asset));
    }
    assert.deepEqual(await refusal(paying.wallet.post(id, 'address', { asset: USDC, more: 1 })), [
      400,
      'params_validation',
    ]);
  });

  it('is refused on a network for which the operator has set no smallest amount', async () => {
    const id = await paying.created();
    assert.deepEqual(await refusal(ask(id, BASE_SEPOLIA_USDC)), [409, 'executor_not_found']);
  });

  it('is refused with less than two minutes left, and for payments that are over', async () => {
    const nowS = paying.time.clock.nowMs() / 1000;
    const short = await paying.created({ expiresAt: Math.floor(nowS) + 119 });
    assert.deepEqual(await refusal(ask(short, USDC)), [400, 'invalid_state']);
    const cancelled = await paying.created();
    await paying.shop.cancel(cancelled);
    assert.deepEqual(await refusal(ask(cancelled, USDC)), [400, 'invalid_state']);
    const open = await paying.created();
    await ask(open, USDC);
    await paying.shop.cancel(open);
    assert.deepEqual(await refusal(ask(open, USDC)), [400, 'invalid_state']);
    assert.deepEqual(await refusal(ask('pay_0000000000000000000000000', USDC)), [404, 'payment_not_found']);
  });

  it('is not shown again while its merchant or network is stopped, unless money has arrived there', async () => {
    const { gateway, time } = paying;
    const shop = await openShop(gateway);
    const [empty, part] = [await paying.created({}, shop), await paying.created({}, shop)];
    const shown = [await ask(empty, USDC), await ask(part, USDC)].map((answer) => answer.json());
    await gateway.db.sql`
      insert into movements (network, transaction_hash, log_index, block_number, block_hash, at, commitment, payment_id,
        asset, sender, amount, is_screened)
      select network, '0x01', 0, 1, '0x02', ${new Date(time.clock.nowMs())}, commitment, payment_id, asset, '0x03', 1, false
      from deposits where payment_id = ${part}`;
    const by = { reason: 'case 7', actor: 'operator' };
    for (const [freezing, refused] of [
      [{ scope: 'merchant', subject: shop.merchant.id, ...by }, [400, 'invalid_state']],
      [{ scope: 'network', subject: SANDBOX, ...by }, [409, 'executor_not_found']],
    ] as const) {
      await freeze(gateway, freezing);
      await time.advance(5_000);
      assert.deepEqual(await refusal(ask(empty, USDC)), refused);
      const { address, arrived } = (await ask(part, USDC)).json();
      assert.deepEqual([address, arrived.value], [shown[1].address, '1'], 'its payer sees the progress');
      await unfreeze(gateway, freezing);
      await time.advance(5_000);
      assert.deepEqual((await ask(empty, USDC)).json(), shown[0]);
    }
  });

  it('is never shown when somebody else wrote it into the database', async () => {
    const id = await paying.created();
    await ask(id, USDC);
    await paying.gateway.db.sql`
      update deposits set address = '0x57a4ae500000000000000000000000000000571a' where payment_id = ${id}`;
    const { statusCode, body } = await ask(id, USDC);
    assert.equal(statusCode, 500);
    assert.doesNotMatch(body, /571a/);
  });

  it('stays ours through a rotation of the master secret, unless somebody changed it', async () => {
    const id = await paying.created();
    await ask(id, USDC);
    const { db } = paying.gateway;
    const isOwn = async (rowKeys: RowKeyDeps['rowKeys']) => {
      const deposit = await findDeposit(db.sql, { paymentId: id, asset: USDC });
      return deposit !== undefined && isOwnDeposit({ rowKeys }, deposit);
    };
    const fresh = new Uint8Array(32).fill(9);
    const keys = { rowKeys: [fresh, ...rowKeysOf(createSecrets([TEST_SECRET]))] } as const;
    const deps = { registry: REGISTRY, db, world: paying.gateway.world };
    const renew = () => command(deps, (tx) => renewDepositMacs(within(tx), keys, (row) => isOwnDeposit(keys, row)));
    assert.equal(await isOwn([fresh]), false);
    assert.ok((await renew()) > 0);
    assert.ok(await isOwn([fresh]));
    await command(deps, (tx) => tx`update deposits set address = 'thief-' || commitment`);
    assert.equal(await renew(), 0);
  });
});
