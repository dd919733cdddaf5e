import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { OnScene } from '../harness.ts';

const TOKEN_METHODS = ['eip3009-vrs', 'eip3009-bytes', 'permit2'] as const;

export function describeReading(onScene: OnScene): void {
  describe('reading accounts', () => {
    it(
      'finds the network as it is known',
      onScene(async ({ chain, assets }) => {
        const { payable, problems } = await chain.check();
        assert.deepEqual(problems, []);
        for (const asset of Object.values(assets)) assert.ok(payable.includes(asset), asset);
      }),
    );

    it(
      'surveys every payer and asset in one answer',
      onScene(async ({ chain, assets, fund, payable, newAccount, setBlacklisted }) => {
        const [rich, poor, refused] = [newAccount(), newAccount(), newAccount()];
        const recipient = newAccount();
        const approved = await payable('permit2');
        await fund(rich, assets['eip3009-vrs'], 70n);
        await fund(rich, assets.native, 5n);
        await setBlacklisted(refused, assets['eip3009-vrs'], true);

        const asked = Object.values(assets).map((asset) => ({ asset, recipient }));
        const payers = [rich, poor, refused, approved.item.payer];
        const { holdings, unreceivable } = await chain.payerSide.survey({ payers, assets: asked, timeoutMs: 5_000 });
        assert.deepEqual(unreceivable, []);
        assert.equal(holdings.length, payers.length * asked.length);
        const of = (payer: string, asset: string) =>
          holdings.find((holding) => holding.payer === payer && holding.asset === asset);
        assert.deepEqual(of(rich, assets['eip3009-vrs']), {
          payer: rich,
          asset: assets['eip3009-vrs'],
          balance: 70n,
          allowance: 0n,
          isRefused: false,
        });
        assert.equal(of(rich, assets.native)?.balance, 5n);
        assert.equal(of(poor, assets.native)?.balance, 0n);
        assert.equal(of(poor, assets['eip3009-vrs'])?.balance, 0n);
        assert.equal(of(refused, assets['eip3009-vrs'])?.isRefused, true);
        assert.equal(of(refused, assets['eip3009-bytes'])?.isRefused, false);
        assert.ok((of(approved.item.payer, assets.permit2)?.allowance ?? 0n) >= approved.item.amount);
        assert.equal(of(rich, assets.permit2)?.allowance, 0n);
      }),
    );

    it(
      'names the assets that their recipient cannot receive',
      onScene(async ({ chain, assets, newAccount, setBlacklisted, setPaused }) => {
        const [recipient, blacklisted] = [newAccount(), newAccount()];
        await setBlacklisted(blacklisted, assets['eip3009-vrs'], true);
        await setPaused(assets['eip3009-bytes'], true);
        const { unreceivable } = await chain.payerSide.survey({
          payers: [newAccount()],
          assets: [
            { asset: assets['eip3009-vrs'], recipient: blacklisted },
            { asset: assets['eip3009-bytes'], recipient },
            { asset: assets.permit2, recipient },
            { asset: assets.native, recipient },
          ],
          timeoutMs: 5_000,
        });
        assert.deepEqual([...unreceivable].sort(), [assets['eip3009-vrs'], assets['eip3009-bytes']].sort());
      }),
    );

    it(
      'reports balances in coin',
      onScene(async ({ chain, assets, fund, newAccount }) => {
        const account = newAccount();
        assert.equal(await chain.reader.balance(account), 0n);
        await fund(account, assets.native, 123n);
        assert.equal(await chain.reader.balance(account), 123n);
      }),
    );
  });

  describe('trying a batch out', () => {
    it(
      'reports the outcome of each item, and changes nothing',
      onScene(async ({ chain, payable, signItem, newItem, newPayer, holding, usedReason }) => {
        const good = await payable('eip3009-vrs');
        const poor = newPayer();
        const short = await signItem(poor, await newItem(poor, 'eip3009-vrs'));
        const forged = { ...(await payable('eip3009-vrs')).signed, signature: short.signature };
        const outcomes = await chain.sender.simulate([short, good.signed, forged, good.signed]);
        assert.deepEqual(outcomes, [
          { is: 'refused', reason: 'short_balance' },
          { is: 'paid' },
          { is: 'refused', reason: 'wrong_signature' },
          { is: 'refused', reason: usedReason },
        ]);
        assert.equal(await holding(good.item.payer, good.item.asset), good.item.amount);
      }),
    );

    it(
      'reports the outcome at an earlier block',
      onScene(async ({ chain, assets, mine, fund, relay, newPayer, newItem, signItem }) => {
        const payer = newPayer();
        const signed = await signItem(payer, await newItem(payer, 'eip3009-bytes'));
        await mine();
        const poor = (await chain.reader.head()).number;
        await mine();
        await fund(payer.address, assets['eip3009-bytes'], signed.item.amount);
        await mine();
        const rich = (await chain.reader.head()).number;
        await relay([signed]);
        const paid = (await chain.reader.head()).number;
        const at = async (atBlock?: number) =>
          (await chain.sender.simulate([signed], atBlock === undefined ? {} : { atBlock }))[0];
        assert.deepEqual(await at(poor), { is: 'refused', reason: 'short_balance' });
        assert.deepEqual(await at(rich), { is: 'paid' });
        assert.deepEqual(await at(paid), { is: 'refused', reason: 'used' });
        assert.deepEqual(await at(), { is: 'refused', reason: 'used' });
      }),
    );
  });

  describe('whether an authorization is used up', () => {
    for (const method of TOKEN_METHODS) {
      it(
        `knows before, after, and at an earlier block (${method})`,
        onScene(async ({ chain, payable, relay, mine }) => {
          const { item, signed } = await payable(method);
          assert.equal(await chain.reader.isUsed(item, signed.commitment), false);
          await mine();
          const before = (await chain.reader.head()).number;
          await relay([signed]);
          assert.equal(await chain.reader.isUsed(item, signed.commitment), true);
          assert.equal(await chain.reader.isUsed(item, signed.commitment, before), false);
          assert.equal(await chain.reader.isUsed(item, signed.commitment, before + 1), true);
        }),
      );

      it(
        `counts a cancelled one (${method})`,
        onScene(async ({ chain, payable, cancelAuthorization }) => {
          const { payer, item, signed } = await payable(method);
          await cancelAuthorization(payer, item);
          assert.equal(await chain.reader.isUsed(item, signed.commitment), true);
          assert.deepEqual(await chain.sender.simulate([signed]), [{ is: 'refused', reason: 'used' }]);
        }),
      );
    }
  });
}
