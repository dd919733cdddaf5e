import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { firstPayoutOf } from '../../src/domain/money/money-out.ts';
import { listAlerts } from '../../src/store/plumbing/alerts.ts';
import { type FaultScene, openFaultScene } from '../faults/fault-scene.ts';
import { AMOUNT, type SignedPayment, tokenOf, USDC, WITHIN } from '../faults/shopper.ts';
import type { RpcProxy } from '../rpc-proxy.ts';
import { until } from '../until.ts';
import { aheadBy, denyingUse, forging, hiding, lieWith } from './liar.ts';

const DEPTH = 3;
const MINUTE_MS = 60_000;

type Item = Awaited<ReturnType<typeof itemOf>>;

/** The item of a payment as it is stored. */
async function itemOf(scene: FaultScene, subject: string) {
  const [item] = await scene.sql<
    {
      commitment: string;
      subject: string;
      payer: string;
      asset: string;
      amount: string;
      fee: string;
      recipient: string;
      feeAccount: string;
      seal: string | null;
      state: string;
      deadline: Date;
    }[]
  >`select commitment, subject, seal, payer, asset, amount::text, fee::text, recipient, fee_account as "feeAccount",
      state, deadline
    from items
    where subject = ${subject} order by accepted_at desc limit 1`;
  assert.ok(item);
  return item;
}

const forgedFor = ({ asset, ...item }: Item) => ({ ...item, token: tokenOf(asset) });

/** Somebody is told who says what. */
async function isDisputed(scene: FaultScene, ...patterns: readonly RegExp[]): Promise<void> {
  await until(
    'the operator is told',
    async () => {
      const alerts = await listAlerts(scene.sql);
      const { message = '' } = alerts.find(({ name }) => name === 'endpoints_disagree') ?? {};
      return patterns.every((pattern) => pattern.test(message));
    },
    WITHIN,
  );
}

async function isWell(scene: FaultScene): Promise<void> {
  let left: string[] = [];
  const isNoneLeft = async () => {
    left = await scene.alerts();
    return left.length === 0;
  };
  await until('no alert is left', isNoneLeft, WITHIN).catch((cause: unknown) => {
    throw new Error(`Alerts are left: ${left.join(', ')}.`, { cause });
  });
}

/** Both endpoints are asked many times over: whatever a lie leads to has happened by then. */
async function isAskedAgain({ proxies, chain }: FaultScene): Promise<void> {
  const before = proxies.map(({ calls }) => calls.length);
  await until(
    'the endpoints are asked',
    async () => {
      await chain.mine();
      return proxies.every(({ calls }, index) => calls.length > (before[index] ?? 0) + 30);
    },
    WITHIN,
  );
}

