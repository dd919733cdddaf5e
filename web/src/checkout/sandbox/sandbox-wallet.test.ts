import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hashTypedData, parseTransaction, recoverTransactionAddress, recoverTypedDataAddress } from 'viem';
import { SANDBOX_ACCOUNTS } from '../../../../src/sandbox/genesis.ts';
import { toHex } from './bytes.ts';
import { sandboxKey } from './key.ts';
import { createSandboxWallet } from './sandbox-wallet.ts';
import { signTransaction } from './transaction.ts';
import { type TypedData, typedDataDigest } from './typed-data.ts';

const PERMIT: TypedData = {
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
      { name: 'salt', type: 'bytes32' },
      { name: 'isFinal', type: 'bool' },
    ],
    TokenPermissions: [
      { name: 'token', type: 'address' },
      { name: 'amount', type: 'uint256' },
    ],
  },
  primaryType: 'PermitTransferFrom',
  domain: { name: 'Permit2', chainId: '0x7a69', verifyingContract: '0x000000000022d473030f116ddee9f6b43ac78ba3' },
  message: {
    permitted: { token: '0x4e4707de5c8431f59fa45a904854551c692c04f9', amount: '0xbc4b20' },
    spender: '0x2222222222222222222222222222222222222222',
    nonce: `0x${'3f'.repeat(32)}`,
    deadline: '0x6b49d458',
    salt: `0x${'07'.repeat(32)}`,
    isFinal: true,
  },
};

describe('the sandbox wallet', () => {
  it('is the payer of the sandbox chain', () => {
    assert.equal(sandboxKey('payer').address, SANDBOX_ACCOUNTS.payer.toLowerCase());
    assert.equal(sandboxKey('merchant').address, SANDBOX_ACCOUNTS.merchant.toLowerCase());
  });

  it('signs typed data as wallets do', async () => {
    const typed = PERMIT as unknown as Parameters<typeof hashTypedData>[0];
    assert.equal(toHex(typedDataDigest(PERMIT)), hashTypedData(typed));
    const wallet = createSandboxWallet({ rpcPath: '/rpc', chainId: 'eip155:31337', role: 'payer', fetch });
    const signature = await wallet.request({ method: 'eth_signTypedData_v4', params: ['0x', JSON.stringify(PERMIT)] });
    const signer = await recoverTypedDataAddress({ ...typed, signature: signature as `0x${string}` });
    assert.equal(signer, SANDBOX_ACCOUNTS.payer);
  });

  it('signs transactions as wallets do', async () => {
    const transaction = {
      chainId: 31337n,
      nonce: 0n,
      maxPriorityFeePerGas: 1_000_000_000n,
      maxFeePerGas: 3_000_000_000n,
      gas: 60_000n,
      to: '0x868155088756156b8e18550a345d37ab5bfda311',
      value: 12n,
      data: `0x095ea7b3${'00'.repeat(64)}`,
    };
    const raw = signTransaction(transaction, sandboxKey('payer')) as `0x02${string}`;
    const parsed = parseTransaction(raw);
    assert.deepEqual(
      { to: parsed.to, value: parsed.value, data: parsed.data, gas: parsed.gas, chainId: parsed.chainId },
      { to: transaction.to, value: 12n, data: transaction.data, gas: 60_000n, chainId: 31337 },
    );
    assert.equal(await recoverTransactionAddress({ serializedTransaction: raw }), SANDBOX_ACCOUNTS.payer);
  });

  it('sends through the sandbox chain, and passes its refusals on', async () => {
    const asked: string[] = [];
    const answers: Record<string, unknown> = {
      eth_getTransactionCount: '0x1',
      eth_estimateGas: '0x5208',
      eth_gasPrice: '0x3b9aca00',
      eth_sendRawTransaction: `0x${'ab'.repeat(32)}`,
    };
    const wallet = createSandboxWallet({
      role: 'payer',
      rpcPath: '/rpc',
      chainId: 'eip155:31337',
      fetch: async (_path, init) => {
        const { method } = JSON.parse(String(init?.body)) as { method: string };
        asked.push(method);
        const result = answers[method];
        return Response.json(result === undefined ? { error: { code: -32601 } } : { result });
      },
    });
    const hash = await wallet.request({
      method: 'eth_sendTransaction',
      params: [{ to: `0x${'1'.repeat(40)}`, value: '0x1' }],
    });
    assert.equal(hash, answers.eth_sendRawTransaction);
    assert.equal(asked.at(-1), 'eth_sendRawTransaction');
    await assert.rejects(async () => wallet.request({ method: 'eth_nonsense' }), { code: -32601 });
  });
});
