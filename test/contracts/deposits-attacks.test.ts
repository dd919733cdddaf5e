import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Address, encodeFunctionData, type Hex, hexToBigInt, keccak256, numberToHex, slice } from 'viem';
import caller from '../../contracts/artifacts/Caller.json' with { type: 'json' };
import { COLLECTOR_ADDRESS, decodeBatchOutcome, PERMIT2_ADDRESS } from '../../src/chains/evm/collector.ts';
import {
  type AuthorizedSweep,
  DEPOSITS_ADDRESS,
  depositAddress,
  depositCommitment,
  encodeAuthorizedSweep,
  encodeSweep,
} from '../../src/chains/evm/deposits.ts';
import { deployAwkwardToken } from './awkward-token.ts';
import { type CollectorChain, errorSelector, USDC, USDT } from './collector-chain.ts';
import type { Authorized, DepositScene, Swept } from './deposit-scene.ts';
import { ANY_SIGNATURE, assertWholeAllowance, type HostileToken, openHostileScene } from './hostile-token.ts';

let chain: CollectorChain;
let scene: DepositScene;
let hostile: HostileToken;
before(async () => {
  ({ chain, scene, hostile } = await openHostileScene());
});
after(() => chain.evm.close());

const usdc = (account: Address) => chain.balanceOf(USDC, account);
const moved = ({ logs }: Swept) => logs.map(({ amount, fee }) => [amount, fee]);

async function simulateAuthorized(items: readonly Authorized[], kind: AuthorizedSweep['kind'] = 'deposit-vrs') {
  const answer = await chain.call(DEPOSITS_ADDRESS, encodeAuthorizedSweep({ kind, items }));
  return decodeBatchOutcome(answer, items.length).map((outcome) =>
    outcome.isCollected ? undefined : outcome.reason.slice(0, 10),
  );
}

describe('the event of a sweep', () => {
  it('has the words of which its commitment is the hash', async () => {
    const item = scene.terms();
    await scene.arrive(item);
    await scene.arrive(item, 300n, USDT);
    for (const token of [USDC, USDT]) {
      const [log] = (await scene.sweep({ token, items: [item] })).rawLogs;
      assert.equal(log?.topics[1], keccak256(slice(log?.data ?? '0x', 0, 192)));
      assert.equal(log?.topics[1], depositCommitment(item));
    }
  });
});

describe('an authorization', () => {
  it('that does nothing, or fails, is no fault if the address holds the asked amount', async () => {
    const { token } = hostile;
    for (const pull of ['Accepts', 'RevertsAfterwards'] as const) {
      const [full, short] = [scene.terms({ token }), scene.terms({ token })];
      const items = [await hostile.authorized(full), await hostile.authorized(short)];
      await scene.arrive(full);
      await scene.arrive(short, short.amount - 1n);
      await hostile.setPull(pull);
      const reason = errorSelector(pull === 'Accepts' ? 'ShortArrival()' : 'Error(string)');
      assert.deepEqual(await simulateAuthorized(items), [undefined, reason]);
      assert.deepEqual(moved(await scene.sweepAuthorized(items)), [[10_000_000n, 100_000n]]);
      await hostile.setPull('Moves');
    }
  });

  it('of a token that has none is refused with a reason', async () => {
    const terms = scene.terms({ token: USDT });
    const item = { ...(await hostile.authorized(terms)) };
    assert.deepEqual(await simulateAuthorized([item]), [errorSelector('NotAuthorized()')]);
    await scene.arrive(terms, terms.amount);
    assert.deepEqual(await simulateAuthorized([item]), [undefined]);
  });

  it('has times of 5 bytes', async () => {
    for (const kind of ['deposit-vrs', 'deposit-bytes'] as const) {
      const far = await scene.authorize(scene.terms(), { validBefore: 2 ** 40 - 1 });
      const early = await scene.authorize(scene.terms(), { validAfter: 2 ** 33, validBefore: 2 ** 40 - 1 });
      assert.deepEqual(await simulateAuthorized([far, early], kind), [undefined, errorSelector('Error(string)')]);
    }
  });

  it('by a key has 64 bytes', async () => {
    const item = await scene.authorize(scene.terms());
    const data = encodeAuthorizedSweep({ kind: 'deposit-vrs', items: [item] });
    const at = 2 + 2 * (100 + 146);
    const short = `${data.slice(0, at)}003f${data.slice(at + 4, -2)}` as Hex;
    const [outcome] = decodeBatchOutcome(await chain.call(DEPOSITS_ADDRESS, short), 1);
    assert.deepEqual(outcome, { isCollected: false, reason: errorSelector('MalformedItems()') });
  });

  it('moves amounts of 16 bytes', async () => {
    const item = await hostile.authorized(scene.terms({ token: hostile.token, amount: 2n ** 127n + 2n ** 96n + 1n }));
    for (const kind of ['deposit-vrs', 'deposit-bytes'] as const) {
      const [reason] = await simulateAuthorized([item], kind);
      assert.equal(reason, undefined);
    }
    assert.deepEqual(moved(await scene.sweepAuthorized([item])), [[item.amount, 100_000n]]);
  });
});