describe('one lying endpoint of two', () => {
  let scene: FaultScene;
  let liar: RpcProxy;
  before(async () => {
    scene = await openFaultScene({ endpoints: 2, depth: DEPTH, payers: 10, paysOut: true });
    [liar] = scene.proxies as [RpcProxy];
  });
  afterEach(() => scene.answerTruthfully());
  after(() => scene.close());

  /** A payment that no block holds, because nobody takes its transaction. */
  async function unsent(): Promise<SignedPayment> {
    for (const proxy of scene.proxies) {
      proxy.lie({ as: 'status', status: 503, isForwarded: false }, { methods: ['eth_sendRawTransaction'] });
    }
    const payment = await scene.shopper.pay();
    await until('it is signed', async () => (await scene.versionsOf(payment.id)).length > 0, WITHIN);
    return payment;
  }

  it('forges no success: the event must be in the receipt that the honest endpoint has', async () => {
    const payment = await unsent();
    const forge = await forging(scene.chain, forgedFor(await itemOf(scene, payment.id)));
    lieWith(liar, forge);
    await until('the forged event is read', async () => (await scene.sql`select from chain_events`).length > 0, WITHIN);
    await isAskedAgain(scene);
    assert.equal(await scene.shopper.status(payment), 'processing');
    assert.equal(await scene.shopper.charged(payment), 0n);
    await isDisputed(
      scene,
      /endpoint 1 says its receipt shows the payment/,
      /endpoint 2 says it has the block, and the payment is not in it/,
    );

    scene.answerTruthfully();
    await scene.shopper.reaches(payment, 'succeeded');
    await scene.shopper.isPaidOnce(payment);
    await isWell(scene);
  });

  it('cannot hide a payment: a paid one neither fails nor expires, and succeeds when the lies stop', async () => {
    const payment = await scene.shopper.pay();
    const { commitment, deadline } = await itemOf(scene, payment.id);
    lieWith(liar, hiding(commitment));
    await until('it waits for a block', async () => (await scene.chain.pendingOf(scene.relayer)) > 0, WITHIN);
    await scene.chain.mine(DEPTH);
    await scene.chain.request('evm_setNextBlockTimestamp', deadline.getTime() / 1_000 + 60);
    scene.node.pass(deadline.getTime() - scene.node.nowMs() + 120_000);
    await isAskedAgain(scene);
    assert.equal(await scene.shopper.charged(payment), AMOUNT);
    assert.equal(await scene.shopper.status(payment), 'processing');
    await isDisputed(scene, /endpoint 1 says it has the block, and the payment is not in it/);

    lieWith(liar, denyingUse);
    await isAskedAgain(scene);
    assert.equal(await scene.shopper.status(payment), 'processing');
    scene.answerTruthfully();
    await scene.shopper.reaches(payment, 'succeeded');
    await scene.shopper.isPaidOnce(payment);
  });

  it('does not have a payout sent twice by calling its authorization unused', async () => {
    const payment = await scene.shopper.pay({ isHeld: true });
    await scene.shopper.reaches(payment, 'succeeded');
    const [lot] = await scene.sql<{ id: string }[]>`select id from lots where payment_id = ${payment.id}`;
    const payout = firstPayoutOf(lot?.id ?? '');
    await scene.shopper.register(payment.merchant, USDC);
    await until(
      'it is signed',
      async () => (await scene.sql`select from items where subject = ${payout}`).length > 0,
      WITHIN,
    );
    const { commitment, deadline } = await itemOf(scene, payout);
    lieWith(liar, hiding(commitment), denyingUse);
    const received = () => scene.chain.balanceOf(tokenOf(USDC), payment.merchant.recipient);
    await until(
      'it has arrived',
      async () => {
        await scene.chain.mine();
        return (await received()) === AMOUNT;
      },
      WITHIN,
    );
    await scene.chain.request('evm_setNextBlockTimestamp', deadline.getTime() / 1_000 + 60);
    await scene.chain.mine();
    // Every attempt after the first begins within hours.
    scene.node.pass(deadline.getTime() - scene.node.nowMs() + 6 * 60 * MINUTE_MS);
    await isAskedAgain(scene);
    await isDisputed(scene, /endpoint 1 says/);
    assert.equal(
      (await scene.sql`select from items where subject = ${payout}`).length,
      1,
      'no second attempt was signed',
    );
    scene.answerTruthfully();
    await until(
      'it is known to have arrived',
      async () => {
        await scene.chain.mine();
        return (await itemOf(scene, payout)).state === 'paid';
      },
      WITHIN,
    );
    assert.equal(await received(), AMOUNT);
  });

  it('makes no block final by claiming a longer chain', async () => {
    const payment = await scene.shopper.pay();
    await until('it waits for a block', async () => (await scene.chain.pendingOf(scene.relayer)) > 0, WITHIN);
    await scene.chain.mine();
    lieWith(liar, await aheadBy(scene.chain, 60));
    const asked = scene.proxies.map(({ calls }) => calls.length);
    await until(
      'both are asked',
      () => scene.proxies.every(({ calls }, index) => calls.length > (asked[index] ?? 0) + 30),
      WITHIN,
    );
    assert.equal(await scene.shopper.charged(payment), AMOUNT);
    assert.equal(
      await scene.shopper.status(payment),
      'processing',
      'one block deep by the word of the honest endpoint',
    );
    // While the two disagree about blocks, the payment may wait. When they agree, it is deep enough.
    await scene.chain.mine(40);
    scene.answerTruthfully();
    await until('it is final', async () => (await scene.shopper.status(payment)) === 'succeeded', WITHIN);
    await scene.shopper.isPaidOnce(payment);
  });
});

