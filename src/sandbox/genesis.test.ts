import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createPublicClient, custom, domainSeparator, type PublicClient, parseAbi } from 'viem';
import collector from '../../contracts/artifacts/Collector.json' with { type: 'json' };
import { ASSETS } from '../../test/registry.ts';
import { COLLECTOR_ADDRESS, PERMIT2_ADDRESS } from '../chains/evm/collector.ts';
import { SANDBOX_ACCOUNTS, SANDBOX_FIRST_BLOCK, SANDBOX_TOKENS } from './genesis.ts';
import type { LocalEvm } from './local-evm.ts';
import { createSandboxEvm } from './sandbox-evm.ts';

const TOKEN_ABI = parseAbi([
  'function symbol() view returns (string)',
  'function name() view returns (string)',
  'function decimals() view returns (uint8)',
  'function balanceOf(address) view returns (uint256)',
  'function allowance(address, address) view returns (uint256)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
]);

describe('the sandbox chain', () => {
  let evm: LocalEvm;
  let client: PublicClient;
  before(async () => {
    evm = await createSandboxEvm({ mining: 'manual', initialTimestamp: 1_790_000_000 });
    client = createPublicClient({ transport: custom(evm) });
  });
  after(() => evm.close());

  it('has spent the gas of its preparations by its first block', async () => {
    assert.equal(Number(await client.getBlockNumber()), SANDBOX_FIRST_BLOCK);
    const address = SANDBOX_ACCOUNTS.intermediate;
    const before = await client.getBalance({ address, blockNumber: 0n });
    const now = await client.getBalance({ address, blockNumber: BigInt(SANDBOX_FIRST_BLOCK) });
    assert.ok(now < before, 'an opening balance of block 0 would count this gas as money that has left');
  });

  it('has the tokens where the gateway knows them, under the names that payers sign', async () => {
    for (const [symbol, address] of Object.entries(SANDBOX_TOKENS)) {
      const known = ASSETS.find(({ id }) => id === `eip155:31337/erc20:${address}`);
      assert.equal(known?.symbol, symbol);
      const contract = { abi: TOKEN_ABI, address } as const;
      assert.equal(await client.readContract({ ...contract, functionName: 'symbol' }), symbol);
      assert.equal(await client.readContract({ ...contract, functionName: 'decimals' }), 6);
      if (symbol === 'USDT') continue;
      const name = await client.readContract({ ...contract, functionName: 'name' });
      const separator = await client.readContract({ ...contract, functionName: 'DOMAIN_SEPARATOR' });
      const domain = { name, version: '2', chainId: 31337, verifyingContract: address };
      assert.equal(separator, domainSeparator({ domain }));
      assert.deepEqual(known?.pay?.method.startsWith('eip3009') && known.pay, {
        method: known?.pay?.method,
        domain: { name, version: '2' },
      });
      await assert.rejects(client.getEip712Domain({ address }), 'Circle has no EIP-5267');
    }
  });

  it('has the Collector and Permit2 where every chain has them', async () => {
    assert.equal(await client.getCode({ address: COLLECTOR_ADDRESS }), collector.deployedBytecode);
    assert.ok(await client.getCode({ address: PERMIT2_ADDRESS }));
  });

  it('gives the payer plenty of everything, and lets Permit2 spend it', async () => {
    const { payer } = SANDBOX_ACCOUNTS;
    assert.ok((await client.getBalance({ address: payer })) > 10n ** 20n);
    for (const address of Object.values(SANDBOX_TOKENS)) {
      const contract = { abi: TOKEN_ABI, address } as const;
      assert.ok((await client.readContract({ ...contract, functionName: 'balanceOf', args: [payer] })) > 10n ** 12n);
      const args = [payer, PERMIT2_ADDRESS] as const;
      assert.ok((await client.readContract({ ...contract, functionName: 'allowance', args })) > 10n ** 12n);
    }
  });

  it('is the same chain every time it starts from the same moment', async () => {
    const twin = await createSandboxEvm({ mining: 'auto', initialTimestamp: 1_790_000_000 });
    const other = createPublicClient({ transport: custom(twin) });
    const [first, second] = await Promise.all([client.getBlock(), other.getBlock()]);
    assert.deepEqual([first.number, second.number], [1n, 1n]);
    assert.equal(first.stateRoot, second.stateRoot);
    await twin.close();
  });
});