describe('items that are refused', () => {
  it('leave no proxy', async () => {
    const [listed, empty] = [scene.terms(), scene.terms()];
    await scene.arrive(listed);
    await chain.callToken(USDC, 'blacklist', [listed.recipient]);
    assert.deepEqual((await scene.sweep({ items: [listed, empty] })).logs, []);
    for (const item of [listed, empty]) {
      assert.equal(await chain.rpc('eth_getCode', [depositAddress(item), 'latest']), '0x');
    }
  });

  it('cost the same, however many there are', async () => {
    const { token, setQuirk } = await deployAwkwardToken(chain);
    const recipient = chain.someone().address;
    await setQuirk(recipient, 'Reverts');
    const gasOf = async (count: number) => {
      const items = Array.from({ length: count }, () => scene.terms({ token, recipient }));
      for (const item of items) await scene.arrive(item);
      return (await scene.sweep({ items, allowance: 150_000 }, 2 ** 24)).gasUsed;
    };
    const [ten, twenty, sixty] = [await gasOf(10), await gasOf(20), await gasOf(60)];
    assert.ok(Math.abs((sixty - ten) / 50 / ((twenty - ten) / 10) - 1) < 0.01, `${ten} ${twenty} ${sixty}`);
  });

  it('keep 256 bytes of a long reason, in their order, between items that are swept', async () => {
    const { token, setQuirk } = await deployAwkwardToken(chain);
    const items = Array.from({ length: 6 }, () => scene.terms({ token }));
    for (const item of items) await scene.arrive(item);
    for (const at of [1, 2, 4])
      await setQuirk(items[at]?.recipient as Address, at === 2 ? 'Reverts' : 'RevertsWithMegabyte');
    const reasons = await scene.simulate({ items, allowance: 2_700_000 });
    const payoutFailed = errorSelector('PayoutFailed(bytes)');
    assert.deepEqual(
      reasons.map((reason) => reason && [reason.slice(0, 10), reason.length / 2 - 1]),
      [undefined, [payoutFailed, 256], [payoutFailed, 4 + 5 * 32 + 32], undefined, [payoutFailed, 256], undefined],
    );
  });
});

describe('accounts of ours in the terms', () => {
  it('may be deposit addresses: as recipient and as fee account, with a proxy and without', async () => {
    const [inner, other] = [scene.terms(), scene.terms()];
    await scene.arrive(other, 100n);
    await scene.sweep({ items: [other] });
    const outer = scene.terms({ recipient: depositAddress(inner), feeAccount: depositAddress(other) });
    await scene.arrive(outer);
    assert.deepEqual(moved(await scene.sweep({ items: [outer] })), [[10_000_000n, 100_000n]]);
    assert.deepEqual(moved(await scene.sweep({ items: [inner, other] })), [
      [9_900_000n, 99_000n],
      [100_000n, 1_000n],
    ]);
  });

  it('may be the contract itself, to which money of a token is lost by its terms alone', async () => {
    const [lost, good] = [scene.terms({ recipient: DEPOSITS_ADDRESS }), scene.terms()];
    for (const item of [lost, good]) await scene.arrive(item);
    assert.equal((await scene.sweep({ items: [lost, good] })).logs.length, 2);
    // Nobody can take it out: no deposit address is the contract.
    assert.equal(await usdc(DEPOSITS_ADDRESS), 9_900_000n);
  });

  it('get a proxy by a token that lies, which locks nothing', async () => {
    const item = scene.terms();
    const [stranger] = [hostile.token];
    await hostile.play('None');
    await chain.callToken(stranger, 'mint', [depositAddress(item), 5n]);
    assert.equal((await scene.sweep({ token: stranger, items: [item] })).logs.length, 1);
    await scene.arrive(item);
    assert.deepEqual(moved(await scene.sweep({ items: [item] })), [[10_000_000n, 100_000n]]);
  });
});

