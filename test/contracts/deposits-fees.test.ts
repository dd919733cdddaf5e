import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Address, keccak256, numberToHex } from 'viem';
import awkwardReceiver from '../../contracts/artifacts/AwkwardReceiver.json' with { type: 'json' };
import { NATIVE_TOKEN } from '../../src/chains/evm/collector.ts';
import { DEPOSITS_ADDRESS, type DepositTerms, depositAddress, encodeSweep } from '../../src/chains/evm/deposits.ts';
import { type CollectorChain, errorSelector, USDC, USDT } from './collector-chain.ts';
import type { DepositScene, Swept } from './deposit-scene.ts';
import { type HostileToken, openHostileScene } from './hostile-token.ts';

const COIN = { token: NATIVE_TOKEN } as const;
const RECEIVER = { Refuses: 0, AnswersMegabyte: 1, Reenters: 2, BurnsGas: 3, ForcesBack: 4, NeedsGas: 5 } as const;
const TRANSFER_TOPIC = keccak256(new TextEncoder().encode('Transfer(address,address,uint256)'));

let chain: CollectorChain;
let scene: DepositScene;
let hostile: HostileToken;
before(async () => {
  ({ chain, scene, hostile } = await openHostileScene());
});
after(() => chain.evm.close());

const usdc = (account: Address) => chain.balanceOf(USDC, account);
const moved = ({ logs }: Swept) => logs.map(({ amount, fee }) => [amount, fee]);
const receiver = (quirk: keyof typeof RECEIVER) => chain.deploy(awkwardReceiver, [RECEIVER[quirk], '0x']);

/** Coin arrives at the deposit address, even if its proxy would refuse it. */
async function arriveCoin(item: DepositTerms, amount = item.amount): Promise<Address> {
  const deposit = depositAddress(item);
  await chain.rpc('hardhat_setBalance', [deposit, numberToHex((await chain.coinOf(deposit)) + amount)]);
  return deposit;
}

