import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Address, encodeFunctionData, type Hex, keccak256 } from 'viem';
import deposits from '../../contracts/artifacts/Deposits.json' with { type: 'json' };
import { decodeBatchOutcome } from '../../src/chains/evm/collector.ts';
import {
  type AuthorizedSweep,
  authorizedGasLimit,
  DEPOSITS_ADDRESS,
  type DepositTerms,
  depositAddress,
  depositCommitment,
  encodeAuthorizedSweep,
  encodeSweep,
  maxAuthorizedItems,
} from '../../src/chains/evm/deposits.ts';
import { type AwkwardToken, deployAwkwardToken, type Quirk } from './awkward-token.ts';
import {
  type CollectorChain,
  createCollectorChain,
  DEADLINE,
  errorSelector,
  FEE_ACCOUNT,
  USDC,
} from './collector-chain.ts';
import { type Authorized, createDepositScene, type DepositScene } from './deposit-scene.ts';

describe('deposit addresses that are filled by authorizations', () => {
  let chain: CollectorChain;
  let scene: DepositScene;
  before(async () => {
    chain = await createCollectorChain();
    scene = createDepositScene(chain);
    await chain.callToken(USDC, 'mint', [FEE_ACCOUNT, 1n]);
  });
  after(() => chain.evm.close());

  const usdc = (account: Address) => chain.balanceOf(USDC, account);

  const authorized = (given: Partial<DepositTerms> = {}) => scene.authorize(scene.terms(given));

  async function simulate(items: readonly Authorized[], kind: AuthorizedSweep['kind'] = 'deposit-vrs') {
    const answer = await chain.call(DEPOSITS_ADDRESS, encodeAuthorizedSweep({ kind, items }));
    return decodeBatchOutcome(answer, items.length).map((outcome) =>
      outcome.isCollected ? undefined : outcome.reason.slice(0, 10),
    );
  }

  for (const kind of ['deposit-vrs', 'deposit-bytes'] as const) {
    it(`pay recipient and fee account in the transaction of a stranger (${kind})`, async () => {
      const items = [await authorized(), await authorized({ fee: 0n })];
      const { status, logs } = await scene.sweepAuthorized(items, kind);
      assert.equal(status, 'success');
      assert.deepEqual(
        logs.map(({ commitment, amount, fee }) => [commitment, amount, fee]),
        items.map((item) => [depositCommitment(item), 10_000_000n, item.fee]),
      );
      for (const item of items) {
        assert.equal(await usdc(item.recipient), item.amount - item.fee);
        assert.equal(await usdc(item.payer), 990_000_000n);
        assert.equal(await usdc(depositAddress(item)), 0n);
      }
    });
  }

  it('take what was there before with them', async () => {
    const item = await authorized();
    await scene.arrive(item, 500n);
    const { logs } = await scene.sweepAuthorized([item]);
    assert.deepEqual([logs[0]?.amount, logs[0]?.fee], [10_000_500n, 100_000n]);
  });

  it('are swept all the same, if somebody has presented the authorization to the token before', async () => {
    for (const kind of ['deposit-vrs', 'deposit-bytes'] as const) {
      const item = await authorized();
      assert.equal(await scene.present(item), 'success');
      assert.equal((await scene.sweepAuthorized([item], kind)).logs.length, 1);
      assert.equal(await usdc(item.recipient), 9_900_000n);
      // The authorization is used up, and its money is gone from the address.
      assert.deepEqual(await simulate([item], kind), [errorSelector('Error(string)')]);
    }
  });

  it('are of no use with any other term: the signature names the address', async () => {
    const item = await authorized();
    const thief = chain.someone().address;
    for (const change of [
      { recipient: thief },
      { feeAccount: thief },
      { fee: 1n },
      { amount: 9_999_999n },
      { payer: thief },
      { validBefore: DEADLINE - 1 },
      { validAfter: 4 },
      { subject: chain.newSubject() },
    ]) {
      const [reason] = await simulate([{ ...item, ...change }]);
      assert.equal(reason, errorSelector('Error(string)'), JSON.stringify(Object.keys(change)));
    }
  });

  it('fail alone, and leave the money with their payers', async () => {
    const [first, listed, poor, last] = [
      await authorized(),
      await authorized(),
      await authorized(),
      await authorized(),
    ];
    await chain.callToken(USDC, 'blacklist', [listed.recipient]);
    await chain.callToken(USDC, 'transfer', [FEE_ACCOUNT, 995_000_000n], poor.payer).catch(async () => {
      await chain.rpc('hardhat_setBalance', [poor.payer, '0xde0b6b3a7640000']);
      await chain.callToken(USDC, 'transfer', [FEE_ACCOUNT, 995_000_000n], poor.payer);
    });
    const wrong = { ...(await authorized()), signature: first.signature };
    const items = [first, listed, poor, wrong, last];
    const [error, payout] = [errorSelector('Error(string)'), errorSelector('PayoutFailed(bytes)')];
    assert.deepEqual(await simulate(items), [undefined, payout, error, error, undefined]);
    const { logs } = await scene.sweepAuthorized(items);
    assert.deepEqual(
      logs.map(({ commitment }) => commitment),
      [depositCommitment(first), depositCommitment(last)],
    );
    assert.equal(await usdc(listed.payer), 1_000_000_000n);
    // The authorization is not used up, so the same one is good later.
    await chain.callToken(USDC, 'unBlacklist', [listed.recipient]);
    assert.equal((await scene.sweepAuthorized([listed])).logs.length, 1);
  });

  it('revert as a whole with too little gas, and torn', async () => {
    const item = await authorized();
    assert.equal((await scene.sweepAuthorized([item], 'deposit-vrs', 250_000)).status, 'reverted');
    const data = encodeAuthorizedSweep({ kind: 'deposit-bytes', items: [item] });
    for (const torn of [data.slice(0, -2), data.slice(0, -140), `${data}00`]) {
      assert.equal((await chain.send({ to: DEPOSITS_ADDRESS, data: torn as Hex })).status, 'reverted');
    }
    assert.equal(await usdc(item.payer), 1_000_000_000n);
  });

  it('are carried out by their contract alone', async () => {
    const item = await authorized();
    await scene.sweepAuthorized([item]);
    const next = await authorized({ ...item });
    const whole = encodeAuthorizedSweep({ kind: 'deposit-vrs', items: [next] });
    const authorization = `0x${whole.slice(2 + 200 + 2 * 84)}`;
    const order = {
      ...{ askedToken: USDC, feeAccount: FEE_ACCOUNT, subject: next.subject, recipient: next.recipient },
      ...{ asked: next.amount, askedFee: next.fee, commitment: depositCommitment(next), token: USDC, kind: 1 },
    };
    const data = encodeFunctionData({ abi: deposits.abi, functionName: 'carryOut', args: [order, authorization] });
    for (const to of [DEPOSITS_ADDRESS, depositAddress(item)]) {
      await assert.rejects(chain.call(to, data), { data: errorSelector('NotForYou()') });
    }
    assert.equal((await chain.send({ to: depositAddress(item), data: whole })).status, 'reverted');
  });

  it('fit as many into a transaction as the gas of the worst case allows', () => {
    assert.ok(authorizedGasLimit('deposit-vrs', maxAuthorizedItems()) <= 2 ** 24);
    assert.ok(maxAuthorizedItems() >= 40);
  });

  it('need less gas than their allowance, for accounts that are new to the token', async () => {
    const { gasUsed } = await scene.sweepAuthorized([await authorized({ feeAccount: chain.someone().address })]);
    assert.ok(gasUsed < 260_000, `${gasUsed}`);
  });

  describe('of awkward tokens', () => {
    let token: Address;
    let setQuirk: AwkwardToken['setQuirk'];
    let setReentry: AwkwardToken['setReentry'];
    before(async () => {
      ({ token, setQuirk, setReentry } = await deployAwkwardToken(chain));
    });

    /** The token takes any signature. */
    async function awkward(quirk: Quirk = 'None'): Promise<Authorized> {
      const terms = scene.terms({ token });
      const payer = chain.someone().address;
      await chain.callToken(token, 'mint', [payer, terms.amount]);
      await setQuirk(payer, quirk);
      const rest = { validAfter: 0, validBefore: DEADLINE, nonce: keccak256(payer) };
      return { ...terms, payer, ...rest, signature: `0x${'11'.repeat(64)}1b` };
    }

    for (const [quirk, reason] of [
      ['TakesFee', errorSelector('ShortArrival()')],
      ['MovesNothing', errorSelector('ShortArrival()')],
      ['Reverts', undefined],
      ['RevertsWithMegabyte', undefined],
      ['BurnsGas', errorSelector('OutOfGas()')],
      ['Reenters', undefined],
    ] as const) {
      it(`stay with their payers where the transfer ${quirk}`, async () => {
        const inner = await awkward();
        if (quirk === 'Reenters') {
          await scene.arrive(inner);
          await setReentry(encodeSweep({ token, items: [inner] }));
        }
        const items = [await awkward(), await awkward(quirk), await awkward()];
        const reasons = await simulate(items);
        assert.deepEqual([reasons[0], reasons[2]], [undefined, undefined]);
        assert.ok(reasons[1] !== undefined);
        if (reason !== undefined) assert.equal(reasons[1], reason);
        const { status, logs } = await scene.sweepAuthorized(items);
        assert.deepEqual([status, logs.length], ['success', 2]);
        const bad = items[1] as Authorized;
        assert.equal(await chain.balanceOf(token, bad.payer), bad.amount);
        assert.equal(await chain.balanceOf(token, depositAddress(bad)), 0n);
      });
    }
  });
});
