import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Hex, keccak256 } from 'viem';
import type { Item } from '../../../src/domain/item.ts';
import { findAsset } from '../../registry.ts';
import { TRANSFER_AUTHORIZATION } from '../../transfer-authorization.ts';
import type { OnScene, Scene } from '../harness.ts';

/** An item by deposit, with the address in place of its payer. */
async function newDeposit({ chain, newItem, newPayer }: Scene, given: Partial<Item> = {}): Promise<Item> {
  await chain.check();
  const collector = chain.payerSide.depositContract() ?? '';
  const item = await newItem(newPayer(), 'eip3009-vrs', { method: 'deposit', collector, ...given });
  return { ...item, payer: chain.payerSide.depositAddressOf(item) };
}

/** The authorization of a payer who has the money, for the deposit address of a new item. */
async function newAuthorized(scene: Scene, form: 'vrs' | 'bytes', given: Partial<Item> = {}) {
  const { chain, assets, newPayer, fund } = scene;
  const payer = newPayer();
  const deposit = await newDeposit(scene, { asset: assets[`eip3009-${form}`] });
  await fund(payer.address, deposit.asset, 1_500n);
  const authorization = { nonce: keccak256(payer.address), validAfterS: 7 };
  const item: Item = { ...deposit, method: `deposit-${form}`, payer: payer.address, authorization, ...given };
  const pay = findAsset(item.asset)?.pay;
  assert.ok(pay && 'domain' in pay);
  const signature = await payer.signTypedData({
    domain: {
      ...pay.domain,
      chainId: Number(chain.network.chainId.slice('eip155:'.length)),
      verifyingContract: item.asset.slice(item.asset.lastIndexOf(':') + 1) as Hex,
    },
    types: TRANSFER_AUTHORIZATION,
    primaryType: 'TransferWithAuthorization',
    message: {
      from: payer.address,
      to: chain.payerSide.depositAddressOf(item) as Hex,
      value: item.amount,
      validAfter: 7n,
      validBefore: BigInt(item.deadlineS),
      nonce: authorization.nonce,
    },
  });
  return {
    payer,
    deposit,
    signed: { item, commitment: chain.payerSide.commitmentOf(item), signature, hasCode: false },
  };
}

const swept = (chain: Scene['chain'], item: Item) => ({
  item,
  commitment: chain.payerSide.commitmentOf(item),
  signature: '0x',
  hasCode: false,
});

