import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import type { ChainEvent } from '../../src/chains/chain-reader.ts';
import { idBytes, payoutIdOf } from '../../src/domain/ids.ts';
import { listFreezes } from '../../src/store/parties/freezes.ts';
import { DOLLAR, openRefundScene, type RefundScene } from '../e2e/refund-scene.ts';
import type { TestNode } from '../e2e/relay-scene.ts';

describe('an event that claims to have taken money from an account of ours', () => {
  let scene: RefundScene;
  let node: TestNode;
  async function open(witnesses: number) {
    scene = await openRefundScene({ witnesses });
    node = await scene.newNode();
  }
  afterEach(() => scene.close());

  const freezes = async () => (await listFreezes(scene.db.sql)).map(({ scope }) => scope);

  /** The report of the payout of a held payment, which nobody has sent, as one endpoint makes it up. */
  async function forgedPayout(id: string, recipient: string): Promise<ChainEvent> {
    const { number, hash } = await scene.chain.reader.head();
    const collector = scene.chain.payerSide.collector();
    assert.ok(collector);
    return {
      type: 'paid',
      block: { number, hash },
      transactionHash: `0x${'f0'.repeat(32)}`,
      logIndex: 0,
      collector,
      commitment: `0x${'f1'.repeat(32)}`,
      subject: Buffer.from(idBytes(payoutIdOf(id))).toString('hex'),
      payer: scene.intermediate,
      asset: DOLLAR,
      amount: 990n,
      fee: 0n,
      recipient,
    };
  }

  it('is forgotten when one endpoint alone made it up: nothing is frozen, and the payout is sent', async () => {
    await open(3);
    const destination = scene.payers.newAccount();
    const { id } = await scene.paid(node, { isHeld: true });
    const forged = await forgedPayout(id, destination);
    scene.control.lie({ inventedEvents: [forged] });
    scene.control.testify(0, { invented: [forged] });
    scene.control.mine();
    await node.watch();
    assert.deepEqual(await freezes(), []);
    assert.deepEqual(
      [...(await scene.db.sql`select from chain_events where transaction_hash = ${forged.transactionHash}`)],
      [],
    );
    scene.control.beHonest();
    scene.control.testify(0);
    await scene.register(destination);
    await scene.live(node);
    assert.equal((await scene.payout(id))?.state, 'paid');
    assert.equal(scene.control.balanceOf(destination, DOLLAR), 990n, 'paid on the chain, and not by a lie');
  });

  it('waits while one of two endpoints shows it, with an alert that names who said what', async () => {
    await open(2);
    const destination = scene.payers.newAccount();
    const { id } = await scene.paid(node, { isHeld: true });
    const forged = await forgedPayout(id, destination);
    scene.control.lie({ inventedEvents: [forged] });
    scene.control.testify(0, { invented: [forged] });
    scene.control.mine();
    await node.watch();
    await scene.register(destination);
    await scene.live(node);
    assert.deepEqual(await freezes(), []);
    assert.notEqual((await scene.payout(id))?.state, 'paid');
    assert.match((await scene.alertText('endpoints_disagree')) ?? '', /endpoint 1 says its receipt shows the payment/);
    scene.control.beHonest();
    scene.control.testify(0);
    await scene.live(node);
    assert.equal(scene.control.balanceOf(destination, DOLLAR), 990n);
  });

  it('proves nothing without the transfer of the token itself', async () => {
    await open(2);
    const destination = scene.payers.newAccount();
    const { id, item } = await scene.paid(node, { isHeld: true });
    scene.control.emitLookAlike({ ...item, payer: scene.intermediate, subject: payoutIdOf(id) });
    scene.control.mine();
    await node.watch();
    assert.deepEqual(await freezes(), []);
    await scene.register(destination);
    await scene.live(node);
    assert.equal(scene.control.balanceOf(destination, DOLLAR), 990n);
  });

  it('proves nothing by an amount of zero, which anybody may transfer from any account', async () => {
    await open(2);
    const destination = scene.payers.newAccount();
    const { id, item } = await scene.paid(node, { isHeld: true });
    const terms = { payer: scene.intermediate, amount: 0n, fee: 0n };
    const transactionHash = scene.control.emitLookAlike({ ...item, ...terms, subject: payoutIdOf(id) });
    scene.control.mine();
    const { number, hash } = await scene.chain.reader.head();
    const place = { block: { number, hash }, transactionHash, logIndex: 7, asset: DOLLAR };
    const nothing = { ...place, from: scene.intermediate, to: item.collector, amount: 0n };
    for (const endpoint of [0, 1]) scene.control.testify(endpoint, { inventedTransfers: [nothing] });
    await node.watch();
    assert.deepEqual(await freezes(), []);
    const [event] = await scene.db.sql`
      select decided_at is not null as decided from chain_events where transaction_hash = ${transactionHash}`;
    assert.deepEqual(event, { decided: true });
    await scene.register(destination);
    await scene.live(node);
    assert.equal(scene.control.balanceOf(destination, DOLLAR), 990n);
  });
});
