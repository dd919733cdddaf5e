import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { command } from '../../src/actions/command.ts';
import { LeaseLostError } from '../../src/actions/lease.ts';
import { declineItem } from '../../src/actions/paying/decline-item.ts';
import { listRelayers } from '../../src/actions/relay/list-relayers.ts';
import { ChainUnavailableError } from '../../src/chains/chain-errors.ts';
import type { Simulation } from '../../src/chains/sender.ts';
import { checksumAddress } from '../../src/domain/addresses/eip155.ts';
import type { SignedItem } from '../../src/domain/item.ts';
import { insertSend } from '../../src/store/chain/sends.ts';
import { openRelayScene, type RelayScene, type SceneInput } from './relay-scene.ts';

/** More than any version waits before a better offer is made for its nonce. */
const LONG_MS = 30_000;

describe('the relayer', () => {
  let scene: RelayScene;
  const open = async (input: SceneInput = {}) => {
    scene = await openRelayScene(input);
    return scene;
  };
  afterEach(() => scene.close());

  it('pays the due items in one transaction, and the payments succeed', async () => {
    await open();
    const paid = [await scene.accept(), await scene.accept(), await scene.accept()];
    const node = await scene.newNode();
    await node.turn();
    for (const { id } of paid) {
      const payment = await scene.payment(id);
      assert.equal(payment.status, 'succeeded');
      assert.equal(payment.transactionNonce, '0');
    }
    const versions = await scene.versions();
    assert.equal(versions.length, 1);
    assert.equal(versions[0]?.state, 'final');
    assert.equal(scene.control.balanceOf(paid[0]?.item.recipient ?? '', paid[0]?.item.asset ?? ''), 990n);
  });

  it('separates assets and methods, and isolates accounts with code', async () => {
    await open();
    await scene.accept();
    await scene.accept({ method: 'eip3009-bytes' });
    await scene.accept({ method: 'permit2' });
    const codes = [await scene.accept({ hasCode: true }), await scene.accept({ hasCode: true })];
    await scene.accept();
    await (await scene.newNode()).turn();
    assert.equal((await scene.versions()).length, 5);
    for (const { id } of codes) assert.equal(await scene.status(id), 'succeeded');
  });

  it('loses nothing when the answer to a broadcast is lost', async () => {
    await open();
    const { id } = await scene.accept();
    const node = await scene.newNode();
    scene.control.broadcasts('answer_lost');
    await node.relay();
    assert.equal(await scene.status(id), 'processing');
    await node.turn();
    assert.equal(await scene.status(id), 'succeeded');
    assert.equal((await scene.versions()).length, 1);
  });

  it('resends transactions that never arrived, were dropped or were evicted', async () => {
    await open();
    const { id } = await scene.accept();
    const node = await scene.newNode();
    scene.control.broadcasts('lost');
    await node.relay();
    scene.pass(3_000);
    scene.control.broadcasts('forgotten');
    await node.relay();
    scene.pass(3_000);
    await node.relay();
    const [hash = ''] = scene.control.pending();
    scene.control.evict(hash);
    scene.pass(2_000);
    await node.turn();
    assert.equal(await scene.status(id), 'succeeded');
    assert.equal((await scene.payment(id)).transactionHash, hash);
    assert.equal((await scene.versions()).length, 1);
  });

  it('continues after a crash between journal and broadcast with the stored bytes', async () => {
    await open();
    const { id } = await scene.accept();
    const first = await scene.newNode();
    scene.control.intercept((method) => {
      if (method === 'broadcast') throw new Error('The process dies here.');
    });
    await assert.rejects(first.relay());
    scene.control.intercept(undefined);
    const [stored] = await scene.versions();
    await (await scene.newNode()).turn();
    assert.equal((await scene.payment(id)).transactionHash, stored?.hash);
    assert.equal((await scene.versions()).length, 1);
  });

  it('continues after a crash between broadcast and receipt', async () => {
    await open();
    const { id } = await scene.accept();
    await (await scene.newNode()).relay();
    scene.control.mine();
    const second = await scene.newNode();
    await second.relay();
    await second.watch();
    assert.equal(await scene.status(id), 'succeeded');
    assert.equal((await scene.versions()).length, 1);
  });

  it('writes nothing under a lease that was taken over', async () => {
    await open();
    const stale = await scene.newNode();
    const fresh = await scene.newNode();
    const { id } = await scene.accept();
    await assert.rejects(stale.relay(), LeaseLostError);
    assert.deepEqual(await scene.versions(), []);
    await fresh.turn();
    assert.equal(await scene.status(id), 'succeeded');
  });

  it('shares due items among several signers, and sends nothing twice', async () => {
    await open({ relayers: 2 });
    const payments = [];
    for (let made = 0; made < 12; made += 1) payments.push(await scene.accept());
    await (await scene.newNode()).turn();
    for (const { id } of payments) assert.equal(await scene.status(id), 'succeeded');
    const rows = await scene.db.sql<{ signer: string; count: number }[]>`
      select signer, count(*)::int as count from relay_items group by signer`;
    assert.equal(rows.length, 2);
    assert.equal(
      rows.reduce((sum, { count }) => sum + count, 0),
      12,
    );
  });

  it('leaves the items of a stuck signer to the others', async () => {
    await open({ relayers: 2 });
    const payments = [];
    for (let made = 0; made < 6; made += 1) payments.push(await scene.accept());
    const node = await scene.newNode();
    node.relayers.splice(1);
    await node.turn(5);
    for (const { id } of payments) assert.equal(await scene.status(id), 'succeeded');
  });

  it('offers more for the same nonce when it waits too long', async () => {
    await open();
    const { id } = await scene.accept();
    const node = await scene.newNode();
    await node.relay();
    scene.control.spikeGas(3n);
    scene.pass(LONG_MS);
    await node.relay();
    const versions = await scene.versions();
    assert.deepEqual(
      versions.map(({ nonce }) => nonce),
      [0, 0],
    );
    await node.turn();
    assert.equal(await scene.status(id), 'succeeded');
    assert.equal((await scene.payment(id)).transactionHash, versions[1]?.hash);
  });

  it('never wedges on the fee cap: waiting transactions are mined when the price falls', async () => {
    await open({ relaying: { feeCap: () => 5_000_000_000n } });
    const waiting = await scene.accept();
    const node = await scene.newNode();
    await node.relay();
    scene.control.spikeGas(20n);
    const later = await scene.accept();
    const [hash = ''] = scene.control.pending();
    scene.control.evict(hash);
    scene.pass(LONG_MS);
    await node.turn(3);
    assert.equal((await scene.versions()).length, 1);
    assert.equal(await scene.status(waiting.id), 'processing');
    assert.equal((await scene.item(later.commitment))?.state, 'due');
    scene.control.setFees({ base: 1_000_000_000n });
    await node.turn(4);
    assert.equal(await scene.status(waiting.id), 'succeeded');
    assert.equal(await scene.status(later.id), 'succeeded');
  });

  it('outbids a transaction that is not ours and sits on our nonce', async () => {
    await open();
    const [signer] = scene.signers;
    assert.ok(signer);
    const offer = await scene.chain.sender.suggestOffer();
    const other = await scene.chain.sender.signNothing(signer, { slot: 0, offer });
    assert.equal(await scene.chain.sender.broadcast(other.bytes), 'accepted');
    const { id } = await scene.accept();
    const node = await scene.newNode();
    await node.relay();
    await node.turn();
    assert.equal(await scene.status(id), 'succeeded');
  });

  it('sends the items again when their nonce was used by a transaction that is not ours', async () => {
    await open({ depth: 2 });
    const { id } = await scene.accept();
    const node = await scene.newNode();
    scene.control.broadcasts('lost');
    await node.relay();
    const [signer] = scene.signers;
    assert.ok(signer);
    const offer = await scene.chain.sender.suggestOffer();
    await scene.chain.sender.broadcast((await scene.chain.sender.signNothing(signer, { slot: 0, offer })).bytes);
    scene.control.mine();
    await node.turn(8);
    assert.equal(await scene.status(id), 'succeeded');
    assert.deepEqual(
      (await scene.versions()).map(({ nonce, state }) => [nonce, state]),
      [
        [0, 'final'],
        [1, 'final'],
      ],
    );
  });

  it('fills a gap in the nonces, and the transactions behind it are mined', async () => {
    await open();
    const [signer] = scene.signers;
    assert.ok(signer);
    const offer = await scene.chain.sender.suggestOffer();
    const behind = await scene.chain.sender.signNothing(signer, { slot: 1, offer });
    const id = { network: scene.network, signer: signer.address };
    const send = { ...behind, slot: 1, offer, kind: 'nothing', keys: [] } as const;
    await command(scene, (tx, at) => insertSend(tx, id, { ...send, fencing: 1, at }));
    const paid = await scene.accept();
    await (await scene.newNode()).turn(2);
    assert.equal(scene.counts.get('signed fill'), 1);
    assert.equal(await scene.status(paid.id), 'succeeded');
    assert.equal((await scene.payment(paid.id)).transactionNonce, '2');
  });

  it('sends in the order of the nonces to a node that takes nothing ahead of its turn', async () => {
    await open();
    scene.control.setStrictNonces(true);
    const node = await scene.newNode();
    const first = await scene.accept();
    const second = await scene.accept({ method: 'eip3009-bytes' });
    scene.control.broadcasts('lost');
    await node.relay();
    assert.deepEqual(scene.control.pending(), []);
    await node.turn();
    assert.equal(await scene.status(first.id), 'succeeded');
    assert.equal(await scene.status(second.id), 'succeeded');
    assert.equal((await scene.versions()).length, 2);
  });

  it('keeps many transactions in flight, but not without bound', async () => {
    await open();
    // Items with different fee accounts do not share a transaction.
    for (let made = 10; made < 30; made += 1) {
      await scene.accept({ terms: { feeAccount: checksumAddress(`0x${String(made).repeat(20)}`) } });
    }
    const node = await scene.newNode();
    await node.relay();
    await node.relay();
    assert.equal((await scene.versions()).length, 16);
    await node.turn(2);
    assert.equal((await scene.versions()).length, 20);
  });

  it('gathers for a moment while something is in flight', async () => {
    await open();
    const node = await scene.newNode();
    await scene.accept();
    await node.relay();
    await scene.accept();
    await node.relay();
    await scene.accept();
    scene.pass(100);
    await node.relay();
    assert.equal((await scene.versions()).length, 2);
  });

  it('does nothing while the chain cannot be asked, and fails nothing', async () => {
    await open();
    const { id } = await scene.accept();
    const node = await scene.newNode();
    for (const method of ['simulate', 'usedSlots', 'suggestOffer', 'head'] as const) {
      scene.control.failNext(method);
      await assert.rejects(node.relay());
      assert.deepEqual(await scene.versions(), [], method);
    }
    await node.turn();
    assert.equal(await scene.status(id), 'succeeded');
  });

  it('leaves out items that would be refused, and retries them later', async () => {
    await open();
    const poor = await scene.accept();
    const rich = await scene.accept();
    scene.control.setBalance(poor.payer.address, poor.item.asset, 0n);
    const node = await scene.newNode();
    await node.turn();
    assert.equal(await scene.status(rich.id), 'succeeded');
    assert.equal(await scene.status(poor.id), 'processing');
    assert.equal((await scene.item(poor.commitment))?.state, 'due');
    scene.control.setBalance(poor.payer.address, poor.item.asset, 1_000n);
    await node.turn(3);
    assert.equal(await scene.status(poor.id), 'succeeded');
  });

  it('sends the others of a batch while no second endpoint can be asked about a refused one', async ({ mock }) => {
    await open();
    const poor = await scene.accept();
    scene.control.setBalance(poor.payer.address, poor.item.asset, 0n);
    const node = await scene.newNode();
    await node.relay();
    scene.pass(60_000);
    const rich = await scene.accept();
    const { sender } = scene.chain;
    const simulate = sender.simulate.bind(sender);
    mock.method(sender, 'simulate', async (batch: readonly SignedItem[], how: Simulation = {}) => {
      if (how.isDoubted) throw new ChainUnavailableError(scene.network, 'no second endpoint answers');
      return simulate(batch, how);
    });
    await node.turn();
    assert.equal(await scene.status(rich.id), 'succeeded');
    assert.equal((await scene.item(poor.commitment))?.state, 'due', 'the refused item is only postponed');
  });

  it('does not send items too close to their deadline by the chain’s clock', async () => {
    await open();
    const deadlineS = Math.floor(scene.nowMs() / 1_000) + 15;
    const { id } = await scene.accept({ terms: { deadlineS } });
    const node = await scene.newNode();
    await node.turn();
    assert.deepEqual(await scene.versions(), []);
    assert.equal(await scene.status(id), 'processing');
  });

  it('sends the items of a transaction that was reverted again, in smaller company', async () => {
    await open();
    const payments = [await scene.accept(), await scene.accept(), await scene.accept()];
    scene.control.revertNextBatches(1);
    const node = await scene.newNode();
    await node.turn();
    for (const { id } of payments) assert.equal(await scene.status(id), 'processing');
    await node.turn(4);
    for (const { id } of payments) assert.equal(await scene.status(id), 'succeeded');
  });

  it('raises an alert for a relayer that runs dry, and clears it', async () => {
    await open({ relaying: { minBalance: () => 10n ** 18n } });
    const [signer] = scene.signers;
    const address = signer?.address ?? '';
    const node = await scene.newNode();
    scene.control.setBalance(address, scene.payers.assets.native, 1n);
    await node.relay();
    assert.deepEqual(await scene.alerts(), [`relayer_balance_low ${scene.network}:${address}`]);
    assert.match(
      (await scene.alertText('relayer_balance_low')) ?? '',
      /^The relayer holds \d+\.\d{2,} ETH on Till Sandbox, less than \d+\.\d{2,} ETH\. Send coin to it\.$/,
    );
    scene.control.setBalance(address, scene.payers.assets.native, 10n ** 19n);
    scene.pass(60_000);
    await node.relay();
    assert.deepEqual(await scene.alerts(), []);
  });

  it('sends all payments although an endpoint denies the coin of its relayer: only an alert comes and goes', async () => {
    await open({ witnesses: 2, relaying: { minBalance: () => 10n ** 18n } });
    const low = [`relayer_balance_low ${scene.network}:${scene.signers[0]?.address}`];
    const { id } = await scene.accept();
    const node = await scene.newNode();
    scene.control.testify(0, { addsToHoldings: -(10n ** 21n) });
    await node.turn(3);
    assert.equal(await scene.status(id), 'succeeded');
    assert.deepEqual(await scene.alerts(), low);
    scene.control.testify(0);
    scene.pass(60_000);
    await node.relay();
    assert.deepEqual(await scene.alerts(), []);
  });

  it('raises an alert for a transaction that does not get through', async () => {
    await open();
    await scene.accept();
    const node = await scene.newNode();
    scene.control.broadcasts('forgotten', 100);
    await node.relay();
    scene.pass(6 * 60_000);
    await node.relay();
    assert.match((await scene.alerts()).join(), /send_stuck/);
  });

  it('declines an item only while no transaction with it was stored', async () => {
    await open();
    const early = await scene.accept();
    const ask = { actor: 'screening', evidence: { list: 'v1' } };
    assert.equal(await declineItem(scene, { ...ask, key: early.key }), true);
    const payment = await scene.payment(early.id);
    assert.deepEqual([payment.status, payment.failureCode], ['failed', 'declined_user']);
    assert.equal((await scene.item(early.commitment))?.signature, null);

    const late = await scene.accept();
    const node = await scene.newNode();
    await node.relay();
    assert.equal(await declineItem(scene, { ...ask, key: late.key }), false);
    await node.turn();
    assert.equal(await scene.status(late.id), 'succeeded');
  });

  it('lists its relayers for the operator', async () => {
    await open();
    await scene.accept();
    const node = await scene.newNode();
    await node.relay();
    const ask = { chains: scene.chains, db: scene.db, clock: scene.world.clock };
    const [relayer] = await listRelayers(ask);
    assert.equal(relayer?.nextSlot, 1);
    assert.equal(relayer?.inFlight, 1);
    scene.control.goDown();
    assert.equal((await listRelayers(ask))[0]?.balance, undefined);
  });
});
