import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  type Address,
  encodeFunctionData,
  type Hex,
  keccak256,
  maxUint256,
  parseAbi,
  stringToBytes,
  toFunctionSelector,
} from 'viem';
import testAgora from '../../contracts/artifacts/TestAgora.json' with { type: 'json' };
import testDollar from '../../contracts/artifacts/TestDollar.json' with { type: 'json' };
import testPaxos from '../../contracts/artifacts/TestPaxos.json' with { type: 'json' };
import { SANDBOX_ACCOUNTS } from '../../src/sandbox/genesis.ts';
import {
  AUTHORIZATION_FIELDS,
  type CollectorChain,
  createCollectorChain,
  DEADLINE,
  results,
  TOKEN_ABI,
  USDC,
  USDT,
} from './collector-chain.ts';

/** As they stand in Circle's FiatTokenV2_2: what works with the test token then works with the real one. */
const CIRCLES_SELECTORS: Readonly<Record<string, Hex>> = {
  'transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)': '0xe3ee160e',
  'transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)': '0xcf092995',
  'receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)': '0xef55bec6',
  'receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)': '0x88b7ab63',
  'cancelAuthorization(address,bytes32,uint8,bytes32,bytes32)': '0x5a049a70',
  'cancelAuthorization(address,bytes32,bytes)': '0xb7b72899',
  'permit(address,address,uint256,uint256,uint8,bytes32,bytes32)': '0xd505accf',
  'permit(address,address,uint256,uint256,bytes)': '0x9fd5a6cf',
  'authorizationState(address,bytes32)': '0xe94a0102',
  'blacklist(address)': '0xf9f92be4',
  'unBlacklist(address)': '0x1a895266',
  'isBlacklisted(address)': '0xfe575a87',
  'pause()': '0x8456cb59',
  'unpause()': '0x3f4ba83a',
  'mint(address,uint256)': '0x40c10f19',
};

const BY_KEY = '(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)';
const BY_BYTES = '(address,address,uint256,uint256,uint256,bytes32,bytes)';

function functionsOf(abi: readonly { type: string; name?: string; inputs?: readonly { type: string }[] }[]): string[] {
  return abi.map(({ name, inputs }) => `${name}(${inputs?.map(({ type }) => type)})`);
}

const DOLLAR_ABI = parseAbi([
  'function permit(address owner, address spender, uint256 value, uint256 deadline, bytes signature)',
  'function allowance(address, address) view returns (uint256)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  'function isBlacklisted(address) view returns (bool)',
  'function mint(address, uint256)',
]);