describe('a fee account that cannot be paid', () => {
  it('does not stop the recipient, and is paid later', async () => {
    const feeAccount = chain.someone().address;
    const item = scene.terms({ feeAccount });
    const deposit = await scene.arrive(item);
    await chain.callToken(USDC, 'blacklist', [feeAccount]);
    assert.deepEqual(moved(await scene.sweep({ items: [item] })), [[9_900_000n, 0n]]);
    assert.equal(await usdc(item.recipient), 9_900_000n);
    assert.deepEqual([await usdc(deposit), await scene.owedFee(item)], [100_000n, 100_000n]);
    // Nothing but the fee is left. It stays until it can be paid.
    const [reason] = await scene.simulate({ items: [item] });
    assert.equal(reason?.slice(0, 10), errorSelector('PayoutFailed(bytes)'));

    await scene.arrive(item, 5_000_000n);
    assert.deepEqual(moved(await scene.sweep({ items: [item] })), [[4_950_000n, 0n]]);
    assert.deepEqual([await usdc(deposit), await scene.owedFee(item)], [150_000n, 150_000n]);

    await chain.callToken(USDC, 'unBlacklist', [feeAccount]);
    await scene.arrive(item, 1_000n);
    assert.deepEqual(moved(await scene.sweep({ items: [item] })), [[151_000n, 150_010n]]);
    assert.deepEqual([await usdc(feeAccount), await usdc(deposit), await scene.owedFee(item)], [150_010n, 0n, 0n]);
    assert.equal(await usdc(item.recipient), 14_850_990n);
  });

  it('gets the owed fee alone, if nothing else has arrived', async () => {
    const feeAccount = chain.someone().address;
    const item = scene.terms({ feeAccount });
    await scene.arrive(item);
    await chain.callToken(USDC, 'blacklist', [feeAccount]);
    await scene.sweep({ items: [item] });
    await chain.callToken(USDC, 'unBlacklist', [feeAccount]);
    assert.deepEqual(moved(await scene.sweep({ items: [item] })), [[100_000n, 100_000n]]);
    assert.deepEqual([await usdc(feeAccount), await scene.owedFee(item)], [100_000n, 0n]);
    assert.deepEqual(await scene.simulate({ items: [item] }), [errorSelector('NothingThere()')]);
  });

  it('is owed each token on its own', async () => {
    const feeAccount = chain.someone().address;
    const item = scene.terms({ feeAccount });
    await scene.arrive(item);
    await hostile.list(feeAccount, true);
    await chain.callToken(USDC, 'blacklist', [feeAccount]);
    await chain.callToken(hostile.token, 'mint', [depositAddress(item), 1_000n]);
    await scene.sweep({ items: [item] });
    await scene.sweep({ token: hostile.token, items: [item] });
    assert.deepEqual([await scene.owedFee(item), await scene.owedFee(item, hostile.token)], [100_000n, 10n]);
    await hostile.list(feeAccount, false);
    assert.deepEqual(moved(await scene.sweep({ token: hostile.token, items: [item] })), [[10n, 10n]]);
    assert.deepEqual([await scene.owedFee(item), await scene.owedFee(item, hostile.token)], [100_000n, 0n]);
  });

  it('is never owed more than the address holds', async () => {
    const feeAccount = chain.someone().address;
    const item = scene.terms({ token: hostile.token, feeAccount });
    const deposit = await scene.arrive(item);
    await hostile.list(feeAccount, true);
    await scene.sweep({ items: [item] });
    await hostile.list(feeAccount, false);
    // The token takes a part of the money away.
    await chain.callToken(hostile.token, 'transfer', [chain.someone().address, 99_000n], deposit).catch(async () => {
      await chain.rpc('hardhat_setBalance', [deposit, '0xde0b6b3a7640000']);
      await chain.callToken(hostile.token, 'transfer', [chain.someone().address, 99_000n], deposit);
    });
    assert.deepEqual(moved(await scene.sweep({ items: [item] })), [[1_000n, 1_000n]]);
    assert.equal(await scene.owedFee(item), 0n);
  });

  it('does not stop an authorization', async () => {
    const feeAccount = chain.someone().address;
    await chain.callToken(USDC, 'blacklist', [feeAccount]);
    const item = await scene.authorize(scene.terms({ feeAccount }));
    assert.deepEqual(moved(await scene.sweepAuthorized([item])), [[9_900_000n, 0n]]);
    assert.equal(await scene.owedFee(item), 100_000n);
  });

  it('is paid whatever gas the caller chooses: a sweep pays the fee or does nothing', async () => {
    const coinAccount = await receiver('NeedsGas');
    let swept = 0;
    for (let allowance = 50_000; allowance < 330_000; allowance += 4_001) {
      // Accounts that are new to the token need most gas.
      const item = scene.terms({ feeAccount: chain.someone().address });
      await scene.arrive(item);
      const fees = moved(await scene.sweep({ items: [item], allowance }, 1_000_000));
      const coin = scene.terms({ ...COIN, feeAccount: coinAccount });
      await arriveCoin(coin);
      const coinFees = moved(await scene.sweep({ items: [coin], allowance }, 1_000_000));
      for (const one of [...fees, ...coinFees]) assert.deepEqual(one, [10_000_000n, 100_000n], `${allowance}`);
      swept += fees.length + coinFees.length;
    }
    assert.ok(swept > 20 && swept < 140, `${swept}`);
  });

  it('may burn all gas: the recipient is paid in a sweep with enough of it', async () => {
    const item = scene.terms({ ...COIN, feeAccount: await receiver('BurnsGas') });
    const deposit = await arriveCoin(item);
    assert.deepEqual(await scene.simulate({ items: [item], allowance: 400_000 }), [errorSelector('OutOfGas()')]);
    assert.deepEqual(moved(await scene.sweep({ items: [item], allowance: 800_000 }, 2_000_000)), [[9_900_000n, 0n]]);
    assert.deepEqual([await chain.coinOf(deposit), await scene.owedFee(item)], [100_000n, 100_000n]);
  });

  it('may refuse coin, answer a megabyte, call back, or force coin back: the recipient is paid', async () => {
    const reenters = await chain.deploy(awkwardReceiver, [
      RECEIVER.Reenters,
      encodeSweep({ ...COIN, items: [scene.terms(COIN)] }),
    ]);
    for (const feeAccount of [await receiver('Refuses'), await receiver('ForcesBack'), reenters, DEPOSITS_ADDRESS]) {
      const item = scene.terms({ ...COIN, feeAccount });
      await arriveCoin(item);
      assert.equal((await scene.sweep({ items: [item], allowance: 900_000 }, 2_000_000)).logs.length, 1);
      assert.equal(await chain.coinOf(item.recipient), 9_900_000n);
    }
    const loud = scene.terms({ ...COIN, feeAccount: await receiver('AnswersMegabyte') });
    await arriveCoin(loud);
    const { logs } = await scene.sweep({ items: [loud], allowance: 8_000_000 }, 2 ** 24);
    assert.deepEqual([logs[0]?.fee, await chain.coinOf(loud.recipient)], [100_000n, 9_900_000n]);
  });
});

