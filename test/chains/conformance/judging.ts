import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RefusalReason } from '../../../src/chains/refusal-reason.ts';
import type { Item } from '../../../src/domain/item.ts';
import type { OnScene, Scene } from '../harness.ts';

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const TOKEN_METHODS = ['eip3009-vrs', 'eip3009-bytes', 'permit2'] as const;

export function describeJudging(onScene: OnScene): void {
  describe('judging the results of a wallet', () => {
    for (const method of TOKEN_METHODS) {
      it(
        `finds it good when the chain would carry the item out (${method})`,
        onScene(async ({ chain, payable }) => {
          const { item, signed } = await payable(method);
          assert.partialDeepStrictEqual(await chain.payerSide.judge(item, signed.signature), {
            is: 'good',
            hasCode: false,
          });
        }),
      );

      it(
        `reads a recovery number of 0 or 1 as 27 or 28, and so does the batch (${method})`,
        onScene(async ({ chain, payable, relay, holding }) => {
          const { item, signed } = await payable(method);
          const v = Number.parseInt(signed.signature.slice(-2), 16) - 27;
          const signature = `${signed.signature.slice(0, -2)}0${v}`;
          assert.partialDeepStrictEqual(await chain.payerSide.judge(item, signature), { is: 'good', hasCode: false });
          await relay([{ ...signed, signature }]);
          assert.equal(await holding(item.recipient, item.asset), item.amount - item.fee);
        }),
      );

      it(
        `refuses the signature of another account or for another item (${method})`,
        onScene(async (scene) => {
          const { chain, sign, newPayer, newAccount } = scene;
          const { payer, item } = await scene.payable(method);
          const other = await scene.newItem(payer, method);
          const changes: Partial<Item>[] = [
            { seal: other.seal as string },
            { recipient: newAccount() },
            { feeAccount: newAccount() },
            { amount: item.amount - 1n },
            { fee: 0n },
            { deadlineS: item.deadlineS + 1 },
          ];
          const signatures = [
            await sign(newPayer(), item),
            ...(await Promise.all(changes.map((change) => sign(payer, { ...item, ...change })))),
            await signElsewhere(scene, payer, item, { chainId: '0x2' }),
            await signElsewhere(scene, payer, item, { verifyingContract: newAccount() }),
          ];
          for (const signature of signatures) {
            assert.deepEqual(await chain.payerSide.judge(item, signature), { is: 'wrong_signature' });
          }
        }),
      );

      it(
        `lets its caller refuse a signature that the key did not make, and no other (${method})`,
        onScene(async ({ chain, payable, sign, newPayer }) => {
          const { item, signed } = await payable(method);
          const refuse = () => {
            throw new RangeError('refused');
          };
          const good = await chain.payerSide.judge(item, signed.signature, undefined, refuse);
          assert.equal(good.is, 'good');
          const judged = chain.payerSide.judge(item, await sign(newPayer(), item), undefined, refuse);
          // The older form takes the signatures of keys alone, so the chain is not asked.
          if (method === 'eip3009-vrs') assert.deepEqual(await judged, { is: 'wrong_signature' });
          else await assert.rejects(judged, RangeError);
        }),
      );

      it(
        `refuses bytes that are no plain signature (${method})`,
        onScene(async ({ chain, payable }) => {
          const { item, signed } = await payable(method);
          const [r, s] = [signed.signature.slice(2, 66), signed.signature.slice(66, 130)];
          const wrapped = `${signed.signature}${'6492'.repeat(16)}`;
          for (const signature of ['0x', '', 'signed', `0x${r}${s}`, `${signed.signature}00`, wrapped]) {
            assert.deepEqual(await chain.payerSide.judge(item, signature), { is: 'malformed_signature' }, signature);
          }
          for (const v of ['02', '1d', 'ff']) {
            const verdict = await chain.payerSide.judge(item, `0x${r}${s}${v}`);
            assert.match(verdict.is, /^(malformed|wrong)_signature$/);
          }
        }),
      );

      it(
        `refuses the mirrored form of a good signature (${method})`,
        onScene(async ({ chain, payable }) => {
          const { item, signed } = await payable(method);
          const s = BigInt(`0x${signed.signature.slice(66, 130)}`);
          const v = signed.signature.endsWith('1b') ? '1c' : '1b';
          const mirrored = `${signed.signature.slice(0, 66)}${(ORDER - s).toString(16).padStart(64, '0')}${v}`;
          const verdict = await chain.payerSide.judge(item, mirrored);
          assert.match(verdict.is, /^(malformed|wrong)_signature$/);
        }),
      );

      it(
        `sees that the payer has too little (${method})`,
        onScene(async ({ chain, payable, newItem, sign }) => {
          const { payer, item } = await payable(method);
          const dearer = await newItem(payer, method, { amount: item.amount + 1n });
          assert.deepEqual(await chain.payerSide.judge(dearer, await sign(payer, dearer)), { is: 'short_balance' });
        }),
      );

      it(
        `sees that the authorization was used (${method})`,
        onScene(async ({ chain, payable, relay, fund }) => {
          const { item, signed } = await payable(method);
          await relay([signed]);
          // The item is paid, whether or not the payer could pay again.
          assert.deepEqual(await chain.payerSide.judge(item, signed.signature), { is: 'used' });
          await fund(item.payer, item.asset, item.amount);
          assert.deepEqual(await chain.payerSide.judge(item, signed.signature), { is: 'used' });
        }),
      );

      it(
        `sees that the authorization was cancelled (${method})`,
        onScene(async ({ chain, payable, cancelAuthorization }) => {
          const { payer, item, signed } = await payable(method);
          await cancelAuthorization(payer, item);
          assert.deepEqual(await chain.payerSide.judge(item, signed.signature), { is: 'used' });
        }),
      );

      it(
        `names the token’s own reason of a refusal (${method})`,
        onScene(async ({ chain, payable, setBlacklisted, setPaused, mine }) => {
          const { item, signed } = await payable(method);
          const check = async (spoken: RefusalReason) => {
            const reason = method === 'permit2' && spoken !== 'late' ? 'unknown' : spoken;
            const verdict = await chain.payerSide.judge(item, signed.signature);
            // The caller checks the deadline without a chain, so an implementation need not.
            if (spoken !== 'late' || verdict.is !== 'good') assert.deepEqual(verdict, { is: 'refused', reason });
            assert.deepEqual(await chain.sender.simulate([signed]), [{ is: 'refused', reason }]);
          };
          if (await setBlacklisted(item.payer, item.asset, true)) await check('payer_blacklisted');
          await setBlacklisted(item.payer, item.asset, false);
          if (await setPaused(item.asset, true)) await check('paused');
          await setPaused(item.asset, false);
          assert.partialDeepStrictEqual(await chain.payerSide.judge(item, signed.signature), {
            is: 'good',
            hasCode: false,
          });
          assert.deepEqual(await chain.sender.simulate([signed]), [{ is: 'paid' }]);
          await mine(item.deadlineS + 1);
          await check('late');
        }),
      );
    }

    it(
      'sees that Permit2 may not take enough',
      onScene(async ({ chain, newPayer, newItem, fund, sign }) => {
        const payer = newPayer();
        const item = await newItem(payer, 'permit2');
        await fund(payer.address, item.asset, item.amount);
        assert.deepEqual(await chain.payerSide.judge(item, await sign(payer, item)), { is: 'short_allowance' });
      }),
    );

    for (const method of ['eip3009-bytes', 'permit2'] as const) {
      it(
        `asks the code of an account that has some (${method})`,
        onScene(async ({ chain, payable, sign, newPayer, giveCode, setPaused }) => {
          const owner = newPayer();
          const { payer, item } = await payable(method);
          await giveCode(item.payer, { owner: owner.address });
          assert.partialDeepStrictEqual(await chain.payerSide.judge(item, await sign(owner, item)), {
            is: 'good',
            hasCode: true,
          });
          assert.deepEqual(await chain.payerSide.judge(item, await sign(payer, item)), { is: 'wrong_signature' });
          const wrapped = `${await sign(owner, item)}${'6492'.repeat(16)}`;
          assert.deepEqual(await chain.payerSide.judge(item, wrapped), { is: 'malformed_signature' });
          if (!(await setPaused(item.asset, true))) return;
          const reason = method === 'permit2' ? 'unknown' : 'paused';
          assert.deepEqual(await chain.payerSide.judge(item, await sign(owner, item)), { is: 'refused', reason });
        }),
      );

      it(
        `calls an authorization of an account with code used only if the account has signed it (${method})`,
        onScene(async ({ chain, payable, sign, newPayer, giveCode, cancelAuthorization }) => {
          const owner = newPayer();
          const { payer, item } = await payable(method);
          await cancelAuthorization(payer, item);
          await giveCode(item.payer, { owner: owner.address });
          assert.deepEqual(await chain.payerSide.judge(item, await sign(owner, item)), { is: 'used' });
          for (const stranger of [payer, newPayer()]) {
            assert.deepEqual(await chain.payerSide.judge(item, await sign(stranger, item)), { is: 'wrong_signature' });
          }
          await giveCode(item.payer, 'gas_burner');
          assert.notEqual((await chain.payerSide.judge(item, await sign(owner, item))).is, 'used');
        }),
      );
    }
  });
}

/** A signature like the item's, but for the domain of another chain or contract. */
function signElsewhere({ chain }: Scene, payer: Parameters<Scene['sign']>[0], item: Item, domain: object) {
  const action = chain.payerSide.walletActions(item, 2n ** 256n - 1n).at(-1);
  const typedData = JSON.parse(String(action?.params[1]));
  return payer.signTypedData({ ...typedData, domain: { ...typedData.domain, ...domain } });
}
