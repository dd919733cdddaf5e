import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { deleteMerchant, restoreMerchant } from '../../src/actions/parties/change-merchant.ts';
import { changePartner } from '../../src/actions/parties/change-partner.ts';
import { appWallet, openPayingShop, type PayingShop, refusal, result, USDC } from './paying-shop.ts';
import { DOLLAR, openRefundScene, type RefundScene, TETHER } from './refund-scene.ts';
import type { TestNode } from './relay-scene.ts';

const EVERYTHING = { watching: { sweepFrom: () => 0n } };

describe('a merchant with money', () => {
  let scene: RefundScene;
  afterEach(() => scene.close());

  const remove = () => deleteMerchant(scene, { owner: null, actor: 'test', merchantId: scene.merchantId });
  /** The ways in which money of a merchant is held, under way or unexpected, and the words of the refusal. */
  const WAYS: Readonly<Record<string, readonly [words: RegExp, have: (node: TestNode) => Promise<unknown>]>> = {
    held: [/1 payment whose money is held/, (node) => scene.paid(node, { isHeld: true })],
    'at a deposit address': [
      /1 payment whose money is held/,
      async (node) => {
        (await scene.deposit()).send(100n);
        await scene.live(node, 2);
      },
    ],
    'being carried out': [/1 payment that is being carried out/, () => scene.accept()],
    'that came late': [
      /1 amount of late money/,
      async (node) => {
        const { send } = await scene.deposit();
        send(1_000n);
        await scene.live(node, 4);
        send(1_000n, { token: TETHER });
        await scene.live(node, 4);
      },
    ],
    'that is refunded': [
      /1 refund that is not over/,
      async (node) => {
        const { id } = await scene.paid(node);
        await scene.request(id);
      },
    ],
    'that is being paid out': [
      /1 transfer under way/,
      async (node) => {
        await scene.paid(node, { isHeld: true });
        await scene.register(scene.payers.newAccount());
        await scene.payOut();
      },
    ],
  };
  for (const [way, [words, have]] of Object.entries(WAYS)) {
    it(`is not deleted while it has money ${way}`, async () => {
      scene = await openRefundScene(EVERYTHING);
      const node = await scene.newNode();
      await scene.live(node, 1);
      await have(node);
      await assert.rejects(remove(), words);
    });
  }

  it('is deleted once it is paid out, and money that comes later in another token is held until it is restored', async () => {
    scene = await openRefundScene(EVERYTHING);
    const node = await scene.newNode();
    await scene.live(node, 1);
    const destination = scene.payers.newAccount();
    const { send } = await scene.deposit({ isHeld: true });
    send(1_000n);
    await scene.live(node, 4);
    await assert.rejects(remove(), /payment whose money is held/);
    await scene.register(destination);
    await scene.live(node, 4);
    assert.equal(scene.control.balanceOf(destination, DOLLAR), 990n);
    await remove();
    send(2_000_000n, { token: TETHER });
    await scene.live(node, 6);
    const lots = await scene.db.sql<{ net: string }[]>`
      select net::text from lots where merchant_id = ${scene.merchantId} and asset = ${TETHER} and is_open`;
    assert.equal(lots.length, 1, 'it is swept, and held for the merchant');
    assert.deepEqual(await scene.differences(), []);
    await restoreMerchant(scene, { merchantId: scene.merchantId, actor: 'test' });
    const another = scene.payers.newAccount();
    await scene.register(another, TETHER);
    await scene.live(node, 6);
    assert.equal(scene.control.balanceOf(another, TETHER), BigInt(lots[0]?.net ?? 0));
    assert.deepEqual(await scene.differences(), []);
  });
});

const ENDINGS: Readonly<Record<string, (paying: PayingShop) => Promise<unknown>>> = {
  'a deleted merchant': (paying) =>
    deleteMerchant(paying.gateway, { owner: null, actor: 'test', merchantId: paying.shop.merchant.id }),
  'a disabled partner': (paying) =>
    changePartner(paying.gateway, {
      actor: 'test',
      partnerId: paying.shop.partner.id,
      changes: { isDisabled: true },
    }),
};

for (const [owner, end] of Object.entries(ENDINGS)) {
  describe(`an open payment of ${owner}`, () => {
    it('is not offered and not paid any more', async () => {
      const paying = await openPayingShop();
      try {
        const wallet = await appWallet(paying.gateway);
        const id = await paying.created();
        const payer = paying.newPayer({ [USDC]: 100_000_000n });
        const option = await wallet.option(id, payer.account, USDC);
        const signature = await payer.sign(option);
        await end(paying);
        const confirm = () => wallet.confirm(id, option.id, [result(signature)]);
        // The transaction that would accept it reads merchant and partner, whatever the node has in memory.
        assert.deepEqual(await refusal(confirm()), [400, 'invalid_state']);
        assert.deepEqual(await refusal(wallet.post(id, 'address', { asset: USDC })), [400, 'invalid_state']);
        await paying.time.advance(5_000);
        assert.deepEqual(await wallet.listed(id, [payer.account]), []);
        assert.deepEqual(await refusal(confirm()), [400, 'invalid_state']);
        assert.equal((await paying.gateway.call({ url: `/x402/${id}` })).statusCode, 400);
        assert.deepEqual(await paying.items(id), []);
      } finally {
        await paying.gateway.stop();
      }
    });
  });
}
