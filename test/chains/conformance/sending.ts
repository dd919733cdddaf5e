import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { privateKeyToAccount } from 'viem/accounts';
import type { Chain } from '../../../src/chains/chain.ts';
import type { Bid } from '../../../src/chains/sender.ts';
import type { Signer } from '../../../src/chains/signer.ts';
import type { SignedItem } from '../../../src/domain/item.ts';
import type { OnScene, Scene } from '../harness.ts';
import { signerFromKey } from '../signer.ts';

const TOKEN_METHODS = ['eip3009-vrs', 'eip3009-bytes', 'permit2'] as const;

/** The same slot, with the offer of a replacement. */
function raised({ sender }: Chain, bid: Bid): Bid {
  const offer = sender.raiseOffer(bid.offer, { current: bid.offer, cap: undefined });
  assert.ok(offer);
  return { ...bid, offer };
}

export function describeSending(onScene: OnScene): void {
  describe('carrying batches out', () => {
    for (const method of TOKEN_METHODS) {
      it(
        `pays every recipient net of the fee, and all fees together (${method})`,
        onScene(async ({ chain, payable, relay, holding, feeAccount }) => {
          const first = await payable(method, { fee: 10n });
          const second = await payable(method, { fee: 7n, amount: 500n });
          const feesBefore = await holding(feeAccount, first.item.asset);
          const hash = await relay([first.signed, second.signed]);
          const found = await chain.sender.findTransaction(hash);
          assert.equal(found.is === 'mined' && !found.isReverted && found.workSpent > 0n, true);
          assert.equal(await holding(first.item.recipient, first.item.asset), 990n);
          assert.equal(await holding(second.item.recipient, first.item.asset), 493n);
          assert.equal(await holding(feeAccount, first.item.asset), feesBefore + 17n);
          assert.equal(await holding(first.item.payer, first.item.asset), 0n);
        }),
      );

      it(
        `reports balances before and after, and the cost of the transaction (${method})`,
        onScene(async ({ chain, payable, relay, placeOf, mine, relayers: [{ address }] }) => {
          const { item, signed } = await payable(method);
          const hash = await relay([signed]);
          const { number } = await placeOf(hash);
          await mine();
          const held = (account: string, block: number) => chain.reader.holding(account, item.asset, block);
          assert.deepEqual([await held(item.recipient, number - 1), await held(item.recipient, number)], [0n, 990n]);
          assert.deepEqual([await held(item.payer, number - 1), await held(item.payer, number)], [1_000n, 0n]);
          const found = await chain.sender.findTransaction(hash);
          const [before, after] = [
            await chain.reader.balance(address, number - 1),
            await chain.reader.balance(address, number),
          ];
          assert.equal(found.is === 'mined' && found.coinSpent, before - after);
        }),
      );

      it(
        `refuses a bad item alone (${method})`,
        onScene(async ({ chain, payable, signItem, newItem, relay, holding, placeOf }) => {
          const first = await payable(method);
          const bad = await payable(method);
          const last = await payable(method);
          const forged = {
            ...bad.signed,
            signature: (await signItem(bad.payer, await newItem(bad.payer, method))).signature,
          };
          const { number } = await placeOf(await relay([first.signed, forged, last.signed]));
          const events = await chain.reader.events(number, number);
          assert.deepEqual(
            events.map((event) => [event.type, event.commitment]),
            [
              ['paid', first.signed.commitment],
              ['refused', bad.signed.commitment],
              ['paid', last.signed.commitment],
            ],
          );
          const refusal = events[1];
          assert.equal(refusal?.type === 'refused' && refusal.reason, 'wrong_signature');
          assert.equal(await holding(bad.item.payer, bad.item.asset), bad.item.amount);
          // A refused item can still be paid: its nonce is unused.
          await relay([bad.signed]);
          assert.equal(await holding(bad.item.recipient, bad.item.asset), bad.item.amount - bad.item.fee);
        }),
      );
    }

    it(
      'refuses an item for every reason the chain can have, each with its name',
      onScene(
        async ({
          chain,
          payable,
          relay,
          placeOf,
          setBlacklisted,
          newPayer,
          newItem,
          signItem,
          cancelAuthorization,
          usedReason,
        }) => {
          const method = 'eip3009-vrs';
          const poor = newPayer();
          const short = await signItem(poor, await newItem(poor, method));
          const barred = await payable(method);
          const unreceivable = await payable(method);
          const cancelled = await payable(method);
          const { timestampS } = await chain.reader.head();
          const late = await payable(method, { deadlineS: timestampS });
          await setBlacklisted(barred.item.payer, barred.item.asset, true);
          await setBlacklisted(unreceivable.item.recipient, barred.item.asset, true);
          await cancelAuthorization(cancelled.payer, cancelled.item);
          const batch = [short, barred.signed, unreceivable.signed, cancelled.signed, late.signed];
          const expected = (used: string) => [
            'short_balance',
            'payer_blacklisted',
            'recipient_blacklisted',
            used,
            'late',
          ];
          assert.deepEqual(
            await chain.sender.simulate(batch),
            expected('used').map((reason) => ({ is: 'refused', reason })),
          );
          const { number } = await placeOf(await relay(batch));
          const reasons = (await chain.reader.events(number, number)).map(
            (event) => event.type === 'refused' && event.reason,
          );
          assert.deepEqual(reasons, expected(usedReason));
        },
      ),
    );

    it(
      'reverts as a whole when the fees cannot be paid, and blames no item',
      onScene(async ({ chain, payable, relay, newAccount, setBlacklisted, holding }) => {
        const feeAccount = newAccount();
        const { item, signed } = await payable('eip3009-vrs', { feeAccount });
        await setBlacklisted(feeAccount, item.asset, true);
        assert.deepEqual(await chain.sender.simulate([signed]), [{ is: 'refused', reason: 'unknown' }]);
        const found = await chain.sender.findTransaction(await relay([signed]));
        assert.equal(found.is === 'mined' && found.isReverted, true);
        assert.equal(
          found.is === 'mined' && (await chain.reader.events(found.block.number, found.block.number)).length,
          0,
        );
        assert.equal(await holding(item.payer, item.asset), item.amount);
        assert.equal(await chain.reader.isUsed(item, signed.commitment), false);
      }),
    );

    it(
      'takes only items that share asset, method and fee account',
      onScene(async ({ chain, payable, newAccount, relayers: [relayer] }) => {
        const first = await payable('eip3009-vrs');
        const otherAsset = await payable('eip3009-bytes');
        const otherFees = await payable('eip3009-vrs', { feeAccount: newAccount() });
        const bid = await nextBid(chain, relayer);
        for (const other of [otherAsset, otherFees]) {
          const batch = [first.signed, other.signed];
          await assert.rejects(async () => chain.sender.signBatch(relayer, batch, bid), TypeError);
          await assert.rejects(async () => chain.sender.simulate(batch), TypeError);
        }
      }),
    );

    it(
      'isolates an account whose code burns gas',
      onScene(async ({ chain, payable, relay, placeOf, giveCode, holding }) => {
        const burner = await payable('eip3009-bytes');
        const other = await payable('eip3009-bytes');
        await giveCode(burner.item.payer, 'gas_burner');
        const { number } = await placeOf(await relay([{ ...burner.signed, hasCode: true }, other.signed]));
        const events = await chain.reader.events(number, number);
        assert.deepEqual(
          events.map((event) => (event.type === 'refused' ? event.reason : event.type)),
          ['out_of_gas', 'paid'],
        );
        assert.equal(await holding(burner.item.payer, burner.item.asset), burner.item.amount);
      }),
    );

    it(
      'pays an item once, whoever relays it',
      onScene(async ({ chain, payable, relay, relayers, placeOf, holding, usedReason }) => {
        const { item, signed } = await payable('eip3009-vrs');
        await relay([signed], relayers[1]);
        const { number } = await placeOf(await relay([signed], relayers[0]));
        const [event] = await chain.reader.events(number, number);
        assert.equal(event?.type === 'refused' && event.reason, usedReason);
        assert.equal(await holding(item.recipient, item.asset), item.amount - item.fee);
      }),
    );

    it(
      'fits as many items into a transaction as it says',
      onScene(async ({ chain, payable, newItem, signItem, fund, relay, holding, newAccount }) => {
        const recipient = newAccount();
        const { payer, item, signed } = await payable('eip3009-vrs', { recipient });
        const size = chain.sender.maxBatchItems(item);
        assert.ok(size >= 20 && size <= 1_000, String(size));
        await fund(item.payer, item.asset, item.amount * BigInt(size));
        const batch: SignedItem[] = [signed];
        while (batch.length < size)
          batch.push(await signItem(payer, await newItem(payer, 'eip3009-vrs', { recipient })));
        await relay(batch);
        assert.equal(await holding(recipient, item.asset), 990n * BigInt(size));
      }),
    );
  });

  describe('transactions of a relayer', () => {
    it(
      'are known only after they were broadcast, and then wait for a block',
      onScene(async ({ chain, payable, relayers: [relayer], mine }) => {
        const { signed } = await payable('eip3009-vrs');
        const bid = await nextBid(chain, relayer);
        const { hash, bytes, cost } = await chain.sender.signBatch(relayer, [signed], bid);
        assert.ok(cost > 0n);
        assert.deepEqual(await chain.sender.findTransaction(hash), { is: 'unknown' });
        assert.equal(await chain.sender.broadcast(bytes), 'accepted');
        assert.equal(await chain.sender.broadcast(bytes), 'known');
        assert.deepEqual(await chain.sender.findTransaction(hash), { is: 'pending' });
        assert.equal(await chain.sender.usedSlots(relayer.address), bid.slot);
        await mine();
        assert.equal((await chain.sender.findTransaction(hash)).is, 'mined');
        assert.equal(await chain.sender.usedSlots(relayer.address), bid.slot + 1);
        assert.match(await chain.sender.broadcast(bytes), /^(known|slot_used)$/);
      }),
    );

    it(
      'are refused when their slot was used',
      onScene(async ({ chain, relayers: [relayer], mine }) => {
        const bid = await nextBid(chain, relayer);
        await chain.sender.broadcast((await chain.sender.signNothing(relayer, bid)).bytes);
        await mine();
        const late = await chain.sender.signNothing(relayer, raised(chain, bid));
        assert.equal(await chain.sender.broadcast(late.bytes), 'slot_used');
      }),
    );

    it(
      'wait for the slots before them, and then both are mined',
      onScene(async ({ chain, relayers: [relayer], mine }) => {
        const bid = await nextBid(chain, relayer);
        const first = await chain.sender.signNothing(relayer, bid);
        const second = await chain.sender.signNothing(relayer, { ...bid, slot: bid.slot + 1 });
        const early = await chain.sender.broadcast(second.bytes);
        assert.match(early, /^(accepted|slot_early)$/);
        await mine();
        assert.equal(await chain.sender.usedSlots(relayer.address), bid.slot);
        assert.equal(await chain.sender.broadcast(first.bytes), 'accepted');
        if (early === 'slot_early') await chain.sender.broadcast(second.bytes);
        await mine();
        assert.equal((await chain.sender.findTransaction(second.hash)).is, 'mined');
        assert.equal(await chain.sender.usedSlots(relayer.address), bid.slot + 2);
      }),
    );

    it(
      'are replaced only by a better offer for the same slot, and one of them is mined',
      onScene(async ({ chain, payable, relayers: [relayer], mine, holding }) => {
        const { item, signed } = await payable('eip3009-vrs');
        const bid = await nextBid(chain, relayer);
        const first = await chain.sender.signBatch(relayer, [signed], bid);
        const same = await chain.sender.signNothing(relayer, bid);
        const better = await chain.sender.signBatch(relayer, [signed], raised(chain, bid));
        assert.equal(await chain.sender.broadcast(first.bytes), 'accepted');
        assert.equal(await chain.sender.broadcast(same.bytes), 'underpriced');
        assert.equal(await chain.sender.broadcast(better.bytes), 'accepted');
        await mine();
        assert.equal((await chain.sender.findTransaction(better.hash)).is, 'mined');
        assert.notEqual((await chain.sender.findTransaction(first.hash)).is, 'mined');
        assert.equal(await holding(item.recipient, item.asset), item.amount - item.fee);
      }),
    );

    it(
      'are refused when their signer cannot pay for them',
      onScene(async ({ chain, newPayer }) => {
        const poor = signerFromKey(`0x${'11'.repeat(32)}`);
        assert.notEqual(poor.address, newPayer().address);
        const { bytes } = await chain.sender.signNothing(poor, await nextBid(chain, poor));
        assert.equal(await chain.sender.broadcast(bytes), 'short_balance');
      }),
    );

    it(
      'are signed by their signer only',
      onScene(async ({ chain, relayers: [relayer] }) => {
        const bid = await nextBid(chain, relayer);
        const thief = signerFromKey(`0x${'22'.repeat(32)}`);
        const forged = { address: relayer.address, sign: thief.sign };
        const outcome = await Promise.resolve(chain.sender.signNothing(forged, bid))
          .then(({ bytes }) => chain.sender.broadcast(bytes))
          .catch((error: unknown) => error);
        assert.notEqual(outcome, 'accepted');
        assert.equal(await chain.sender.usedSlots(relayer.address), bid.slot);
        assert.equal(privateKeyToAccount(`0x${'22'.repeat(32)}`).address, thief.address);
      }),
    );

    it(
      'come with a suggested offer',
      onScene(async ({ chain }) => {
        const offer = await chain.sender.suggestOffer();
        assert.ok(offer.price > 0n);
        assert.ok(chain.sender.priceText(offer.price).length > 0);
        const raised = chain.sender.raiseOffer(offer, { current: offer, cap: undefined });
        assert.ok(raised === undefined || raised.price > offer.price, 'a replacement offers more');
        assert.equal(chain.sender.raiseOffer(offer, { current: offer, cap: offer.price }), undefined, 'at the cap');
      }),
    );
  });
}

async function nextBid(chain: Scene['chain'], signer: Signer) {
  return { slot: await chain.sender.usedSlots(signer.address), offer: await chain.sender.suggestOffer() };
}
