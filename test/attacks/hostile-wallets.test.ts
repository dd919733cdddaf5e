import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { encodeDeployData, type Hex } from 'viem';
import hostileWallet from '../../contracts/artifacts/HostileWallet.json' with { type: 'json' };
import { EURC, type SignedPayment, USDC, WITHIN } from '../faults/shopper.ts';
import { onlyLongIf } from '../long.ts';
import { until } from '../until.ts';
import { type HostileScene, openHostileScene, walletAt } from './hostile-scene.ts';

/** A transaction with one item of an account with code may use this much gas. */
const GAS_PER_TRANSACTION = 600_000n;
const MAX_TRANSACTIONS = 3;
const MINUTE_MS = 60_000;

describe('hostile wallets', () => {
  let scene: HostileScene;
  before(async () => {
    scene = await openHostileScene();
  });
  afterEach(() => scene.release());
  after(() => scene.close());

  type Wallet = Awaited<ReturnType<HostileScene['newWallet']>>;

  const isBounded = async (payment: Pick<SignedPayment, 'id'>) => {
    const { transactions, gas } = await scene.costOf(payment);
    assert.ok(transactions <= MAX_TRANSACTIONS, `${transactions} transactions`);
    assert.ok(gas <= BigInt(transactions) * GAS_PER_TRANSACTION, `${gas} gas`);
  };

  const confirmed = async (payment: SignedPayment) => {
    const response = await payment.confirm();
    assert.deepEqual([response.statusCode, response.json().status], [200, 'processing'], response.body);
  };

  for (const simulationSign of ['GasPrice', 'Origin'] as const) {
    it(`a gas burner that recognises a simulation by its ${simulationSign} is refused at confirm`, async () => {
      const wallet = await scene.newWallet();
      const payment = await scene.shopper.sign({ asset: EURC, payer: wallet.payer });
      await wallet.play('BurnsGas', simulationSign);
      const response = await payment.confirm();
      assert.deepEqual([response.statusCode, response.json().code], [400, 'invalid_state']);
      assert.deepEqual(await scene.versionsOf(payment.id), []);
    });

    it(`a gas burner that is armed after confirm, and recognises a simulation by its ${simulationSign}, is never sent`, {
      ...onlyLongIf(simulationSign !== 'GasPrice'),
    }, async () => {
      const wallet = await scene.newWallet();
      scene.hold();
      const payment = await scene.shopper.sign({ asset: EURC, payer: wallet.payer });
      await confirmed(payment);
      await wallet.play('BurnsGas', simulationSign);
      scene.release();
      await until(
        'a simulation refuses it',
        async () => (await scene.item(payment.id))?.refusal === 'out_of_gas',
        WITHIN,
      );
      await scene.honestIsPaid(EURC);
      assert.equal(await scene.shopper.status(payment), 'processing');
      assert.deepEqual(await scene.versionsOf(payment.id), []);
      await scene.lapses(payment);
    });
  }

  for (const trick of ['BurnsGas', 'AnswersNo', 'RevertsWithKilobytes', 'AnswersKilobytes'] as const) {
    it(`a wallet that no simulation gives away (${trick}) costs three transactions at most, and delays nobody`, {
      ...onlyLongIf(trick !== 'BurnsGas'),
    }, async () => {
      const wallet = await scene.newWallet();
      const payment = await scene.shopper.sign({ asset: EURC, payer: wallet.payer });
      await wallet.play(trick, 'Block');
      await confirmed(payment);
      await scene.live(6_000, wallet.note);
      await scene.honestIsPaid(EURC);
      await scene.live(MINUTE_MS, wallet.note);
      assert.equal(await scene.shopper.status(payment), 'processing');
      assert.ok((await scene.costOf(payment)).transactions > 1, 'it was tried again');
      await isBounded(payment);
      await scene.lapses(payment);
    });
  }

  it('a key that lends itself hostile code (EIP-7702) after it has signed costs three transactions at most', async () => {
    const deployer = scene.chain.newPayer();
    const args = [deployer.address];
    const code = await scene.deploy(deployer, encodeDeployData({ ...hostileWallet, args } as never));
    scene.hold();
    const payment = await scene.shopper.pay({ asset: USDC });
    const { payer } = payment;
    const { chain } = scene;
    const nonce = Number(await chain.request('eth_getTransactionCount', payer.address, 'latest'));
    const authorization = await payer.signAuthorization({ address: code, chainId: chain.chainId, nonce: nonce + 1 });
    const raw = await payer.signTransaction({
      type: 'eip7702',
      chainId: chain.chainId,
      nonce,
      to: payer.address,
      gas: 200_000n,
      maxFeePerGas: 500_000_000_000n,
      maxPriorityFeePerGas: 2_000_000_000n,
      authorizationList: [authorization],
    });
    await chain.request('eth_sendRawTransaction', raw);
    await chain.mine();
    assert.match(await chain.request('eth_getCode', payer.address, 'latest'), /^0xef0100/);
    const wallet: Wallet = walletAt(chain, payer, payer.address as Hex);
    await wallet.play('BurnsGas', 'Block');
    scene.release();
    await scene.live(6_000, wallet.note);
    await scene.honestIsPaid(USDC);
    await scene.live(MINUTE_MS / 2, wallet.note);
    assert.equal(await scene.shopper.status(payment), 'processing');
    await isBounded(payment);
    await scene.lapses(payment);
  });

  it('many payments of one wallet have few places, burn little, and delay nobody', async () => {
    const wallet = await scene.newWallet();
    const sign = () => scene.shopper.sign({ asset: EURC, payer: wallet.payer });
    const payments: SignedPayment[] = [];
    // A few at a time: a busy machine answers thirty questions at once too late, each time they are asked again.
    while (payments.length < 30) payments.push(...(await Promise.all(Array.from({ length: 5 }, sign))));
    await wallet.play('BurnsGas', 'Block');
    const answers = await Promise.all(payments.map((payment) => payment.confirm()));
    const accepted = payments.filter((_, index) => answers[index]?.statusCode === 200);
    const refused = answers.filter(({ statusCode }) => statusCode === 429);
    assert.equal(accepted.length, 20);
    assert.equal(refused.length, 10);
    assert.equal(refused[0]?.json().code, 'rate_limited');
    assert.match(refused[0]?.json().message, /too many payments under way/);
    assert.ok(Number(refused[0]?.headers['retry-after']) > 0);
    const other = (await scene.shopper.create({ asset: EURC })).id;
    const options = () => scene.shopper.wallet.options(other, [`${scene.network}:${wallet.address}`]);
    let offered = await options();
    // A busy chain may not answer in time.
    await until('the options are answered', async () => {
      if (offered.statusCode === 503) offered = await options();
      return offered.statusCode !== 503;
    });
    assert.deepEqual([offered.statusCode, offered.json().code], [429, 'rate_limited'], 'before anything is signed');

    await scene.live(4_000, wallet.note);
    await scene.honestIsPaid(EURC);
    await scene.live(MINUTE_MS, wallet.note);
    const costs = await Promise.all(accepted.map(scene.costOf));
    const transactions = costs.reduce((sum, cost) => sum + cost.transactions, 0);
    const gas = costs.reduce((sum, cost) => sum + cost.gas, 0n);
    assert.ok(transactions >= 2 && transactions <= 12, `${transactions} transactions`);
    assert.ok(gas <= 12n * GAS_PER_TRANSACTION, `${gas} gas`);
    await scene.honestIsPaid(EURC);
    for (const payment of accepted) assert.notEqual(await scene.shopper.status(payment), 'failed');
  });
});
