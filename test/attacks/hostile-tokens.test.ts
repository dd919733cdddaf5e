import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { encodeFunctionData, type Hex, parseAbi } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { SANDBOX_KEYS } from '../../src/sandbox/genesis.ts';
import { FUNDS } from '../faults/fault-chain.ts';
import { EURC, type SignedPayment, tokenOf, USDC, WITHIN } from '../faults/shopper.ts';
import { ONLY_LONG, onlyLongIf } from '../long.ts';
import { until } from '../until.ts';
import { type HostileScene, openHostileScene, type TokenTrick } from './hostile-scene.ts';

const ISSUER_ABI = parseAbi([
  'function pause()',
  'function unpause()',
  'function blacklist(address)',
  'function unBlacklist(address)',
  'function transfer(address, uint256)',
]);
/** A transaction with one item of a plain account may use this much gas. */
const GAS_PER_TRANSACTION = 300_000n;
const MINUTE_MS = 60_000;
const ISSUER = privateKeyToAccount(SANDBOX_KEYS.minter);

/** A change that takes effect before the relayer's transaction, and the way back. */
interface Change {
  readonly act: () => Promise<unknown>;
  readonly undo: () => Promise<unknown>;
}

/** Every change comes after the simulation and before the transaction. */
describe('tokens and payers that change between simulation and block', () => {
  let scene: HostileScene;
  let change: Change | undefined;
  before(async () => {
    scene = await openHostileScene();
  });
  afterEach(async () => {
    await change?.undo();
    change = undefined;
    await scene.chain.mine();
  });
  after(() => scene.close());

  const byIssuer = (data: Hex) => scene.chain.send(ISSUER, { to: tokenOf(USDC), data });
  const call = (functionName: 'pause' | 'unpause') => encodeFunctionData({ abi: ISSUER_ABI, functionName });
  const naming = (functionName: 'blacklist' | 'unBlacklist', account: Hex) =>
    encodeFunctionData({ abi: ISSUER_ABI, functionName, args: [account] });

  /** A payment that was simulated and signed for. Its transaction reaches the chain after the change. */
  async function overtaken(begin: (payment: SignedPayment) => Change): Promise<SignedPayment> {
    scene.proxy.lie({ as: 'drop', isForwarded: false }, { methods: ['eth_sendRawTransaction'] });
    const payment = await scene.shopper.pay();
    await until('it is signed', async () => (await scene.versionsOf(payment.id)).length > 0, WITHIN);
    change = begin(payment);
    await change.act();
    await scene.chain.mine();
    scene.answerTruthfully();
    return payment;
  }

  /** The payment waits, costs little, delays nobody, and lapses. */
  async function isHarmless(payment: SignedPayment): Promise<void> {
    await scene.honestIsPaid(EURC);
    await scene.live(40_000);
    assert.equal(await scene.shopper.status(payment), 'processing');
    const { transactions, gas } = await scene.costOf(payment);
    assert.ok(transactions <= 3, `${transactions} transactions`);
    assert.ok(gas > 0n && gas <= BigInt(transactions) * GAS_PER_TRANSACTION, `${gas} gas`);
    await scene.lapses(payment);
  }

  for (const trick of ['TakesFee', 'BurnsGas', 'Reenters', 'RevertsWithKilobytes'] as const satisfies TokenTrick[]) {
    it(`a token that is upgraded (${trick}) moves nothing, and its payment waits`, {
      ...onlyLongIf(trick !== 'Reenters'),
    }, async () => {
      const upgrade = await scene.prepareUpgrade(USDC, trick);
      const payment = await overtaken(() => upgrade);
      await isHarmless(payment);
      assert.equal(await scene.shopper.charged(payment), 0n);
    });
  }

  it('a token that is paused moves nothing, and its payment waits', ONLY_LONG, async () => {
    const payment = await overtaken(() => ({
      act: () => byIssuer(call('pause')),
      undo: () => byIssuer(call('unpause')),
    }));
    await isHarmless(payment);
    assert.equal(await scene.shopper.charged(payment), 0n);
  });

  const blacklisting = ({ payer }: SignedPayment): Change => ({
    act: () => byIssuer(naming('blacklist', payer.address)),
    undo: () => byIssuer(naming('unBlacklist', payer.address)),
  });

  it('a payer that is blacklisted keeps the money, and the payment waits', ONLY_LONG, async () => {
    const payment = await overtaken(blacklisting);
    await isHarmless(payment);
    assert.equal(await scene.shopper.charged(payment), 0n);
  });

  it('a payer that empties the account is not charged, and the payment waits', ONLY_LONG, async () => {
    const away = scene.chain.newPayer().address;
    const data = encodeFunctionData({ abi: ISSUER_ABI, functionName: 'transfer', args: [away, FUNDS] });
    const payment = await overtaken(({ payer }) => ({
      act: () => scene.chain.send(payer, { to: tokenOf(USDC), data }),
      undo: async () => {},
    }));
    await isHarmless(payment);
    assert.equal(await scene.chain.balanceOf(tokenOf(USDC), away), FUNDS * 2n);
  });

  it('a payment that failed on the chain is made once the cause is over', async () => {
    const payment = await overtaken(blacklisting);
    await until(
      'it has failed on the chain',
      async () => {
        await scene.chain.mine();
        return (await scene.sql`select from items where subject = ${payment.id} and failures = 1`).length === 1;
      },
      WITHIN,
    );
    await change?.undo();
    change = undefined;
    scene.node.pass(MINUTE_MS);
    await scene.shopper.reaches(payment, 'succeeded');
    await scene.shopper.isPaidOnce(payment);
  });
});
