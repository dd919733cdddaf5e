import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decodeFunctionData, hashTypedData, recoverTypedDataAddress } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { findNetwork } from '../../../test/registry.ts';
import { systemWorld } from '../../runtime/system-world.ts';
import type { Network } from '../network.ts';
import { COLLECTOR_ABI, COLLECTOR_ADDRESS } from './collector.ts';
import { COLLECTORS } from './collectors.ts';
import { createEvmChain } from './evm-chain.ts';
import { createEvmContext } from './evm-context.ts';
import { createRpc } from './rpc.ts';
import { sampleItem } from './sample-item.fixture.ts';
import { digestOf } from './typed-data.ts';

const account = privateKeyToAccount(`0x${'42'.repeat(32)}`);
const payer = account.address;
const network = findNetwork('eip155:31337') as Network;
/** Nothing here asks the chain. */
const silent = { post: () => Promise.reject(new Error('asked')), close: () => {} };
const chain = createEvmChain({ world: systemWorld, network, endpoints: [silent] });
const rpc = createRpc({
  world: systemWorld,
  network: 'eip155:31337',
  chainId: 31337,
  blockTimeMs: 1,
  endpoints: [silent],
});
const context = createEvmContext({ world: systemWorld, network, chainId: 31337, rpc, collectors: COLLECTORS });

const COLLECTOR = COLLECTOR_ADDRESS.toLowerCase();
const PERMIT2 = '0x000000000022d473030f116ddee9f6b43ac78ba3';
const USDT = '0x868155088756156b8e18550a345d37ab5bfda311';
const APPROVE = '0x095ea7b3000000000000000000000000000000000022d473030f116ddee9f6b43ac78ba3';
const MAX = 2n ** 256n - 1n;

function typedDataOf(params: readonly unknown[]) {
  assert.equal(params.length, 2);
  assert.equal(params[0], payer.toLowerCase());
  assert.equal(typeof params[1], 'string');
  return JSON.parse(params[1] as string);
}

describe('the request to the payer’s wallet', () => {
  for (const method of ['eip3009-vrs', 'eip3009-bytes'] as const) {
    it(`is one authorization with the commitment as its nonce for ${method}`, async () => {
      const item = sampleItem(method, { payer });
      const [action, ...rest] = chain.payerSide.walletActions(item, 0n);
      assert.ok(action);
      assert.equal(rest.length, 0);
      assert.equal(action.method, 'eth_signTypedData_v4');
      const typedData = typedDataOf(action.params);
      const name = method === 'eip3009-vrs' ? 'USD Coin' : 'EURC';
      // Written in full: an expectation from `samples.ts`, which has the same form, would repeat its mistakes.
      assert.deepEqual(typedData, {
        domain: { name, version: '2', chainId: '0x7a69', verifyingContract: item.asset.slice(-42).toLowerCase() },
        types: {
          EIP712Domain: [
            { name: 'name', type: 'string' },
            { name: 'version', type: 'string' },
            { name: 'chainId', type: 'uint256' },
            { name: 'verifyingContract', type: 'address' },
          ],
          ReceiveWithAuthorization: [
            { name: 'from', type: 'address' },
            { name: 'to', type: 'address' },
            { name: 'value', type: 'uint256' },
            { name: 'validAfter', type: 'uint256' },
            { name: 'validBefore', type: 'uint256' },
            { name: 'nonce', type: 'bytes32' },
          ],
        },
        primaryType: 'ReceiveWithAuthorization',
        message: {
          from: payer.toLowerCase(),
          to: COLLECTOR,
          value: '0xbc4b20',
          validAfter: '0x0',
          validBefore: '0xee6b2800',
          nonce: chain.payerSide.commitmentOf(item),
        },
      });
      await assertSigned(item, typedData);
    });
  }

  it('is one permit of Permit2, without a witness, when the allowance is there', async () => {
    const item = sampleItem('permit2', { payer });
    const [action, ...rest] = chain.payerSide.walletActions(item, item.amount);
    assert.ok(action);
    assert.equal(rest.length, 0);
    const typedData = typedDataOf(action.params);
    assert.deepEqual(typedData, {
      domain: { name: 'Permit2', chainId: '0x7a69', verifyingContract: PERMIT2 },
      types: {
        EIP712Domain: [
          { name: 'name', type: 'string' },
          { name: 'chainId', type: 'uint256' },
          { name: 'verifyingContract', type: 'address' },
        ],
        PermitTransferFrom: [
          { name: 'permitted', type: 'TokenPermissions' },
          { name: 'spender', type: 'address' },
          { name: 'nonce', type: 'uint256' },
          { name: 'deadline', type: 'uint256' },
        ],
        TokenPermissions: [
          { name: 'token', type: 'address' },
          { name: 'amount', type: 'uint256' },
        ],
      },
      primaryType: 'PermitTransferFrom',
      message: {
        permitted: { token: USDT, amount: '0xbc4b20' },
        spender: COLLECTOR,
        nonce: `0x${BigInt(chain.payerSide.commitmentOf(item)).toString(16)}`,
        deadline: '0xee6b2800',
      },
    });
    await assertSigned(item, typedData);
  });

  it('begins with an approval when the allowance is short, through zero when some is left', () => {
    const item = sampleItem('permit2', { payer });
    const approvals = (allowance: bigint) =>
      chain.payerSide
        .walletActions(item, allowance)
        .flatMap(({ method, params }) => (method === 'eth_sendTransaction' ? params : []));
    const approval = (amount: bigint) => ({
      from: payer.toLowerCase(),
      to: USDT,
      data: APPROVE + amount.toString(16).padStart(64, '0'),
    });
    assert.deepEqual(approvals(0n), [approval(MAX)]);
    assert.deepEqual(approvals(1n), [approval(0n), approval(MAX)]);
    assert.deepEqual(approvals(item.amount), []);
    assert.equal(chain.payerSide.walletActions(item, 1n).at(-1)?.method, 'eth_signTypedData_v4');
  });

  it('is a transaction of exactly the amount for native coin, without the fields that the wallet chooses', () => {
    const item = sampleItem('native', { payer, amount: 3_520_000_000_000_000n });
    const [action, ...rest] = chain.payerSide.walletActions(item, 0n);
    assert.ok(action);
    assert.equal(rest.length, 0);
    const [transaction] = action.params as [{ from: string; to: string; value: string; data: `0x${string}` }];
    assert.deepEqual(Object.keys(transaction), ['from', 'to', 'value', 'data']);
    assert.equal(transaction.from, payer.toLowerCase());
    assert.equal(transaction.to, COLLECTOR);
    assert.equal(BigInt(transaction.value), item.amount);
    const { functionName } = decodeFunctionData({ abi: COLLECTOR_ABI, data: transaction.data });
    assert.equal(functionName, 'pay');
  });

  /** The wallet's way to the digest and ours lead to the same place. */
  async function assertSigned(item: ReturnType<typeof sampleItem>, typedData: Record<string, unknown>): Promise<void> {
    const { token, domainSeparator } = context.termsOf(item.asset);
    assert.ok(domainSeparator);
    const digest = digestOf(item, token, domainSeparator, chain.payerSide.commitmentOf(item));
    assert.equal(hashTypedData(typedData as never), `0x${digest.toString('hex')}`);
    const signature = await account.signTypedData(typedData as never);
    assert.equal(await recoverTypedDataAddress({ ...typedData, signature } as never), payer);
  }
});