export function describeDeposits(onScene: OnScene): void {
  describe('deposit addresses', () => {
    it(
      'take transfers of anybody, and are swept together, each to its own recipient',
      onScene(async (scene) => {
        const { chain, newPayer, fund, send, mine, relay, holding, placeOf } = scene;
        const items = [await newDeposit(scene), await newDeposit(scene, { fee: 0n }), await newDeposit(scene)];
        const sender = newPayer();
        const [first, second, empty] = items as [Item, Item, Item];
        await fund(sender.address, first.asset, 5_000n);
        await fund(sender.address, scene.assets.native, 10n ** 18n);
        const from = (await chain.reader.head()).number;
        for (const [item, units] of [
          [first, 1_000n],
          [second, 2_500n],
        ] as const) {
          const data = `0xa9059cbb${item.payer.slice(2).toLowerCase().padStart(64, '0')}${units.toString(16).padStart(64, '0')}`;
          const to = item.asset.slice(item.asset.lastIndexOf(':') + 1);
          await send(sender, { method: 'eth_sendTransaction', params: [{ from: sender.address, to, data }] });
          await mine();
        }
        const { number } = await chain.reader.head();
        const addresses = items.map(({ payer }) => payer);
        const others = Array.from({ length: 600 }, (_, index) => `0x${index.toString(16).padStart(40, 'a')}`);
        for (const accounts of [addresses, [...addresses, ...others]]) {
          const found = await chain.reader.incoming(new Set(accounts), from + 1, number);
          assert.deepEqual(
            found.map(({ to, amount }) => [to, amount]),
            [
              [first.payer, 1_000n],
              [second.payer, 2_500n],
            ],
          );
        }
        for (const witness of chain.reader.witnesses()) {
          assert.equal(await witness.holding(first.payer, first.asset, number), 1_000n);
        }
        const batch = items.map((item) => swept(chain, item));
        assert.deepEqual(await chain.sender.simulate(batch), [
          { is: 'paid' },
          { is: 'paid' },
          { is: 'refused', reason: 'short_balance' },
        ]);
        const hash = await relay(batch);
        assert.equal(await holding(first.recipient, first.asset), 990n);
        assert.equal(await holding(second.recipient, first.asset), 2_500n);
        const block = await placeOf(hash);
        const events = await chain.reader.events(block.number, block.number);
        assert.deepEqual(
          events.map(({ logIndex: _, ...event }) => event),
          [[first, 1_000n, 10n] as const, [second, 2_500n, 0n] as const].map(([item, amount, fee]) => ({
            type: 'swept',
            block: { number: block.number, hash: block.hash },
            transactionHash: hash,
            collector: item.collector,
            commitment: chain.payerSide.commitmentOf(item),
            subject: item.seal,
            asset: item.asset,
            amount,
            fee,
            recipient: item.recipient,
            terms: {
              askedAsset: item.asset,
              feeAccount: item.feeAccount,
              asked: item.amount,
              askedFee: item.fee,
            },
          })),
        );
        for (const witness of chain.reader.witnesses()) {
          assert.deepEqual((await witness.receipt(hash))?.events, events);
        }
        assert.deepEqual(await chain.sender.simulate([swept(chain, empty)]), [
          { is: 'refused', reason: 'short_balance' },
        ]);
      }),
    );

    for (const form of ['vrs', 'bytes'] as const) {
      it(
        `take authorizations whose payee they are, and are swept by the same transaction (${form})`,
        onScene(async (scene) => {
          const { chain, relay, holding, placeOf, relayers } = scene;
          const first = await newAuthorized(scene, form);
          const second = await newAuthorized(scene, form);
          const { item, signature } = first.signed;
          const [{ address }] = relayers;
          assert.partialDeepStrictEqual(await chain.payerSide.judge(item, signature, address), {
            is: 'good',
            hasCode: false,
          });
          const bent: Partial<Item>[] = [
            { amount: 999n },
            { recipient: second.payer.address },
            { payer: second.payer.address },
            { deadlineS: item.deadlineS + 1 },
            { authorization: { nonce: keccak256('0x07'), validAfterS: 7 } },
          ];
          for (const change of bent) {
            const other = { ...item, ...change };
            assert.deepEqual(await chain.payerSide.judge(other, signature, address), { is: 'wrong_signature' });
            assert.notEqual(chain.payerSide.commitmentOf(other), chain.payerSide.commitmentOf(item));
          }
          const wrong = { ...second.signed, signature };
          assert.deepEqual(await chain.sender.simulate([first.signed, wrong]), [
            { is: 'paid' },
            { is: 'refused', reason: 'wrong_signature' },
          ]);
          assert.equal(await chain.reader.isUsed(item, first.signed.commitment), false);
          const hash = await relay([first.signed, wrong]);
          assert.equal(await holding(item.recipient, item.asset), 990n);
          assert.equal(await holding(first.payer.address, item.asset), 500n);
          assert.equal(await holding(second.payer.address, item.asset), 1_500n);
          const { number } = await placeOf(hash);
          assert.deepEqual(
            (await chain.reader.events(number, number)).map(({ type, commitment }) => [type, commitment]),
            [['swept', chain.payerSide.commitmentOf(first.deposit)]],
          );
          const [transfer, ...more] = await chain.reader.incoming(new Set([first.deposit.payer]), number, number);
          assert.deepEqual([transfer?.from, transfer?.amount, more], [first.payer.address, 1_000n, []]);
          assert.equal(await chain.reader.isUsed(item, first.signed.commitment), true);
          assert.deepEqual(await chain.payerSide.judge(item, signature, address), { is: 'used' });
          assert.deepEqual(await chain.sender.simulate([first.signed]), [{ is: 'refused', reason: 'used' }]);
        }),
      );
    }

    it(
      'take no authorization of a payer without the money',
      onScene(async (scene) => {
        const { chain, relayers } = scene;
        const { signed } = await newAuthorized(scene, 'vrs', { amount: 2_000n });
        const { item, signature } = signed;
        assert.deepEqual(await chain.payerSide.judge(item, signature, relayers[0].address), { is: 'short_balance' });
      }),
    );

    it(
      'give another token than the asked one to the same recipient',
      onScene(async (scene) => {
        const { chain, fund, mine, relay, holding } = scene;
        const deposits = [await newDeposit(scene), await newDeposit(scene)];
        for (const { payer } of deposits) await fund(payer, scene.assets.permit2, 3_000n);
        await mine();
        const batch = deposits.map((item) => swept(chain, { ...item, asset: scene.assets.permit2, asked: item.asset }));
        for (const [index, { commitment, item }] of batch.entries()) {
          assert.equal(commitment, chain.payerSide.commitmentOf(deposits[index] as Item));
          assert.equal(chain.payerSide.depositAddressOf(item), item.payer);
        }
        const hash = await relay(batch);
        for (const { recipient } of deposits) assert.equal(await holding(recipient, scene.assets.permit2), 2_970n);
        const block = await scene.placeOf(hash);
        const events = await chain.reader.events(block.number, block.number);
        assert.deepEqual(
          events.map((event) => event.type === 'swept' && [event.commitment, event.asset, event.amount, event.fee]),
          batch.map(({ commitment }) => [commitment, scene.assets.permit2, 3_000n, 30n]),
        );
        // They share no transaction with deposits that ask for the token.
        const own = await newDeposit(scene, { asset: scene.assets.permit2 });
        await assert.rejects(chain.sender.simulate([swept(chain, own), ...batch]), TypeError);
      }),
    );

    it(
      'follow from every term',
      onScene(async (scene) => {
        const { chain, newAccount } = scene;
        const item = await newDeposit(scene);
        const changes: Partial<Item>[] = [
          { recipient: newAccount() },
          { feeAccount: newAccount() },
          { amount: 1_001n },
          { fee: 11n },
          { asset: scene.assets.permit2 },
        ];
        for (const change of changes) {
          assert.notEqual(chain.payerSide.depositAddressOf({ ...item, ...change }), item.payer);
          assert.notEqual(chain.payerSide.commitmentOf({ ...item, ...change }), chain.payerSide.commitmentOf(item));
        }
        // Who asks, and when, makes no difference.
        assert.equal(chain.payerSide.depositAddressOf({ ...item, payer: newAccount(), deadlineS: 1 }), item.payer);
      }),
    );
  });
}
