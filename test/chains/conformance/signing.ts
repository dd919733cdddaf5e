import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Item } from '../../../src/domain/item.ts';
import { findAsset } from '../../registry.ts';
import type { OnScene } from '../harness.ts';

const MAX_UINT256 = 2n ** 256n - 1n;

export function describeSigning(onScene: OnScene): void {
  describe('the request to a payer', () => {
    it(
      'commits to every field of the item',
      onScene(async ({ chain, assets, newPayer, newAccount, newItem }) => {
        const item = await newItem(newPayer(), 'eip3009-vrs');
        const other = await newItem(newPayer(), 'eip3009-vrs');
        const changes: Partial<Item>[] = [
          { asset: assets['eip3009-bytes'] },
          { seal: other.seal as string },
          { method: 'permit2' },
          { payer: newAccount() },
          { recipient: newAccount() },
          { feeAccount: newAccount() },
          { amount: item.amount + 1n },
          { fee: item.fee + 1n },
          { deadlineS: item.deadlineS + 1 },
        ];
        const commitments = [item, ...changes.map((change) => ({ ...item, ...change }))].map(
          chain.payerSide.commitmentOf,
        );
        assert.equal(new Set(commitments).size, changes.length + 1);
        assert.equal(chain.payerSide.commitmentOf({ ...item }), commitments[0]);
        for (const commitment of commitments) assert.match(commitment, /^0x[0-9a-f]{64}$/);
      }),
    );

    for (const method of ['eip3009-vrs', 'eip3009-bytes'] as const) {
      it(
        `asks for one signature over the commitment (${method})`,
        onScene(async ({ chain, newPayer, newItem }) => {
          const item = await newItem(newPayer(), method);
          const [action, ...more] = chain.payerSide.walletActions(item, 0n);
          assert.deepEqual(more, []);
          assert.equal(action?.method, 'eth_signTypedData_v4');
          const [account, text] = action?.params ?? [];
          assert.equal(account, item.payer.toLowerCase());
          assert.equal(typeof text, 'string');
          const { primaryType, types, message } = JSON.parse(String(text));
          assert.equal(primaryType, 'ReceiveWithAuthorization');
          assert.ok(types.EIP712Domain);
          assert.equal(message.nonce, chain.payerSide.commitmentOf(item));
          assert.equal(BigInt(message.value), item.amount);
          assert.equal(BigInt(message.validBefore), BigInt(item.deadlineS));
        }),
      );
    }

    it(
      'asks for an approval only when Permit2 may not take enough, and clears a stale one before where the token wants it',
      onScene(async ({ chain, newPayer, newItem }) => {
        const item = await newItem(newPayer(), 'permit2');
        const kinds = (allowance: bigint) => {
          const actions = chain.payerSide.walletActions(item, allowance);
          const steps = actions.map(({ method }) => (method === 'eth_sendTransaction' ? 'transaction' : 'signature'));
          assert.deepEqual(chain.payerSide.walletSteps(item, allowance), steps);
          return actions.map(({ method, params }) => {
            if (method === 'eth_signTypedData_v4') return 'sign';
            const call = params[0] as Record<string, string>;
            assert.deepEqual(Object.keys(call).sort(), ['data', 'from', 'to']);
            return `approve ${BigInt(`0x${call.data?.slice(-64)}`)}`;
          });
        };
        assert.deepEqual(kinds(item.amount), ['sign']);
        assert.deepEqual(kinds(0n), [`approve ${MAX_UINT256}`, 'sign']);
        const pay = findAsset(item.asset)?.pay;
        const clearing = pay?.method === 'permit2' && pay.approvesThroughZero ? ['approve 0'] : [];
        assert.deepEqual(kinds(item.amount - 1n), [...clearing, `approve ${MAX_UINT256}`, 'sign']);
        const permit = JSON.parse(String(chain.payerSide.walletActions(item, item.amount)[0]?.params[1]));
        assert.equal(permit.primaryType, 'PermitTransferFrom');
        assert.equal(BigInt(permit.message.nonce), BigInt(chain.payerSide.commitmentOf(item)));
      }),
    );

    it(
      'asks for one transaction of exactly the amount in coin',
      onScene(async ({ chain, newPayer, newItem }) => {
        const item = await newItem(newPayer(), 'native');
        const [action, ...more] = chain.payerSide.walletActions(item, 0n);
        assert.deepEqual(more, []);
        assert.equal(action?.method, 'eth_sendTransaction');
        assert.deepEqual(chain.payerSide.walletSteps(item, 0n), ['transaction']);
        const call = action?.params[0] as Record<string, string>;
        assert.deepEqual(Object.keys(call).sort(), ['data', 'from', 'to', 'value']);
        assert.equal(BigInt(call.value ?? ''), item.amount);
      }),
    );
  });
}
