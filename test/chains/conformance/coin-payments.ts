import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ChainUnavailableError } from '../../../src/chains/chain-errors.ts';
import type { WalletAction } from '../../../src/chains/payer-side.ts';
import type { Item } from '../../../src/domain/item.ts';
import type { OnScene, Payer, Scene } from '../harness.ts';

/** Recognising a payer's transaction in coin before it is final. */
export function describeCoinPayments(onScene: OnScene): void {
  describe("a payer's own transaction in coin", () => {
    it(
      'is shown as the payment of its item while it waits for a block, and in the block',
      onScene(async (scene) => {
        const { chain, send, mine } = scene;
        const { payer, item, action } = await handedOut(scene);
        const hash = await send(payer, action);
        assert.equal(await chain.payerSide.isPaymentShown(item, hash), true, 'pending');
        assert.equal(
          await chain.payerSide.isPaymentShown(item, hash.toUpperCase().replace('0X', '0x')),
          true,
          'upper case',
        );
        await mine();
        assert.equal((await chain.sender.findTransaction(hash)).is, 'mined');
        assert.equal(await chain.payerSide.isPaymentShown(item, hash), true, 'mined');
      }),
    );

    it(
      'is not shown before it was sent, nor after a reorg forgot it',
      onScene(async (scene) => {
        const { chain, send, mine, reorg } = scene;
        const { payer, item, action } = await handedOut(scene);
        assert.equal(await chain.payerSide.isPaymentShown(item, `0x${'ab'.repeat(32)}`), false);
        const hash = await send(payer, action);
        await mine();
        await reorg(1, 'forgotten');
        assert.equal(await chain.payerSide.isPaymentShown(item, hash), false);
      }),
    );

    it(
      'is not shown for another item, another sender, another amount, or another call',
      onScene(async (scene) => {
        const { chain, fund, send, newPayer, newItem, assets, mine } = scene;
        const { payer, item, action } = await handedOut(scene);
        const other = await newItem(payer, 'native');
        const stranger = newPayer();
        await fund(stranger.address, assets.native, 10n ** 18n);
        const [call] = action.params as [Record<string, string>];
        const [otherAction] = chain.payerSide.walletActions(other, 0n);
        const wrong: readonly (readonly [Payer, object])[] = [
          [payer, otherAction?.params[0] as object],
          [stranger, { ...call, from: stranger.address.toLowerCase() }],
          [payer, { ...call, value: '0x3e9' }],
          [payer, { from: call.from, to: item.recipient, value: call.value }],
        ];
        for (const [sender, params] of wrong) {
          const hash = await send(sender, { ...action, params: [params] });
          assert.equal(await chain.payerSide.isPaymentShown(item, hash), false, JSON.stringify(params));
        }
        await mine();
        assert.equal(await chain.payerSide.isPaymentShown(item, await send(payer, action)), true);
      }),
    );

    it(
      'is not shown once it has reverted: the payer may have to send another',
      onScene(async (scene) => {
        const { chain, send, mine } = scene;
        const { timestampS } = await chain.reader.head();
        const { payer, item, action } = await handedOut(scene, { deadlineS: timestampS - 1 });
        const hash = await send(payer, action);
        await mine();
        const found = await chain.sender.findTransaction(hash);
        assert.equal(found.is === 'mined' && found.isReverted, true);
        assert.equal(await chain.payerSide.isPaymentShown(item, hash), false);
      }),
    );

    it(
      'is neither shown nor not while the chain is out of reach',
      onScene(async (scene) => {
        const { chain, send, setReachable } = scene;
        const { payer, item, action } = await handedOut(scene);
        const hash = await send(payer, action);
        await setReachable(false);
        await assert.rejects(chain.payerSide.isPaymentShown(item, hash), ChainUnavailableError);
        await setReachable(true);
      }),
    );
  });
}

/** A payer with coin, and the action that pays an item with it. */
async function handedOut(scene: Scene, terms: Partial<Item> = {}) {
  const payer = scene.newPayer();
  const item = await scene.newItem(payer, 'native', terms);
  await scene.fund(payer.address, scene.assets.native, 10n ** 18n);
  const [action] = scene.chain.payerSide.walletActions(item, 0n);
  return { payer, item, action: action as WalletAction };
}