describe('one lying endpoint of three', () => {
  let scene: FaultScene;
  before(async () => {
    scene = await openFaultScene({ endpoints: 3, depth: DEPTH, payers: 4 });
  });
  afterEach(() => scene.answerTruthfully());
  after(() => scene.close());

  it('delays no payment: payments succeed by the other two', async () => {
    const payment = await scene.shopper.pay();
    const { commitment } = await itemOf(scene, payment.id);
    lieWith(scene.proxy, hiding(commitment), denyingUse);
    await scene.shopper.reaches(payment, 'succeeded');
    await scene.shopper.isPaidOnce(payment);
  });
});

describe('one silent endpoint of two', () => {
  let scene: FaultScene;
  before(async () => {
    scene = await openFaultScene({ endpoints: 2, depth: DEPTH, payers: 4, finality: { loneCeiling: 10n } });
  });
  afterEach(() => scene.answerTruthfully());
  after(() => scene.close());

  /** The second endpoint breaks every connection, and the node has noticed. */
  async function goSilent(): Promise<void> {
    const [, silent] = scene.proxies as [RpcProxy, RpcProxy];
    silent.lie({ as: 'drop', isForwarded: false });
    const health = () => scene.node.chains.find(scene.network)?.chain.health();
    await until(
      'it is left alone',
      async () => {
        await scene.chain.mine();
        return health()?.endpointsUp === 1;
      },
      WITHIN,
    );
  }

  const isAlone = () =>
    until(
      'one is believed alone',
      async () => (await scene.alerts()).includes(`endpoint_alone ${scene.network}`),
      WITHIN,
    );

  it('is waited for; then small payments succeed at triple depth, and large ones wait until it is back', async () => {
    const small = await scene.shopper.pay();
    const large = await scene.shopper.pay({ price: '2000' });
    await goSilent();
    const isSent = async ({ id }: SignedPayment) => (await scene.item(id))?.state === 'sent';
    await until('both are sent', async () => (await isSent(small)) && (await isSent(large)), WITHIN);
    await until(
      'a block holds them',
      async () => {
        await scene.chain.mine();
        return (await scene.shopper.charged(small)) > 0n && (await scene.shopper.charged(large)) > 0n;
      },
      WITHIN,
    );
    const isRead = () =>
      until(
        'the chain is read to its head',
        async () => {
          const [cursor] = await scene.sql<{ block: number }[]>`select block_number::int as block from chain_cursors`;
          return cursor?.block === (await scene.chain.height());
        },
        WITHIN,
      );
    await scene.chain.mine(3 * DEPTH);
    await isRead();
    assert.equal(await scene.shopper.status(small), 'processing', 'five minutes are not over');

    scene.node.pass(6 * MINUTE_MS);
    await until('the small one has succeeded', async () => (await scene.shopper.status(small)) === 'succeeded', WITHIN);
    await scene.shopper.isPaidOnce(small);
    await isAlone();
    await scene.chain.mine(3 * DEPTH);
    await isRead();
    assert.equal(await scene.shopper.status(large), 'processing');

    scene.answerTruthfully();
    await scene.shopper.reaches(large, 'succeeded');
    await scene.shopper.isPaidOnce(large);
    await isWell(scene);
  });

  it('makes a small payment wait for triple depth', async () => {
    await goSilent();
    const payment = await scene.shopper.pay();
    await until('it waits for a block', async () => (await scene.chain.pendingOf(scene.relayer)) > 0, WITHIN);
    await scene.chain.mine(3 * DEPTH - 1);
    scene.node.pass(6 * MINUTE_MS);
    await isAlone();
    const asked = scene.proxy.calls.length;
    await until('it is asked', () => scene.proxy.calls.length > asked + 20, WITHIN);
    assert.equal(await scene.shopper.status(payment), 'processing');
    await scene.chain.mine();
    await until('it has succeeded', async () => (await scene.shopper.status(payment)) === 'succeeded', WITHIN);
  });
});
