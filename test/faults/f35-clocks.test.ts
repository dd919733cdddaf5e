import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { until } from '../until.ts';
import { type FaultScene, openFaultScene } from './fault-scene.ts';
import { WITHIN } from './shopper.ts';

const HOUR_MS = 60 * 60_000;

describe('clocks that are wrong', () => {
  let scene: FaultScene;
  before(async () => {
    scene = await openFaultScene({ payers: 8 });
  });
  after(() => scene.close());

  const isWaiting = () =>
    until('it waits for a block', async () => (await scene.chain.pendingOf(scene.relayer)) > 0, WITHIN);

  it('F35: a node an hour ahead of the chain takes payments, and calls none of them late', async () => {
    scene.node.pass(HOUR_MS);
    const payment = await scene.shopper.pay();
    await isWaiting();
    // By the node's clock its time is over; by the chain's it is not.
    scene.node.pass(2 * HOUR_MS);
    assert.equal(await scene.shopper.status(payment), 'processing');
    await scene.shopper.reaches(payment, 'succeeded');
    await scene.shopper.isPaidOnce(payment);
    scene.node.pass(-3 * HOUR_MS);
  });

  it('F35: a clock that is set back an hour does not delay the resend of a lost transaction', async () => {
    const payment = await scene.shopper.pay();
    await isWaiting();
    const [version] = await scene.versionsOf(payment.id);
    scene.node.pass(-HOUR_MS);
    await scene.chain.request('hardhat_dropTransaction', version?.hash);
    assert.equal(await scene.chain.pendingOf(scene.relayer), 0);
    await isWaiting();
    await scene.shopper.reaches(payment, 'succeeded');
    await scene.shopper.isPaidOnce(payment);
    scene.node.pass(HOUR_MS);
  });

  it('F35: a node an hour behind the chain sends no item that the chain refuses as late', async () => {
    scene.node.pass(-HOUR_MS);
    const payment = await scene.shopper.pay();
    await scene.chain.mine(3);
    assert.equal(await scene.shopper.charged(payment), 0n);
    scene.node.pass(HOUR_MS);
    await scene.shopper.reaches(payment, 'expired');
    await scene.shopper.isUnpaid(payment, 'expired');
    assert.deepEqual(await scene.versionsOf(payment.id), []);
  });

  it('F35: a node that led with a clock an hour ahead leaves no lease behind that others wait an hour for', async () => {
    const ahead = await scene.startNode({ clockOffMs: HOUR_MS });
    const isAhead = async () => {
      const rows = await scene.sql`select from leases where until > ${new Date(Date.now() + HOUR_MS / 2)}`;
      return rows.length === 2;
    };
    await until('it leads', isAhead, WITHIN);
    await ahead.stop();
    const payment = await scene.shopper.pay();
    await scene.shopper.reaches(payment, 'succeeded');
    await scene.shopper.isPaidOnce(payment);
  });
});
