import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ChainUnavailableError } from '../../../src/chains/chain-errors.ts';
import type { WalletAction } from '../../../src/chains/payer-side.ts';
import type { Item } from '../../../src/domain/item.ts';
import type { OnScene, Scene } from '../harness.ts';

export function describeEvents(onScene: OnScene): void {
  describe('following the chain', () => {
    it(
      'reports blocks that form a chain',
      onScene(async ({ chain, mine }) => {
        const before = await chain.reader.head();
        await mine();
        await mine();
        const head = await chain.reader.head();
        assert.equal(head.number, before.number + 2);
        assert.ok(head.timestampS >= before.timestampS);
        assert.deepEqual(await chain.reader.block(head.number), head);
        assert.deepEqual(await chain.reader.block(before.number), before);
        const between = await chain.reader.block(before.number + 1);
        assert.equal(between?.parentHash, before.hash);
        assert.equal(head.parentHash, between?.hash);
        assert.equal(await chain.reader.block(head.number + 1), undefined);
      }),
    );

    it(
      'reports all fields of a payment, in its block',
      onScene(async ({ chain, payable, relay, placeOf, mine }) => {
        const { item, signed } = await payable('eip3009-vrs');
        const hash = await relay([signed]);
        await mine();
        const block = await placeOf(hash);
        const { payer, asset, amount, fee, recipient } = item;
        const { seal: subject, feeAccount, deadlineS } = item;
        assert.deepEqual(await chain.reader.events(block.number - 1, block.number + 1), [
          {
            block,
            transactionHash: hash,
            logIndex: (await chain.reader.events(block.number, block.number))[0]?.logIndex,
            collector: item.collector,
            commitment: signed.commitment,
            type: 'paid',
            subject,
            payer,
            asset,
            amount,
            fee,
            recipient,
            terms: { method: item.method, feeAccount, deadline: BigInt(deadlineS) },
          },
        ]);
        assert.deepEqual(await chain.reader.events(block.number + 1, block.number + 1), []);
        assert.deepEqual(await chain.reader.events(block.number - 1, block.number - 1), []);
      }),
    );

    it(
      'distinguishes a forged payment of the same subject by its commitment',
      onScene(async ({ chain, payable, relay, placeOf, newPayer }) => {
        const ordered = await payable('eip3009-vrs');
        const lookAlike = await payable('eip3009-vrs', {
          subject: ordered.item.subject,
          recipient: newPayer().address,
        });
        const { number } = await placeOf(await relay([lookAlike.signed]));
        const [event] = await chain.reader.events(number, number);
        assert.equal(event?.commitment, lookAlike.signed.commitment);
        assert.notEqual(event?.commitment, ordered.signed.commitment);
        assert.equal(await chain.reader.isUsed(ordered.item, ordered.signed.commitment), false);
      }),
    );

    it(
      'reports the same events by each endpoint alone as by all together',
      onScene(async ({ chain, payable, relay, relayers: [relayer], placeOf, mine }) => {
        const { item, signed } = await payable('eip3009-vrs');
        const slot = await chain.sender.usedSlots(relayer.address);
        const hash = await relay([signed]);
        await mine();
        const found = await chain.sender.findTransaction(hash);
        assert.ok(found.is === 'mined');
        const { workSpent, coinSpent } = found;
        const [block, head] = [await placeOf(hash), await chain.reader.head()];
        const events = await chain.reader.events(block.number, block.number);
        const witnesses = chain.reader.witnesses();
        assert.equal(witnesses.length, chain.health().endpoints);
        for (const witness of witnesses) {
          assert.match(witness.name, /^endpoint \d+$/);
          assert.equal(witness.silentForMs(), 0);
          assert.deepEqual(await witness.head(), head);
          assert.deepEqual(await witness.block(head.number), head);
          assert.equal(await witness.block(head.number + 1), undefined);
          assert.ok(((await witness.block('finalized'))?.number ?? 0) <= head.number);
          assert.deepEqual(await witness.receipt(hash), {
            block,
            isReverted: false,
            from: relayer.address.toLowerCase(),
            workSpent,
            coinSpent,
            events,
          });
          assert.equal(await witness.usedSlots(relayer.address), slot + 1);
          assert.equal(await witness.usedSlots(relayer.address, block.number), slot + 1);
          assert.equal(await witness.usedSlots(relayer.address, block.number - 1), slot);
          assert.equal(await witness.receipt(`0x${'ab'.repeat(32)}`), undefined);
          assert.deepEqual(await witness.events(block.number, block.number), events);
          assert.equal(await witness.isUsed(item, signed.commitment, block.number), true);
          assert.equal(await witness.isUsed(item, signed.commitment, block.number - 1), false);
          await assert.rejects(witness.isUsed(item, signed.commitment, head.number + 9), ChainUnavailableError);
          await assert.rejects(witness.events(head.number, head.number + 9), ChainUnavailableError);
        }
      }),
    );
  });

  describe('a reorganisation', () => {
    it(
      'removes payments whose transactions are dropped, and they can be sent again',
      onScene(async ({ chain, payable, relayers: [relayer], mine, reorg, holding }) => {
        const { item, signed } = await payable('eip3009-bytes');
        await mine();
        const bid = { slot: await chain.sender.usedSlots(relayer.address), offer: await chain.sender.suggestOffer() };
        const { hash, bytes } = await chain.sender.signBatch(relayer, [signed], bid);
        await chain.sender.broadcast(bytes);
        await mine();
        await mine();
        const before = await chain.reader.head();
        const paidIn = await chain.reader.block(before.number - 1);

        await reorg(2, 'forgotten');
        const after = await chain.reader.block(before.number);
        assert.notEqual(after?.hash, before.hash);
        assert.notEqual((await chain.reader.block(before.number - 1))?.hash, paidIn?.hash);
        for (const witness of chain.reader.witnesses()) {
          assert.equal((await witness.block(before.number))?.hash, after?.hash);
          assert.equal(await witness.receipt(hash), undefined);
        }
        assert.deepEqual(await chain.reader.events(before.number - 1, before.number), []);
        assert.deepEqual(await chain.sender.findTransaction(hash), { is: 'unknown' });
        assert.equal(await chain.sender.usedSlots(relayer.address), bid.slot);
        assert.equal(await chain.reader.isUsed(item, signed.commitment), false);
        assert.equal(await holding(item.payer, item.asset), item.amount);

        assert.equal(await chain.sender.broadcast(bytes), 'accepted');
        await mine();
        assert.equal(await holding(item.recipient, item.asset), item.amount - item.fee);
      }),
    );

    it(
      'moves a payment to another block whose transaction is kept',
      onScene(async ({ chain, payable, relay, placeOf, mine, reorg }) => {
        const { signed } = await payable('eip3009-vrs');
        await mine();
        const hash = await relay([signed]);
        await mine();
        const before = await placeOf(hash);
        await reorg(2, 'kept');
        const after = await placeOf(hash);
        assert.notEqual(after.hash, before.hash);
        const { number } = await chain.reader.head();
        const events = await chain.reader.events(Math.min(before.number, after.number), number);
        assert.deepEqual(
          events.map((event) => [event.commitment, event.block, event.transactionHash]),
          [[signed.commitment, after, hash]],
        );
      }),
    );
  });

  describe('payments in native coin', () => {
    it(
      'are made by the payer, and reported like all others',
      onScene(async (scene) => {
        const { chain, placeOf, holding } = scene;
        const { item, hash } = await payCoin(scene);
        const block = await placeOf(hash);
        const [event] = await chain.reader.events(block.number, block.number);
        const { payer, asset, amount, fee, recipient } = item;
        assert.deepEqual(event, {
          block,
          transactionHash: hash,
          logIndex: event?.logIndex,
          collector: item.collector,
          commitment: chain.payerSide.commitmentOf(item),
          type: 'paid',
          subject: item.seal,
          payer,
          asset,
          amount,
          fee,
          recipient,
          terms: { method: 'native', feeAccount: item.feeAccount, deadline: BigInt(item.deadlineS) },
        });
        assert.equal(await holding(recipient, asset), amount - fee);
        assert.equal(await chain.reader.isUsed(item, chain.payerSide.commitmentOf(item)), true);
        assert.equal(await chain.reader.isUsed(item, chain.payerSide.commitmentOf(item), block.number - 1), false);
      }),
    );

    it(
      'are made once',
      onScene(async (scene) => {
        const { chain, send, mine, holding } = scene;
        const { payer, item, action } = await payCoin(scene);
        const again = await send(payer, action);
        await mine();
        const found = await chain.sender.findTransaction(again);
        assert.equal(found.is === 'mined' && found.isReverted, true);
        assert.equal(await holding(item.recipient, item.asset), item.amount - item.fee);
      }),
    );

    it(
      'are not made late, and not with another value',
      onScene(async (scene) => {
        const { chain, send, mine, holding, newPayer, newItem, fund } = scene;
        const payer = newPayer();
        await fund(payer.address, scene.assets.native, 10n ** 18n);
        const item = await newItem(payer, 'native');
        const action = onlyAction(chain.payerSide.walletActions(item, 0n));
        const call = action.params[0] as object;
        const inexact = await send(payer, {
          ...action,
          params: [{ ...call, value: `0x${(item.amount + 1n).toString(16)}` }],
        });
        await mine(item.deadlineS + 1);
        const late = await send(payer, action);
        await mine();
        for (const hash of [inexact, late]) {
          const found = await chain.sender.findTransaction(hash);
          assert.equal(found.is === 'mined' && found.isReverted, true);
        }
        assert.equal(await holding(item.recipient, item.asset), 0n);
        assert.equal(await chain.reader.isUsed(item, chain.payerSide.commitmentOf(item)), false);
      }),
    );
  });
}

async function payCoin(scene: Scene) {
  const { chain, assets, newPayer, newItem, fund, send, mine } = scene;
  const payer = newPayer();
  await fund(payer.address, assets.native, 10n ** 18n);
  const item: Item = await newItem(payer, 'native');
  const action = onlyAction(chain.payerSide.walletActions(item, 0n));
  await mine();
  const hash = await send(payer, action);
  await mine();
  return { payer, item, action, hash };
}

function onlyAction([action]: readonly WalletAction[]): WalletAction {
  if (action === undefined) throw new Error('There is nothing for the wallet to do');
  return action;
}
