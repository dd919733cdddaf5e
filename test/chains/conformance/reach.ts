import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ChainUnavailableError } from '../../../src/chains/chain-errors.ts';
import type { OnScene } from '../harness.ts';

export function describeReach(onScene: OnScene): void {
  describe('a chain out of reach', () => {
    it(
      'never says no: every question is left open',
      onScene(async ({ chain, assets, payable, relayers: [relayer], setReachable, newAccount }) => {
        const { item, signed } = await payable('eip3009-vrs');
        const bid = { slot: await chain.sender.usedSlots(relayer.address), offer: await chain.sender.suggestOffer() };
        const { hash, bytes } = await chain.sender.signBatch(relayer, [signed], bid);
        const head = await chain.reader.head();
        const recipient = newAccount();
        const questions: Record<string, () => Promise<unknown>> = {
          check: () => chain.check(),
          survey: () =>
            chain.payerSide.survey({
              payers: [item.payer],
              assets: [{ asset: assets.native, recipient }],
              timeoutMs: 200,
            }),
          judge: () => chain.payerSide.judge(item, signed.signature),
          simulate: () => chain.sender.simulate([signed]),
          isUsed: () => chain.reader.isUsed(item, signed.commitment),
          usedSlots: () => chain.sender.usedSlots(relayer.address),
          balance: () => chain.reader.balance(relayer.address),
          holding: () => chain.reader.holding(relayer.address, assets.native, head.number),
          suggestOffer: () => chain.sender.suggestOffer(),
          broadcast: () => chain.sender.broadcast(bytes),
          findTransaction: () => chain.sender.findTransaction(hash),
          head: () => chain.reader.head(),
          block: () => chain.reader.block(head.number),
          events: () => chain.reader.events(head.number, head.number),
          ...Object.fromEntries(
            chain.reader.witnesses().flatMap((witness) => [
              [`head of ${witness.name}`, () => witness.head()],
              [`block of ${witness.name}`, () => witness.block(head.number)],
              [`isUsed of ${witness.name}`, () => witness.isUsed(item, signed.commitment, head.number)],
              [`receipt of ${witness.name}`, () => witness.receipt(hash)],
              [`transfers of ${witness.name}`, () => witness.transfers(hash)],
              [`events of ${witness.name}`, () => witness.events(head.number, head.number)],
              [`incoming of ${witness.name}`, () => witness.incoming(new Set([recipient]), head.number, head.number)],
            ]),
          ),
        };
        await setReachable(false);
        for (const [name, ask] of Object.entries(questions)) {
          const answer = await ask().catch((error: unknown) => error);
          assert.ok(answer instanceof ChainUnavailableError, `${name} answered`);
          assert.doesNotMatch(answer.message, /:\/\/|127\.0\.0\.1|localhost/);
          assert.equal(answer.network, chain.network.chainId);
        }
      }),
    );

    it(
      'still answers methods that need no call, and the number of endpoints',
      onScene(async ({ chain, newPayer, newItem, setReachable }) => {
        const item = await newItem(newPayer(), 'eip3009-vrs');
        const commitment = chain.payerSide.commitmentOf(item);
        await setReachable(false);
        await chain.reader.head().catch(() => {});
        assert.equal(chain.payerSide.commitmentOf(item), commitment);
        assert.equal(chain.payerSide.walletActions(item, 0n).length, 1);
        assert.ok(chain.health().endpoints >= 1);
      }),
    );

    it(
      'is asked about a block it does not have yet, and does not answer for it',
      onScene(async ({ chain, payable, newItem }) => {
        const { payer, item, signed } = await payable('eip3009-vrs');
        const beyond = (await chain.reader.head()).number + 1_000;
        const other = await newItem(payer, 'eip3009-vrs');
        await assert.rejects(chain.sender.simulate([signed], { atBlock: beyond }), ChainUnavailableError);
        await assert.rejects(chain.reader.isUsed(item, signed.commitment, beyond), ChainUnavailableError);
        await assert.rejects(chain.reader.events(beyond, beyond), ChainUnavailableError);
        assert.equal(await chain.reader.isUsed(other, chain.payerSide.commitmentOf(other)), false);
      }),
    );
  });
}