describe('the form of a sweep', () => {
  it('is checked at every byte', async () => {
    const items = [await scene.authorize(scene.terms()), await scene.authorize(scene.terms())];
    for (const [data, head, size] of [
      [encodeSweep({ token: USDC, items }), 132, 84],
      [encodeAuthorizedSweep({ kind: 'deposit-vrs', items }), 100, 148 + 64],
      [encodeAuthorizedSweep({ kind: 'deposit-bytes', items }), 100, 148 + 65],
    ] as const) {
      assert.equal(data.length / 2 - 1, head + 2 * size);
      for (let cut = 4; cut < head + 2 * size; cut += 1) {
        const asked = chain.call(DEPOSITS_ADDRESS, data.slice(0, 2 + 2 * cut) as Hex);
        if (cut === head || cut === head + size) await asked;
        else
          await assert.rejects(
            asked,
            ({ data: revertData }: { data?: Hex }) => cut < head || revertData === errorSelector('MalformedItems()'),
          );
      }
    }
  });

  it('lets two sweeps share a transaction', async () => {
    const made = await chain.deploy(caller);
    const items = [scene.terms(), scene.terms()];
    for (const item of items) await scene.arrive(item);
    const paid = await scene.authorize(scene.terms());
    const inputs = [
      ...items.map((item) => encodeSweep({ token: USDC, items: [item] })),
      encodeAuthorizedSweep({ kind: 'deposit-vrs', items: [paid] }),
    ];
    const calls = inputs.map((data) => ({ to: DEPOSITS_ADDRESS, value: 0n, data }));
    const data = encodeFunctionData({ abi: caller.abi, functionName: 'run', args: [calls] });
    assert.equal((await chain.send({ to: made, data })).status, 'success');
    for (const { recipient } of [...items, paid]) assert.equal(await usdc(recipient), 9_900_000n);
  });
});

describe('the gas of an item', () => {
  it('is its whole allowance or the sweep reverts, however large the allowance', async () => {
    await hostile.setPull('TellsGas');
    for (const allowance of [100_000, 5_000_000, 15_000_000]) {
      const item = await hostile.authorized(scene.terms({ token: hostile.token }));
      const data = encodeAuthorizedSweep({ kind: 'deposit-vrs', items: [item], allowance });
      const gasReported = async (gas: number) => {
        const answer = await chain.call(DEPOSITS_ADDRESS, data, { gas }).catch(() => undefined);
        const [first] = answer === undefined ? [] : decodeBatchOutcome(answer, 1);
        return first?.isCollected === false ? hexToBigInt(first.reason) : undefined;
      };
      await assertWholeAllowance(allowance, gasReported);
    }
    await hostile.setPull('Moves');
  });

  it('pays for a dear balance, which is no reason to refuse an honest token', async () => {
    const item = scene.terms({ token: hostile.token });
    await scene.arrive(item);
    await hostile.play('IsDear', 100_000n);
    const { logs } = await scene.sweep({ items: [item], allowance: 600_000 }, 1_000_000);
    await hostile.play('None');
    assert.equal(logs.length, 1);
  });
});

describe('tokens that lie', () => {
  it('are none if a balance has less than 32 bytes', async () => {
    const item = scene.terms({ token: hostile.token });
    await scene.arrive(item);
    for (let bytes = 0n; bytes < 32n; bytes += 1n) {
      await hostile.play('AnswersBytes', bytes);
      assert.deepEqual(await scene.simulate({ items: [item] }), [errorSelector('NotAToken()')]);
    }
    await hostile.play('AnswersWords', 20_000n);
    assert.deepEqual(await scene.simulate({ items: [item], allowance: 12_000_000 }), [undefined]);
    await hostile.play('None');
  });

  it('are refused if a balance does not follow the payouts', async () => {
    for (const value of [1n, 100_000n, 2n ** 200n]) {
      const item = scene.terms({ token: hostile.token });
      const deposit = await scene.arrive(item);
      await hostile.play('Flips', value);
      assert.deepEqual(await scene.simulate({ items: [item] }), [errorSelector('WrongPayout()')]);
      await hostile.play('Boasts', value);
      const { logs } = await scene.sweep({ items: [item] });
      await hostile.play('None');
      // If the token lies in the same way all the time, the event has the amount that has left.
      const left = logs.reduce((sum, { amount }) => sum + amount, 0n);
      assert.equal(await chain.balanceOf(hostile.token, item.recipient), left);
      assert.equal(await chain.balanceOf(hostile.token, deposit), 10_000_000n - left);
    }
  });

  it('are not our own contracts, nor Permit2, nor a precompiled one', async () => {
    const swept = scene.terms();
    await scene.arrive(swept);
    await scene.sweep({ items: [swept] });
    const precompiled = [1, 2, 3, 4, 5, 9].map((at) => numberToHex(at, { size: 20 }));
    for (const token of [DEPOSITS_ADDRESS, COLLECTOR_ADDRESS, PERMIT2_ADDRESS, depositAddress(swept), ...precompiled]) {
      const item = scene.terms({ token });
      assert.deepEqual((await scene.sweep({ items: [item] })).logs, [], token);
      const authorized = { ...(await scene.authorize(scene.terms())), token, signature: ANY_SIGNATURE };
      assert.deepEqual((await scene.sweepAuthorized([authorized])).logs, [], token);
    }
  });
});