describe('the test tokens', () => {
  let chain: CollectorChain;
  before(async () => {
    chain = await createCollectorChain();
  });
  after(() => chain.evm.close());

  const domain = { name: 'USD Coin', version: '2', chainId: 31337, verifyingContract: USDC } as const;

  it('have the functions of the real ones', () => {
    const functions = functionsOf(testDollar.abi);
    for (const [signature, selector] of Object.entries(CIRCLES_SELECTORS)) {
      assert.equal(toFunctionSelector(signature), selector);
      assert.ok(functions.includes(signature), signature);
    }
  });

  it('have EIP-3009 in the forms of the real ones: for payees alone, and for anyone', () => {
    for (const [token, abi, forms] of [
      ['TestDollar', testDollar.abi, [BY_KEY, BY_BYTES]],
      ['TestAgora', testAgora.abi, [BY_KEY, BY_BYTES]],
      ['TestPaxos', testPaxos.abi, [BY_KEY]],
    ] as const) {
      const found = functionsOf(abi).filter((signature) => /^(receive|transfer)WithAuthorization/.test(signature));
      const expected = forms.flatMap((form) => [`receiveWithAuthorization${form}`, `transferWithAuthorization${form}`]);
      assert.deepEqual(found.sort(), expected.sort(), token);
    }
  });

  it('are moved by anyone with an authorization of their holder, once', async () => {
    const payer = await chain.payer('eip3009-vrs', USDC);
    const to = chain.someone().address;
    const nonce = keccak256('0x01');
    const message = { from: payer.address, to, value: 5n, validAfter: 0n, validBefore: BigInt(DEADLINE), nonce };
    const types = { TransferWithAuthorization: AUTHORIZATION_FIELDS };
    const signature = await payer.signTypedData({ domain, types, primaryType: 'TransferWithAuthorization', message });
    const args = [payer.address, to, 5n, 0n, BigInt(DEADLINE), nonce, signature] as const;
    const data = encodeFunctionData({ abi: DOLLAR_ABI, functionName: 'transferWithAuthorization', args });
    assert.equal((await chain.send({ to: USDC, data })).status, 'success');
    assert.equal((await chain.send({ to: USDC, data })).status, 'reverted');
    assert.equal(await chain.balanceOf(USDC, to), 5n);
  });

  it('take permits', async () => {
    const owner = chain.someone();
    const spender = chain.someone().address;
    const deadline = BigInt(DEADLINE);
    const signature = await owner.signTypedData({
      domain,
      types: {
        Permit: [
          { name: 'owner', type: 'address' },
          { name: 'spender', type: 'address' },
          { name: 'value', type: 'uint256' },
          { name: 'nonce', type: 'uint256' },
          { name: 'deadline', type: 'uint256' },
        ],
      },
      primaryType: 'Permit',
      message: { owner: owner.address, spender, value: 9n, nonce: 0n, deadline },
    });
    const args = [owner.address, spender, 9n, deadline, signature] as const;
    await chain.send({ to: USDC, data: encodeFunctionData({ abi: DOLLAR_ABI, functionName: 'permit', args }) });
    const ask = { abi: DOLLAR_ABI, functionName: 'allowance', args: [owner.address, spender] } as const;
    assert.equal(BigInt(await chain.call(USDC, encodeFunctionData(ask))), 9n);
  });

  it('keep the balance of an account on the blacklist, and show it without the mark', async () => {
    const { address } = await chain.payer('eip3009-vrs', USDC);
    await chain.callToken(USDC, 'blacklist', [address]);
    assert.equal(await chain.balanceOf(USDC, address), 1_000_000_000n);
    const data = encodeFunctionData({ abi: DOLLAR_ABI, functionName: 'isBlacklisted', args: [address] });
    assert.equal(BigInt(await chain.call(USDC, data)), 1n);
    await assert.rejects(chain.callToken(USDC, 'transfer', [SANDBOX_ACCOUNTS.payer, 1n], address));
  });

  it('are minted by their minter alone', async () => {
    const args: [Address, bigint] = [SANDBOX_ACCOUNTS.payer, 1n];
    const data = encodeFunctionData({ abi: DOLLAR_ABI, functionName: 'mint', args });
    for (const to of [USDC, USDT]) assert.equal((await chain.send({ to, data })).status, 'reverted');
  });

  it('stand behind a proxy whose admin cannot use them, and have no EIP-5267, as Circle’s', async () => {
    const [implementation, admin] = await Promise.all(
      ['implementation', 'admin'].map((name) =>
        chain.rpc<Hex>('eth_getStorageAt', [USDC, keccak256(stringToBytes(`org.zeppelinos.proxy.${name}`)), 'latest']),
      ),
    );
    const addressIn = (word = '0x') => `0x${word.slice(-40)}` as Address;
    const code = await chain.rpc('eth_getCode', [addressIn(implementation), 'latest']);
    assert.equal(code, testDollar.deployedBytecode);
    const balanceOf = encodeFunctionData({ abi: DOLLAR_ABI, functionName: 'isBlacklisted', args: [USDC] });
    assert.equal(BigInt(await chain.call(USDC, balanceOf)), 1n, 'nobody can send the token to its own contract');
    await assert.rejects(chain.call(USDC, balanceOf, { from: addressIn(admin) }));
    await assert.rejects(chain.call(USDC, toFunctionSelector('eip712Domain()')));
    assert.equal((await chain.call(USDC, toFunctionSelector('DOMAIN_SEPARATOR()'))).length, 66);
  });

  it('can be given another implementation, which keeps every balance', async () => {
    const { address } = await chain.payer('eip3009-vrs', USDC);
    const admin = await chain.rpc<Hex>('eth_getStorageAt', [
      USDC,
      keccak256(stringToBytes('org.zeppelinos.proxy.admin')),
      'latest',
    ]);
    const from = `0x${admin.slice(-40)}` as Address;
    await chain.rpc('hardhat_setBalance', [from, '0xde0b6b3a7640000']);
    const next = await chain.deploy(testDollar);
    const abi = parseAbi(['function upgradeTo(address)']);
    const data = encodeFunctionData({ abi, args: [next] });
    assert.equal((await chain.send({ to: USDC, data })).status, 'reverted');
    assert.equal((await chain.send({ from, to: USDC, data })).status, 'success');
    assert.equal(await chain.balanceOf(USDC, address), 1_000_000_000n);
  });

  it('burn all gas where USDT has too little to subtract from', async () => {
    const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: 'transfer', args: [SANDBOX_ACCOUNTS.payer, 1n] });
    const from = chain.someone().address;
    await chain.rpc('hardhat_setBalance', [from, '0xde0b6b3a7640000']);
    const { status, gasUsed } = await chain.send({ from, to: USDT, data, gas: 300_000 });
    assert.deepEqual([status, gasUsed], ['reverted', 300_000]);
  });

  it('deliver less once USDT has switched its fee on, and then no payment is taken', async () => {
    const item = await chain.item({ kind: 'permit2', token: USDT });
    const setParams = (rate: bigint) =>
      encodeFunctionData({ abi: parseAbi(['function setParams(uint256, uint256)']), args: [rate, 40n] });
    const { minter } = SANDBOX_ACCOUNTS;
    assert.equal((await chain.send({ from: minter, to: USDT, data: setParams(10n) })).status, 'success');
    const batch = { kind: 'permit2', token: USDT, items: [item] } as const;
    assert.deepEqual(results(await chain.collect(batch)), ['short_arrival']);
    await chain.send({ from: minter, to: USDT, data: setParams(0n) });
    assert.deepEqual(results(await chain.collect(batch)), ['collected']);
  });

  it('change an allowance of USDT only through zero', async () => {
    const { payer, merchant } = SANDBOX_ACCOUNTS;
    await chain.callToken(USDT, 'approve', [merchant, 5n], payer);
    await assert.rejects(chain.callToken(USDT, 'approve', [merchant, maxUint256], payer));
    await chain.callToken(USDT, 'approve', [merchant, 0n], payer);
    await chain.callToken(USDT, 'approve', [merchant, maxUint256], payer);
  });
});
