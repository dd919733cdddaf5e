import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import type { Hex } from 'viem';
import { until } from '../until.ts';
import { type FaultScene, openFaultScene } from './fault-scene.ts';
import { EURC, type SignedPayment, WITHIN } from './shopper.ts';

const SEND = { methods: ['eth_sendRawTransaction'] };
const LOST = { as: 'drop', isForwarded: false } as const;
const GWEI = 1_000_000_000n;
/** Longer than a transaction waits before more is offered for its nonce. */
const LONG_MS = 15_000;

describe('the nonces of a relayer', () => {
  let scene: FaultScene;
  let cap = 1_000n * GWEI;
  before(async () => {
    scene = await openFaultScene({ payers: 30, relaying: { feeCap: () => cap } });
  });
  afterEach(() => scene.answerTruthfully());
  after(() => scene.close());

  const minedNonce = async () => Number(await scene.chain.request('eth_getTransactionCount', scene.relayer, 'latest'));
  const isWaiting = () =>
    until('it waits for a block', async () => (await scene.chain.pendingOf(scene.relayer)) > 0, WITHIN);
  const stored = (payment: SignedPayment) =>
    until('it is stored', async () => (await scene.versionsOf(payment.id)).length > 0, WITHIN);
  async function areAllPaidOnce(payments: readonly SignedPayment[]): Promise<void> {
    for (const payment of payments) await scene.shopper.reaches(payment, 'succeeded');
    for (const payment of payments) await scene.shopper.isPaidOnce(payment);
  }
  /** Every nonce below the chain's is in the journal, and has been mined as one of the transactions stored for it. */
  async function isJournalComplete(): Promise<void> {
    await until(
      'all is final',
      async () => {
        await scene.chain.mine();
        return (await scene.versions()).every(({ state }) => state === 'final');
      },
      WITHIN,
    );
    const nonces = [...new Set((await scene.versions()).map(({ nonce }) => nonce))];
    assert.deepEqual(
      nonces,
      Array.from({ length: await minedNonce() }, (_, nonce) => nonce),
    );
  }
  async function evictAll(): Promise<void> {
    for (const { hash, state } of await scene.versions()) {
      if (state === 'open') await scene.chain.request('hardhat_dropTransaction', hash);
    }
  }

  it('F7: two nodes that take the lease from each other never use a nonce twice, and pay everything once', async () => {
    const other = await scene.startNode();
    const holders = new Set<string>();
    const steal = async () => {
      const rows = await scene.sql<{ holder: string }[]>`
        update leases set until = to_timestamp(0) where name like 'relay%' returning holder`;
      for (const { holder } of rows) holders.add(holder);
    };
    const payments: SignedPayment[] = [];
    for (let made = 0; made < 8; made += 1) {
      payments.push(await scene.shopper.pay({ on: made % 2 === 0 ? scene.node.gateway : other.gateway }));
      await steal();
      await scene.chain.mine();
    }
    await until(
      'both nodes have led',
      async () => {
        await steal();
        return holders.size > 1;
      },
      WITHIN,
    );
    await areAllPaidOnce(payments);
    await isJournalComplete();
    await other.stop();
  });

  it('F8: a nonce whose transaction was never sent is used by the stored bytes, by the next leading node', async () => {
    scene.proxy.lie(LOST, SEND);
    const payment = await scene.shopper.pay();
    await stored(payment);
    const [version] = await scene.versionsOf(payment.id);
    assert.equal(await scene.chain.pendingOf(scene.relayer), 0);
    await scene.sql`update leases set until = to_timestamp(0), holder = 'dead', taken_by = 'lots dead', fencing = fencing + 1`;
    scene.answerTruthfully();
    await areAllPaidOnce([payment]);
    assert.equal((await scene.shopper.view(payment)).info?.txId, version?.hash);
    await isJournalComplete();
  });

  it('F8: a gap that the journal cannot explain is filled, and the items behind it are paid once', async () => {
    scene.proxy.lie(LOST, SEND);
    const early = await scene.shopper.pay();
    await stored(early);
    const late = await scene.shopper.pay({ asset: EURC });
    await stored(late);
    // As after a restore of the database that lost a row.
    const [{ nonce = -1 } = {}] = await scene.versionsOf(early.id);
    await scene.sql`
      with carried as (delete from relay_items where slot = ${nonce}),
        signed as (delete from relay_versions where slot = ${nonce}),
        released as (update items set state = 'due' where subject = ${early.id})
      delete from relay_sends where slot = ${nonce}`;
    scene.answerTruthfully();
    await areAllPaidOnce([early, late]);
    await isJournalComplete();
    const [filled] = await scene.sql<{ kind: string }[]>`select kind from relay_sends where slot = ${nonce}`;
    assert.equal(filled?.kind, 'nothing');
  });

  it('F9: a journal that is ahead of the chain sends its stored bytes again, and takes no nonce back', async () => {
    const payment = await scene.shopper.pay();
    await scene.shopper.reaches(payment, 'succeeded');
    await isJournalComplete();
    const before = await minedNonce();
    const { info } = await scene.shopper.view(payment);
    const receipt = await scene.chain.request<{ blockNumber: Hex }>('eth_getTransactionReceipt', info?.txId);
    await scene.chain.evm.reorg((await scene.chain.height()) - Number(receipt.blockNumber) + 1, 'forgotten');
    assert.equal(await minedNonce(), before - 1);
    const next = await scene.shopper.pay();
    await areAllPaidOnce([payment, next]);
    await isJournalComplete();
    assert.equal((await scene.shopper.view(payment)).info?.txId, info?.txId);
    assert.equal((await scene.versionsOf(next.id))[0]?.nonce, before);
  });

  it('F10: a price above the cap and an evicted transaction delay a payment, and wedge nothing', async () => {
    const waiting = await scene.shopper.pay();
    await isWaiting();
    cap = 20n * GWEI;
    await evictAll();
    await scene.chain.setBaseFee(400n * GWEI);
    await scene.chain.mine();
    assert.equal(await scene.shopper.charged(waiting), 0n);
    const later = await scene.shopper.pay();
    scene.node.pass(LONG_MS);
    const [version] = await scene.versionsOf(waiting.id);
    await until('it is sent again', () => timesSent(version?.bytes) > 1, WITHIN);
    assert.equal((await scene.versionsOf(waiting.id)).length, 1, 'nothing above the cap is offered');
    assert.equal((await scene.item(later.id))?.state, 'due');
    assert.equal(await scene.shopper.status(waiting), 'processing');
    await scene.chain.setBaseFee(GWEI);
    await scene.chain.mine();
    await areAllPaidOnce([waiting, later]);
    await isJournalComplete();
    cap = 1_000n * GWEI;
  });

  it('F10: a transaction that the price has left behind is replaced on its own nonce', async () => {
    const payment = await scene.shopper.pay();
    await isWaiting();
    await scene.chain.setBaseFee(60n * GWEI);
    await scene.chain.mine();
    assert.equal(await scene.shopper.charged(payment), 0n);
    scene.node.pass(LONG_MS);
    await until('more is offered', async () => (await scene.versionsOf(payment.id)).length > 1, WITHIN);
    await areAllPaidOnce([payment]);
    await isJournalComplete();
  });

  it('F11: a node that takes nothing ahead of its turn gets the transactions in their order, again', async () => {
    await scene.chain.request('evm_setAutomine', true);
    const proxiedBefore = scene.broadcasts();
    // The first of two transactions is lost on its way, in every attempt of the first round.
    scene.proxy.lie(LOST, { ...SEND, times: 3 });
    const payments = await Promise.all([scene.shopper.pay(), scene.shopper.pay({ asset: EURC })]);
    await areAllPaidOnce(payments);
    assert.ok(scene.broadcasts() >= proxiedBefore + 4);
    await scene.chain.request('evm_setAutomine', false);
    await isJournalComplete();
  });

  function timesSent(bytes: string | undefined): number {
    return scene.proxy.calls.filter(({ params }) => params?.[0] === bytes).length;
  }
});
