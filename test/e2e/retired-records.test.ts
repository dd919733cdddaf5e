import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { type Registry, readRegistry } from '../../src/chains/registry.ts';
import { OPERATOR_FLOAT } from '../../src/domain/books.ts';
import { findPaymentSettlement } from '../../src/store/payments/payment-settlements.ts';
import { openBooksScene } from './books-scene.ts';
import { ETH, EURC, openPayingShop, USDC, USDT } from './paying-shop.ts';
import { openRefundScene } from './refund-scene.ts';

const FILE = join(import.meta.dirname, '../../networks/eip155-31337.json');
const MINUTE_MS = 60_000;

interface Filed {
  icon?: string;
  retired?: true;
  readonly coin: { icon?: string };
  readonly tokens: { readonly symbol: string; icon?: string; retired?: true }[];
}

describe('a retired record', () => {
  const folder = mkdtempSync(join(tmpdir(), 'till-retired-'));
  after(() => rmSync(folder, { recursive: true }));

  /** The sandbox network, by a file of the operator that retires it or one of its tokens. */
  function retiring(symbol?: string): Registry {
    const file: Filed = JSON.parse(readFileSync(FILE, 'utf8'));
    for (const each of [file, file.coin, ...file.tokens]) delete each.icon;
    for (const each of symbol === undefined ? [file] : file.tokens.filter((token) => token.symbol === symbol)) {
      each.retired = true;
    }
    writeFileSync(join(folder, 'sandbox.json'), JSON.stringify(file));
    const read = readRegistry(folder);
    assert.ok('registry' in read, 'problems' in read ? read.problems.join('\n') : '');
    return read.registry;
  }

  it('of a token: nobody is offered it, and prices in it are refused', async () => {
    const depositMinimum = { everywhere: 0n, on: new Map() };
    const paying = await openPayingShop({ config: { registry: retiring('USDC'), depositMinimum } });
    const { account } = paying.newPayer({ [USDC]: 10n ** 9n, [USDT]: 10n ** 9n, [EURC]: 10n ** 9n, [ETH]: 10n ** 18n });
    const id = await paying.created();
    const { options } = (await paying.wallet.options(id, [account])).json();
    const units = options.map(({ amount }: { amount: { unit: string } }) => amount.unit);
    assert.ok(units.includes(`caip19/${USDT}`) && !units.includes(`caip19/${USDC}`), units.join());
    const address = await paying.wallet.post(id, 'address', { asset: USDC });
    assert.match(address.body, /is not an asset that this payment can be paid with/);
    const priced = await paying.shop.create({ amount: { unit: `caip19/${USDC}`, value: '1' }, referenceId: 'A' });
    assert.equal(priced.statusCode, 400);
    assert.match(
      priced.body,
      /names an asset that nobody could pay with here: its network is not in use, or it is retired/,
    );
    const listed = await paying.gateway.call({ url: '/v1/assets', headers: paying.shop.headers });
    assert.ok(!listed.body.includes(USDC) && listed.body.includes(USDT));
    const only = await paying.shop.create({
      amount: { unit: 'iso4217/USD', value: '100' },
      referenceId: 'B',
      acceptedAssets: [USDC],
    });
    assert.match(only.body, /names an asset that this gateway takes no payments in/);
    await paying.gateway.stop();
  });

  it('of a network: its payments succeed, are paid out and refunded', async () => {
    const scene = await openRefundScene({ registry: retiring() });
    const node = await scene.newNode();
    const refunded = await scene.paid(node, { isHeld: true });
    await scene.fill(node, OPERATOR_FLOAT, 1_000n);
    await scene.request(refunded.id);
    const paidOut = await scene.paid(node, { isHeld: true });
    await scene.register(scene.payers.newAccount());
    await scene.live(node, 6);
    assert.equal((await scene.refund(refunded.id)).state, 'refunded');
    assert.equal((await scene.payout(paidOut.id))?.state, 'paid');
    assert.deepEqual(await scene.differences(), []);
    await scene.close();
  });

  it('of a network: money at its deposit addresses is swept, also when it is late', async () => {
    const scene = await openBooksScene({ watching: { sweepFrom: () => 0n }, registry: retiring() });
    const soon = await scene.deposit();
    const late = await scene.deposit({ lifeMs: 5 * MINUTE_MS });
    const node = await scene.newNode();
    soon.send(1_000n);
    await node.turn(6);
    assert.equal(await scene.status(soon.id), 'succeeded');
    assert.equal((await findPaymentSettlement(scene.db.sql, soon.id))?.amount, '990');
    scene.pass(16 * MINUTE_MS);
    await node.turn(2);
    const before = scene.control.balanceOf(late.item.recipient, USDC);
    late.send(1_000n);
    await node.turn(4);
    assert.equal(await scene.status(late.id), 'expired');
    assert.equal(scene.control.balanceOf(late.item.recipient, USDC), before + 990n);
    assert.deepEqual(await scene.differences(), []);
    await scene.close();
  });
});
