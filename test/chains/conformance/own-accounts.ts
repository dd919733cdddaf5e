import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { toHex } from 'viem';
import { ChainUnavailableError } from '../../../src/chains/chain-errors.ts';
import { refundIdOf } from '../../../src/domain/ids.ts';
import type { OnScene, Payer, Scene } from '../harness.ts';

/** Transactions and arrivals of the operator's own accounts. */
export function describeOwnAccounts(onScene: OnScene): void {
  describe('accounts of ours', () => {
    for (const method of ['eip3009-vrs', 'eip3009-bytes', 'permit2'] as const) {
      it(
        `sign items that are carried out like anybody's (${method})`,
        onScene(async (scene) => {
          const { chain, relayers, newItem, fund, relay, holding, assets } = scene;
          const [own] = relayers;
          const item = await newItem({ address: own.address } as Payer, method, { fee: 0n });
          const subject = refundIdOf(item.subject, 1);
          const refund = { ...item, subject };
          await fund(own.address, item.asset, item.amount);
          if (method === 'permit2') await approve(scene, assets.permit2);
          const signature = await chain.sender.signItem(own, refund);
          const signed = { item: refund, commitment: chain.payerSide.commitmentOf(refund), signature, hasCode: false };
          assert.partialDeepStrictEqual(await chain.payerSide.judge(refund, signature), { is: 'good', hasCode: false });
          await relay([signed], relayers[1]);
          assert.equal(await holding(refund.recipient, refund.asset), refund.amount);
          assert.deepEqual(await chain.sender.simulate([signed]), [{ is: 'refused', reason: 'used' }]);
          await assert.rejects(chain.sender.signItem(relayers[1], refund), /signed by its payer/);
        }),
      );
    }

    it(
      'send coin by a transaction of their own, once',
      onScene(async (scene) => {
        const { chain, relayers, newItem, relay, holding, assets } = scene;
        const [own] = relayers;
        const item = await newItem({ address: own.address } as Payer, 'native', { fee: 0n });
        const commitment = chain.payerSide.commitmentOf(item);
        const signed = { item, commitment, signature: '0x', hasCode: false };
        assert.deepEqual(await chain.sender.simulate([signed]), [{ is: 'paid' }]);
        const rich = { ...item, amount: 10n ** 30n };
        assert.deepEqual(await chain.sender.simulate([{ ...signed, item: rich }]), [
          { is: 'refused', reason: 'short_balance' },
        ]);
        await relay([signed], own);
        assert.equal(await holding(item.recipient, assets.native), item.amount);
        assert.equal(await chain.reader.isUsed(item, commitment), true);
        assert.deepEqual(await chain.sender.simulate([signed]), [{ is: 'refused', reason: 'used' }]);
      }),
    );

    it(
      'show tokens that reach them, whoever sent them',
      onScene(async ({ chain, newPayer, newAccount, fund, send, mine, assets, payable, relay }) => {
        const [payer, mine1, mine2] = [newPayer(), newAccount(), newAccount()];
        const asset = assets['eip3009-vrs'];
        await fund(payer.address, asset, 100n);
        await fund(payer.address, assets.native, 10n ** 18n);
        const { number } = await chain.reader.head();
        const hash = await send(payer, transfer(payer, asset, mine1, 60n));
        await mine();
        await send(payer, transfer(payer, asset, newAccount(), 40n));
        await mine();
        const { signed } = await payable('eip3009-vrs', { recipient: mine2 });
        await relay([signed]);
        const to = (await chain.reader.head()).number;
        const found = await chain.reader.incoming(new Set([mine1, mine2]), number + 1, to);
        const { collector, amount: paid, fee } = signed.item;
        assert.deepEqual(
          found.map(({ from, to: reached, amount }) => [from, reached, amount]),
          [
            [payer.address, mine1, 60n],
            [collector, mine2, paid - fee],
          ],
        );
        assert.equal(found[0]?.transactionHash, hash);
        assert.equal(found[0]?.asset, asset);
        assert.deepEqual(
          await chain.reader.block(found[0]?.block.number ?? 0).then((block) => block?.hash),
          found[0]?.block.hash,
        );
        for (const witness of chain.reader.witnesses()) {
          assert.deepEqual(await witness.incoming(new Set([mine1, mine2]), number + 1, to), found);
          await assert.rejects(witness.incoming(new Set([mine1]), to, to + 1_000), ChainUnavailableError);
        }
        assert.deepEqual(await chain.reader.incoming(new Set([mine1]), to, to), []);
        // Transfers from them, too. One between two of them is shown once.
        const touching = await chain.reader.touching(new Set([payer.address, mine1, mine2]), number + 1, to);
        assert.deepEqual(
          touching.map(({ from, amount }) => [from, amount]),
          [
            [payer.address, 60n],
            [payer.address, 40n],
            [collector, paid - fee],
          ],
        );
        const taken = await chain.reader.touching(new Set([signed.item.payer]), number + 1, to);
        const arrived = await chain.reader.incoming(new Set([signed.item.payer]), number + 1, to);
        assert.deepEqual(
          taken.slice(arrived.length).map(({ from, to: reached, amount }) => [from, reached, amount]),
          [[signed.item.payer, collector, paid]],
        );
        for (const witness of chain.reader.witnesses()) {
          assert.deepEqual(await witness.touching(new Set([payer.address, mine1, mine2]), number + 1, to), touching);
        }
        assert.deepEqual(await chain.reader.incoming(new Set(), number + 1, to), []);
      }),
    );

    it(
      'show coin by its transaction',
      onScene(async ({ chain, newPayer, newAccount, fund, send, mine, assets }) => {
        const [payer, own] = [newPayer(), newAccount()];
        await fund(payer.address, assets.native, 10n ** 18n);
        const params = [{ from: payer.address, to: own, value: toHex(70n) }];
        const hash = await send(payer, { method: 'eth_sendTransaction', params });
        assert.equal(await chain.reader.coinTransfer(hash), undefined);
        await mine();
        const found = await chain.reader.coinTransfer(hash);
        assert.deepEqual([found?.from, found?.to, found?.amount], [payer.address, own, 70n]);
        assert.equal(found?.asset, assets.native);
        assert.equal(await chain.reader.coinTransfer(`0x${'ab'.repeat(32)}`), undefined);
        const number = found?.block.number ?? 0;
        assert.deepEqual(await chain.reader.coinTransfers([newAccount(), own], number), [found]);
        assert.deepEqual(await chain.reader.coinTransfers([newAccount()], number), []);
        assert.deepEqual(await chain.reader.coinTransfers([own], number - 1), []);
        await assert.rejects(chain.reader.coinTransfers([own], number + 1_000), ChainUnavailableError);
      }),
    );

    it(
      'show the transactions they sent, with slot and cost',
      onScene(async ({ chain, relayers, payable, relay, placeOf, mine, newAccount }) => {
        const [own, other] = relayers;
        const slot = await chain.sender.usedSlots(own.address);
        const before = await chain.reader.balance(own.address);
        const hash = await relay([(await payable('eip3009-vrs')).signed], own);
        const coinSpent = before - (await chain.reader.balance(own.address));
        const block = await placeOf(hash);
        const sent = { hash, from: own.address, slot, block, coinSpent };
        assert.deepEqual(await chain.reader.sentTransaction(hash), sent);
        assert.deepEqual(await chain.reader.sentTransactions([newAccount(), own.address], block.number), [sent]);
        assert.deepEqual(await chain.reader.sentTransactions([other.address], block.number), []);
        assert.deepEqual(await chain.reader.sentTransactions([own.address], block.number - 1), []);

        // Only the use of a slot, without an event.
        const bid = { slot: slot + 1, offer: await chain.sender.suggestOffer() };
        const nothing = await chain.sender.signNothing(own, bid);
        await chain.sender.broadcast(nothing.bytes);
        assert.equal(await chain.reader.sentTransaction(nothing.hash), undefined);
        await mine();
        assert.equal((await chain.reader.sentTransaction(nothing.hash))?.slot, slot + 1);

        assert.equal(await chain.reader.sentTransaction(`0x${'ab'.repeat(32)}`), undefined);
        await assert.rejects(chain.reader.sentTransactions([own.address], block.number + 1_000), ChainUnavailableError);
      }),
    );
  });
}

/** Approves Permit2 for tokens of the first relayer, whose key is a sandbox key. */
async function approve({ chain, relayers, mine, send, newItem }: Scene, asset: string): Promise<void> {
  const { SANDBOX_KEYS } = await import('../../../src/sandbox/genesis.ts');
  const { privateKeyToAccount } = await import('viem/accounts');
  const own = privateKeyToAccount(SANDBOX_KEYS.relayer);
  assert.equal(own.address, relayers[0].address);
  const item = await newItem(own, 'permit2', { asset });
  for (const action of chain.payerSide.walletActions(item, 0n)) {
    if (action.method === 'eth_sendTransaction') await send(own, action);
  }
  await mine();
}

function transfer(payer: Payer, asset: string, to: string, units: bigint) {
  const word = (value: string) => value.slice(2).toLowerCase().padStart(64, '0');
  const data = `0xa9059cbb${word(to)}${word(toHex(units))}`;
  const token = asset.slice(asset.lastIndexOf(':') + 1);
  return { method: 'eth_sendTransaction', params: [{ from: payer.address, to: token, data }] } as const;
}