describe('coin', () => {
  it('that reached an address before its proxy is swept, and so is coin that is forced on the proxy', async () => {
    const item = scene.terms();
    const deposit = await arriveCoin(item, 1_000n);
    assert.deepEqual(moved(await scene.sweep({ ...COIN, items: [item] })), [[1_000n, 10n]]);
    assert.equal(await chain.coinOf(item.recipient), 990n);
    assert.notEqual(await chain.rpc('eth_getCode', [deposit, 'latest']), '0x');
    await arriveCoin(item, 50n);
    assert.deepEqual(moved(await scene.sweep({ ...COIN, items: [item] })), [[50n, 0n]]);
    assert.equal(await chain.coinOf(deposit), 0n);
    // A proxy refuses coin, so its sender keeps it.
    const sent = await chain.send({ to: deposit, data: '0x', value: 5n });
    assert.equal(sent.status, 'reverted');
  });

  it('can be the asked token, and pays no more than the asked fee', async () => {
    const item = scene.terms(COIN);
    await arriveCoin(item, 25_000_000n);
    assert.deepEqual(moved(await scene.sweep({ items: [item] })), [[25_000_000n, 100_000n]]);
    assert.deepEqual(await scene.simulate({ items: [item] }), [errorSelector('NothingThere()')]);
  });

  it('is refused alone by its recipient, and its proxy is undone', async () => {
    const [bad, good] = [scene.terms({ ...COIN, recipient: await receiver('Refuses') }), scene.terms(COIN)];
    for (const item of [bad, good]) await arriveCoin(item);
    assert.equal((await scene.sweep({ items: [bad, good] })).logs.length, 1);
    assert.equal(await chain.rpc('eth_getCode', [depositAddress(bad), 'latest']), '0x');
    assert.equal(await chain.coinOf(good.recipient), 9_900_000n);
  });
});

describe('the fee', () => {
  it('of 1,000.00 swept for 1.00 is the asked one, at once and from an authorization', async () => {
    const item = scene.terms({ amount: 1_000_000n, fee: 310_000n });
    await scene.arrive(item, 1_000_000_000n);
    assert.deepEqual(moved(await scene.sweep({ items: [item] })), [[1_000_000_000n, 310_000n]]);
    const paid = await scene.authorize(scene.terms({ amount: 1_000_000n, fee: 310_000n }));
    await scene.arrive(paid, 999_000_000n);
    assert.deepEqual(moved(await scene.sweepAuthorized([paid])), [[1_000_000_000n, 310_000n]]);
  });

  it('of another token is its share, however much arrives', async () => {
    const item = scene.terms({ amount: 1_000_000n, fee: 310_000n });
    await scene.arrive(item, 2_000_000n, USDT);
    assert.deepEqual(moved(await scene.sweep({ token: USDT, items: [item] })), [[2_000_000n, 620_000n]]);
  });

  it('is exact for amounts of 16 bytes', async () => {
    const most = 2n ** 128n - 1n;
    const item = scene.terms({ token: hostile.token, amount: most, fee: most - 1n });
    await scene.arrive(item, most - 1n);
    assert.deepEqual(moved(await scene.sweep({ items: [item] })), [[most - 1n, ((most - 1n) * (most - 1n)) / most]]);
    await scene.arrive(item, most);
    assert.deepEqual(moved(await scene.sweep({ items: [item] })), [[most, most - 1n]]);
  });

  it('that is everything leaves no transfer to the recipient, and no fee none to the fee account', async () => {
    const [allFee, free] = [scene.terms({ fee: 10_000_000n }), scene.terms({ fee: 0n })];
    await chain.callToken(USDC, 'blacklist', [allFee.recipient]);
    const stranger = chain.someone().address;
    await chain.rpc('hardhat_setBalance', [stranger, '0xde0b6b3a7640000']);
    for (const item of [allFee, free]) {
      await scene.arrive(item);
      const data = encodeSweep({ token: USDC, items: [item] });
      const { logs } = await chain.send({ from: stranger, to: DEPOSITS_ADDRESS, data, gas: 1_000_000 });
      assert.equal(logs.filter(({ topics }) => topics[0] === TRANSFER_TOPIC).length, 1);
      assert.equal(logs.length, 2);
    }
  });
});
