import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { reconcile } from '../../src/actions/books/audit/reconcile.ts';
import { eventEntries } from '../../src/actions/oversight/event-entries.ts';
import { readHistory } from '../../src/actions/oversight/history.ts';
import { expirePayments } from '../../src/actions/paying/expire-payments.ts';
import { findMissedEvent, MOST_RANGES, RANGE } from '../../src/actions/watch/find-missed-event.ts';
import { newRoundReads } from '../../src/actions/watch/watcher.ts';
import { ChainUnavailableError } from '../../src/chains/chain-errors.ts';
import type { Witness } from '../../src/chains/chain-reader.ts';
import { findRefusedAttempt } from '../../src/store/chain/due-items.ts';
import { listEvents } from '../../src/store/events/events.ts';
import { REGISTRY } from '../registry.ts';
import { openRelayScene, type RelayScene, type SceneInput } from './relay-scene.ts';

const HOUR_MS = 60 * 60_000;
const NOBODY = { buyerAccount: null, buyerName: null, tokenAsset: null, tokenValue: null };
type Accepted = Awaited<ReturnType<RelayScene['accept']>>;

describe('the watcher', () => {
  let scene: RelayScene;
  const open = async (input: SceneInput = {}) => {
    scene = await openRelayScene(input);
    return scene;
  };
  afterEach(() => scene.close());
  const typesOf = async (id: string) => (await listEvents(scene.db.sql, id)).map(({ type }) => type);

  it('calls a payment succeeded at final depth, and not before', async () => {
    await open({ depth: 3 });
    const { id, commitment } = await scene.accept();
    const node = await scene.newNode();
    await node.turn(2);
    assert.equal(await scene.status(id), 'processing');
    assert.equal((await scene.item(commitment))?.state, 'sent');
    await node.turn();
    assert.equal(await scene.status(id), 'succeeded');
    assert.equal((await scene.item(commitment))?.state, 'paid');
    assert.deepEqual(
      (await scene.versions()).map(({ state }) => state),
      ['final'],
    );
  });

  it('waits for more depth where the operator asks for it', async () => {
    await open({ depth: 1, finality: { tiers: [{ from: 2n, depth: 3 }] } });
    const small = await scene.accept();
    const large = await scene.accept({ terms: { amount: 2_000_000n } });
    const node = await scene.newNode();
    await node.turn();
    assert.equal(await scene.status(small.id), 'succeeded');
    await node.turn();
    assert.equal(await scene.status(large.id), 'processing');
    assert.equal((await scene.item(large.commitment))?.state, 'sent');
    await node.turn();
    assert.equal(await scene.status(large.id), 'succeeded');
  });

  // The chain in memory calls a block safe 8 blocks behind its head, and finalized 16 blocks behind.
  for (const [tag, blocks] of [
    ['safe', 8],
    ['finalized', 16],
  ] as const) {
    it(`waits until the network calls the block ${tag} where the operator asks for that, by the word of two endpoints`, async () => {
      await open({ witnesses: 2, finality: { tiers: [{ from: 2n, tag }] } });
      const small = await scene.accept();
      const large = await scene.accept({ terms: { amount: 2_000_000n } });
      const node = await scene.newNode();
      await node.turn();
      assert.equal(await scene.status(small.id), 'succeeded');
      // The second endpoint claims a longer chain, and so a later block of that name.
      scene.control.testify(1, { headAhead: 5 });
      await node.turn(blocks - 1);
      assert.equal(await scene.status(large.id), 'processing');
      await node.turn();
      assert.equal(await scene.status(large.id), 'succeeded');
    });
  }

  it('decides nothing on a block that the endpoints do not agree on', async () => {
    await open();
    const { id } = await scene.accept();
    const node = await scene.newNode();
    scene.control.lie({ isDisagreeing: true });
    await node.turn(3);
    assert.equal(await scene.status(id), 'processing');
    scene.control.beHonest();
    await node.watch();
    assert.equal(await scene.status(id), 'succeeded');
  });

  it('puts a payment back to work when its block is reorganised away before final depth', async () => {
    await open({ depth: 3 });
    const { id } = await scene.accept();
    const node = await scene.newNode();
    await node.turn();
    scene.control.reorg(1, { transactions: 'dropped' });
    await node.watch();
    assert.equal(scene.counts.get('reorg'), 1);
    scene.pass(5_000);
    await node.turn(3);
    assert.equal(await scene.status(id), 'succeeded');
    assert.equal((await scene.versions()).length, 1);
    assert.deepEqual(await scene.alerts(), []);
  });

  it('follows a transaction that a reorganisation moved to another block', async () => {
    await open({ depth: 3 });
    const { id } = await scene.accept();
    const node = await scene.newNode();
    await node.turn();
    scene.control.reorg(1, { length: 3, transactions: 'pending' });
    await node.watch();
    await node.turn(4);
    assert.equal(await scene.status(id), 'succeeded');
    const rows = await scene.db.sql`select from chain_events`;
    assert.equal(rows.length, 1);
  });

  it('keeps a payment succeeded after a reorg deeper than final depth, raises an alert, and sends again', async () => {
    await open();
    const { id, commitment, item } = await scene.accept();
    const node = await scene.newNode();
    await node.turn(2);
    assert.equal(await scene.status(id), 'succeeded');
    scene.control.reorg(2, { length: 3, transactions: 'dropped' });
    await node.watch();
    assert.equal(await scene.status(id), 'succeeded');
    assert.equal((await scene.item(commitment))?.state, 'due');
    assert.deepEqual(await scene.alerts(), [`deep_reorg ${id}`]);
    const log = await listEvents(scene.db.sql, id);
    assert.deepEqual(
      log.map(({ type, data }) => `${type} ${data.status}`),
      [
        'payment.created undefined',
        'payment.processing processing',
        'payment.succeeded succeeded',
        'payment.settled succeeded',
        'payment.reorged succeeded',
      ],
    );
    await node.turn(4);
    assert.equal(scene.control.balanceOf(item.recipient, item.asset), 990n);
    assert.equal((await scene.item(commitment))?.state, 'paid');
    assert.deepEqual(await scene.alerts(), []);
    const entries = eventEntries(await readHistory(scene.db.sql, await scene.payment(id), 100), REGISTRY);
    const texts = entries.filter(({ what }) => what === 'payment.reorged').map(({ partnerText }) => partnerText);
    assert.equal(texts.length, 2);
    assert.match(texts[0] ?? '', /removed a transaction of the payment/);
    assert.match(texts[1] ?? '', /in the chain again/);
  });

  it('does not say that a final deposit is sent again after a reorg deeper than final depth', async () => {
    await open();
    const node = await scene.newNode();
    await node.turn();
    const { id, send } = await scene.deposit();
    const { number: before } = await scene.chain.reader.head();
    const arrival = send(1_000n);
    await node.turn(3);
    assert.equal(await scene.status(id), 'succeeded');
    const { number } = await scene.chain.reader.head();
    scene.control.reorg(number - before, { drop: [arrival], length: number - before + 1 });
    await node.watch();
    assert.equal(await scene.status(id), 'succeeded');
    const alerts = await scene.db.sql<{ name: string; message: string }[]>`
      select name, message from alerts where subject = ${id}`;
    assert.deepEqual(
      alerts.map(({ name }) => name),
      ['deep_reorg'],
    );
    const entries = eventEntries(await readHistory(scene.db.sql, await scene.payment(id), 100), REGISTRY);
    const [entry] = entries.filter(({ what }) => what === 'payment.reorged');
    for (const text of [entry?.text ?? '', entry?.partnerText ?? '', alerts[0]?.message ?? '']) {
      assert.match(text, /removed money from the deposit address/);
      assert.match(text, /the payer has to send it again/);
      assert.doesNotMatch(text, /it is (being )?sent again/);
    }
    assert.deepEqual(Object.keys(entry?.evidence ?? {}), ['fork', 'network']);
  });

  it('keeps a payment whose payer turns out to be listed, and raises an alert', async () => {
    const list = { hash: 'ab', version: '7', date: '2026-03-01' };
    await open({ screening: { decide: (accounts) => ({ hits: accounts, list }) } });
    const { id } = await scene.accept();
    const node = await scene.newNode();
    await node.turn(2);
    assert.equal(await scene.status(id), 'succeeded');
    assert.deepEqual(await scene.alerts(), [`screened_payer ${id}`]);
    const log = await listEvents(scene.db.sql, id);
    assert.deepEqual(log.at(-1)?.evidence.screenedPayer, list);
  });

  it('ignores events whose commitment is not ours', async () => {
    await open();
    const { id, item } = await scene.accept();
    const node = await scene.newNode();
    scene.control.emitLookAlike(item, `0x${'77'.repeat(32)}`);
    scene.control.mine();
    await node.watch();
    assert.equal(await scene.status(id), 'processing');
    assert.equal(scene.counts.get('event unknown'), 1);
  });

  it('sets aside an event that contradicts its own commitment, with an alert, and continues with the rest', async () => {
    await open();
    const { id, item, commitment } = await scene.accept();
    const other = await scene.accept();
    const node = await scene.newNode();
    scene.control.emitLookAlike({ ...item, amount: 5n }, commitment);
    await node.turn();
    assert.equal(await scene.status(other.id), 'succeeded');
    assert.equal(await scene.status(id), 'succeeded');
    assert.match((await scene.alerts()).join(), /event_set_aside/);
  });

  it('sets aside an unreadable block, with an alert, and continues with the rest', async () => {
    await open();
    const node = await scene.newNode();
    await node.turn();
    let calls = 0;
    scene.control.intercept((method) => {
      if (method !== 'events') return;
      calls += 1;
      if (calls <= 4) throw new TypeError('What is this?');
    });
    const { id } = await scene.accept();
    await node.turn();
    scene.control.intercept(undefined);
    await node.turn();
    assert.equal(await scene.status(id), 'succeeded');
    assert.match((await scene.alerts()).join(), /block_set_aside/);
  });

  it('reads blocks again whose events a lagging replica omitted', async () => {
    await open();
    const { id } = await scene.accept();
    const node = await scene.newNode();
    await node.relay();
    scene.control.mine();
    scene.control.lie({ emptyEvents: 1 });
    await node.watch();
    assert.equal(await scene.status(id), 'processing');
    scene.pass(3_000);
    await node.watch();
    assert.equal(await scene.status(id), 'succeeded');
  });

  for (const liar of [0, 2]) {
    it(`closes a mined transaction although endpoint ${liar + 1} of three adds an event to its receipt`, async () => {
      await open({ witnesses: 3 });
      const { payer, item, commitment } = await scene.accept();
      const node = await scene.newNode();
      await node.relay();
      scene.control.setBalance(payer.address, item.asset, 0n);
      scene.control.mine();
      const [version] = await scene.versions();
      const block = await scene.chain.reader.head();
      const place = { block, transactionHash: version?.hash ?? '', logIndex: 99, collector: item.collector };
      const { subject, asset, amount, fee, recipient } = item;
      const paid = {
        type: 'paid',
        ...place,
        commitment,
        subject,
        payer: payer.address,
        asset,
        amount,
        fee,
        recipient,
      } as const;
      scene.control.testify(liar, { invented: [paid] });
      await node.turn(4);
      const states = (await scene.versions()).map(({ hash, state }) => (hash === version?.hash ? state : 'other'));
      assert.equal(states[0], 'final');
      const rows = await scene.db.sql`select from chain_events where type = 'paid'`;
      assert.equal(rows.length, 0);
    });
  }

  it('waits for an endpoint that lags behind the blocks already read', async () => {
    await open();
    const node = await scene.newNode();
    await node.turn(3);
    scene.control.lie({ headLag: 2 });
    await node.watch();
    assert.equal(scene.counts.get('reorg'), undefined);
    scene.control.beHonest();
    const { id } = await scene.accept();
    await node.turn();
    assert.equal(await scene.status(id), 'succeeded');
  });

  it('discards a reading whose parts do not belong together', async () => {
    await open();
    const node = await scene.newNode();
    await node.turn();
    const { id } = await scene.accept();
    await node.relay();
    scene.control.mine();
    scene.control.lie({ wrongHashAt: (await scene.chain.reader.head()).number });
    await assert.rejects(node.watch(), { name: 'ChainUnavailableError' });
    assert.equal(await scene.status(id), 'processing');
    scene.control.beHonest();
    await node.watch();
    assert.equal(await scene.status(id), 'succeeded');
  });

  it('catches up after days offline before anything expires', async () => {
    await open({ depth: 2 });
    const paid = await scene.accept();
    const unpaid = await scene.accept();
    const node = await scene.newNode();
    await node.watch();
    scene.control.setBalance(unpaid.payer.address, unpaid.item.asset, 0n);
    await node.relay();
    scene.control.mine(700);
    scene.pass(72 * HOUR_MS);
    scene.control.mine(700);
    await (await scene.newNode()).watch();
    assert.equal(await scene.status(paid.id), 'succeeded');
    assert.equal(await scene.status(unpaid.id), 'expired');
  });

  it('expires an authorization that ran out unused, and destroys the signature', async () => {
    await open();
    const deadlineS = Math.floor(scene.nowMs() / 1_000) + 600;
    const { id, commitment, payer, item } = await scene.accept({ terms: { deadlineS } });
    scene.control.setBalance(payer.address, item.asset, 0n);
    const node = await scene.newNode();
    scene.pass(HOUR_MS);
    // Time alone proves nothing: the chain has no block later than the deadline yet.
    await node.watch();
    assert.equal(await scene.status(id), 'processing');
    scene.control.goDown('isUsed');
    scene.control.mine();
    await node.watch();
    assert.equal(await scene.status(id), 'processing');
    scene.control.comeBack('isUsed');
    scene.pass(3_000);
    await node.watch();
    assert.equal(await scene.status(id), 'expired');
    const stored = await scene.item(commitment);
    assert.deepEqual([stored?.state, stored?.signature], ['unpaid', null]);
  });

  describe('with an endpoint that reports each block a day too early', () => {
    const LIE = { addsToTimesS: -86_400 };

    /** A payment whose authorization has run out unused while the first endpoint lies. */
    async function runOut(witnesses: number) {
      await open({ witnesses });
      const { id, payer, item } = await scene.accept({ terms: { deadlineS: Math.floor(scene.nowMs() / 1_000) + 600 } });
      scene.control.setBalance(payer.address, item.asset, 0n);
      const node = await scene.newNode();
      await node.watch();
      scene.control.testify(0, LIE);
      scene.pass(HOUR_MS);
      scene.control.mine();
      await node.watch();
      return { id, node };
    }

    it('ends an attempt by the word of two others', async () => {
      const { id } = await runOut(3);
      assert.equal(await scene.status(id), 'expired');
      assert.deepEqual(await scene.alerts(), []);
    });

    it('raises alerts while nobody says which of two is right', async () => {
      const { id, node } = await runOut(2);
      assert.equal(await scene.status(id), 'processing');
      const { network } = scene;
      assert.deepEqual(await scene.alerts(), [`endpoints_disagree ${network}`, `payments_undetermined ${network}`]);
      const told = (await scene.alertText('endpoints_disagree')) ?? '';
      assert.match(told, /The time of block \d+: endpoint 1 says 2026-02-28T01:00:00Z in 0x/);
      assert.match(told, /endpoint 2 says 2026-03-01T01:00:00Z in 0x/);
      scene.control.testify(0);
      scene.pass(60_000);
      await node.turn();
      assert.equal(await scene.status(id), 'expired');
      assert.deepEqual(await scene.alerts(), []);
    });
  });

  it('ends no attempt before its deadline while an endpoint reports each block a day too late', async () => {
    await open({ witnesses: 2 });
    const { id, payer, item, commitment } = await scene.accept();
    scene.control.setBalance(payer.address, item.asset, 0n);
    const node = await scene.newNode();
    await node.watch();
    scene.control.testify(0, { addsToTimesS: 86_400 });
    await node.turn(3);
    assert.deepEqual(await typesOf(id), ['payment.created', 'payment.processing']);
    assert.equal((await scene.item(commitment))?.state, 'due');
    assert.ok((await scene.alerts()).includes(`endpoints_disagree ${scene.network}`));
  });

  it('lets a payment be paid again when its authorization has run out before its own expiry', async () => {
    await open();
    const deadlineS = Math.floor(scene.nowMs() / 1_000) + 600;
    const { id, payer, item, commitment } = await scene.accept({ terms: { deadlineS } });
    scene.control.setBalance(payer.address, item.asset, 0n);
    const node = await scene.newNode();
    scene.pass(601_000);
    scene.control.mine();
    await node.watch();
    const payment = await scene.payment(id);
    assert.ok(payment.expiresAt.getTime() > scene.nowMs());
    assert.equal(payment.status, 'requires_action');
    const { buyerAccount, buyerName, tokenAsset, tokenValue } = payment;
    assert.deepEqual({ buyerAccount, buyerName, tokenAsset, tokenValue }, NOBODY, 'nobody pays it any more');
    const stored = await scene.item(commitment);
    assert.deepEqual([stored?.state, stored?.signature], ['unpaid', null]);

    const again = await scene.accept({ terms: { subject: id } });
    await node.turn(2);
    const paid = await scene.payment(id);
    assert.deepEqual([paid.status, paid.buyerAccount], ['succeeded', `${scene.network}:${again.payer.address}`]);
    assert.deepEqual(await typesOf(id), [
      'payment.created',
      'payment.processing',
      'payment.requires_action',
      'payment.processing',
      'payment.succeeded',
      'payment.settled',
    ]);
    const customers = await scene.db.sql<{ account: string; status: string }[]>`
      select buyer_account as account, status from payment_customers where payments > 0`;
    assert.deepEqual([...customers], [{ account: paid.buyerAccount, status: 'succeeded' }]);
  });

  it('lets a payment be paid again when its authorization was cancelled, at final depth', async () => {
    await open({ depth: 2 });
    const { id, item, commitment } = await scene.accept();
    const node = await scene.newNode();
    scene.control.cancelAuthorization(item);
    scene.control.mine();
    await node.relay();
    await node.watch();
    assert.equal(await scene.status(id), 'processing');
    await node.turn(2);
    assert.equal(await scene.status(id), 'requires_action');
    assert.equal((await scene.item(commitment))?.signature, null);
    const evidence = (await listEvents(scene.db.sql, id)).at(-1)?.evidence;
    assert.deepEqual(evidence?.items, [{ commitment, state: 'unpaid', reason: 'used' }]);
  });

  it('ends a payment with a cancelled authorization at its own expiry', async () => {
    await open();
    const { id, item } = await scene.accept({ terms: { deadlineS: Math.floor(scene.nowMs() / 1_000) + 3_600 } });
    const node = await scene.newNode();
    scene.control.cancelAuthorization(item);
    scene.pass(16 * 60_000);
    await node.turn(2);
    assert.equal(await scene.status(id), 'expired');
  });

  it('waits for a native action that was handed out before it lets a payment be paid again', async () => {
    await open();
    const offered = await scene.offer(10 * 60_000);
    const signed = await scene.accept({ terms: { subject: offered.id } });
    const node = await scene.newNode();
    scene.control.cancelAuthorization(signed.item);
    await node.turn(3);
    assert.equal(await scene.status(offered.id), 'processing', 'the coin may still be sent');
    scene.pass(10 * 60_000);
    await node.turn(2);
    const payment = await scene.payment(offered.id);
    assert.deepEqual([payment.status, payment.nativeDeadline], ['requires_action', null]);
    assert.equal((await scene.item(offered.commitment))?.state, 'unpaid');
    scene.pass(5 * 60_000);
    await expirePayments(scene);
    assert.equal(await scene.status(offered.id), 'expired', 'the clock ends it again');
  });

  it('does not let a payment lapse by a look from before it was paid again', async () => {
    await open();
    const { id, item, key } = await scene.accept();
    const node = await scene.newNode();
    scene.control.cancelAuthorization(item);
    await node.turn(3);
    assert.equal(await scene.status(id), 'requires_action');
    await scene.accept({ terms: { subject: id } });
    const stale = await scene.movePayment({
      paymentId: id,
      event: { type: 'lapsed', proof: { finalBlockAtMs: scene.nowMs() } },
      actor: 'watcher',
      evidence: {},
      items: { ended: [{ key, state: 'unpaid', reason: 'used' }] },
    });
    assert.deepEqual([stale.ok, !stale.ok && stale.refusal], [false, 'may_still_be_paid']);
    await node.turn(2);
    assert.equal(await scene.status(id), 'succeeded');
  });

  it('does not take a signature again that the chain has proved to be over', async () => {
    await open();
    const { id, item, commitment, signed } = await scene.accept();
    const node = await scene.newNode();
    scene.control.cancelAuthorization(item);
    await node.turn(3);
    const account = `${scene.network}:${item.payer}`;
    const again = await scene.movePayment({
      paymentId: id,
      event: {
        type: 'confirmed',
        buyer: { account, name: 'Wallet', icon: null },
        token: { asset: item.asset, value: item.amount },
        isNative: false,
      },
      actor: 'test',
      evidence: {},
      items: { accepted: [{ ...scene.newItem(item, { state: 'due', signature: signed.signature }) }] },
    });
    assert.deepEqual([again.ok, !again.ok && again.refusal], [false, 'attempt_over']);
    assert.equal(await scene.status(id), 'requires_action');
    assert.equal((await scene.item(commitment))?.state, 'unpaid');
  });

  it('finds the payment when a stranger relayed it', async () => {
    await open();
    const { id, signed, item } = await scene.accept();
    const node = await scene.newNode();
    const hash = scene.control.relayAsStranger([signed]);
    scene.control.mine();
    await node.relay();
    await node.watch();
    const payment = await scene.payment(id);
    assert.deepEqual([payment.status, payment.transactionHash], ['succeeded', hash]);
    const sent = await scene.chain.reader.sentTransaction(hash);
    assert.equal(payment.transactionNonce, String(sent?.slot), 'of the transaction of the stranger');
    assert.equal(scene.control.balanceOf(item.recipient, item.asset), 990n);
  });

  it('finds a payment whose event was missed, instead of failing it', async () => {
    await open();
    const { id, signed } = await scene.accept();
    const node = await scene.newNode();
    await node.watch();
    scene.control.relayAsStranger([signed]);
    scene.control.mine();
    scene.control.lie({ emptyEvents: 2 });
    scene.control.mine(20);
    await node.watch();
    await node.turn(4);
    assert.equal(await scene.status(id), 'succeeded');
  });

  it('calls it unknown, not missing, when an endpoint lacks the blocks that an event may lie in', async () => {
    await open();
    const { commitment } = await scene.accept();
    const stored = await scene.item(commitment);
    assert.ok(stored);
    const chain = { ...scene.chain, reader: { ...scene.chain.reader, witnesses: () => [] } };
    const { lease } = (await scene.newNode()).watcher;
    const block = await scene.chain.reader.head();
    const finalAt = new Date(scene.nowMs());
    const cursor = { network: scene.network, blockNumber: 9, blockHash: '0x', finalNumber: 9, finalAt };
    await assert.rejects(
      findMissedEvent({} as never, {
        chain,
        cursor,
        block,
        stored,
        lease,
        searches: new Map(),
        reads: newRoundReads(),
      }),
      ChainUnavailableError,
    );
  });

  it('reads blocks once for an event that is missing, and so many in a round', async () => {
    await open({ witnesses: 2 });
    const { commitment, item } = await scene.accept();
    const stored = await scene.item(commitment);
    assert.ok(stored);
    const node = await scene.newNode();
    await node.watch();
    scene.control.useAuthorizationElsewhere(item);
    scene.control.mine(RANGE * (MOST_RANGES + 2));
    let asked = 0;
    const counted = (witness: Witness): Witness => ({
      ...witness,
      events: (from, to) => {
        asked += 1;
        return witness.events(from, to);
      },
    });
    const witnesses = () => scene.chain.reader.witnesses().map(counted);
    const chain = { ...scene.chain, reader: { ...scene.chain.reader, witnesses } };
    const final = await scene.chain.reader.head();
    const read = { blockNumber: final.number, blockHash: final.hash, finalNumber: final.number };
    const cursor = { network: scene.network, ...read, finalAt: new Date(final.timestampS * 1_000) };
    const { lease } = node.watcher;
    const ask = { chain, cursor, block: final, stored, lease, searches: new Map() };
    const rounds = [];
    for (let round = 0; round < 3; round += 1) {
      asked = 0;
      const { isDone, isFound } = await findMissedEvent(scene, { ...ask, reads: newRoundReads() });
      assert.equal(isFound, false);
      rounds.push([isDone, asked]);
    }
    assert.deepEqual(rounds, [
      [false, 2 * MOST_RANGES],
      [true, 6],
      [true, 0],
    ]);
  });

  it('begins a search where two endpoints say, and not at the block time of one', async () => {
    await open({ witnesses: 2 });
    scene.control.mine(3 * RANGE);
    scene.pass(48 * HOUR_MS);
    scene.control.mine();
    const { commitment } = await scene.accept();
    const stored = await scene.item(commitment);
    assert.ok(stored);
    const { lease } = (await scene.newNode()).watcher;
    const asked: number[] = [];
    const counted = (witness: Witness): Witness => ({
      ...witness,
      events: (from, to) => {
        asked.push(from);
        return witness.events(from, to);
      },
    });
    const witnesses = () => scene.chain.reader.witnesses().map(counted);
    const chain = { ...scene.chain, reader: { ...scene.chain.reader, witnesses } };
    const block = await scene.chain.reader.head();
    const read = { blockNumber: block.number, blockHash: block.hash, finalNumber: block.number };
    const cursor = { network: scene.network, ...read, finalAt: new Date(0) };
    const ask = { chain, cursor, block, stored, lease, searches: new Map(), reads: newRoundReads() };
    const { isDone } = await findMissedEvent(scene, ask);
    assert.deepEqual([isDone, asked], [true, [3 * RANGE, 3 * RANGE]]);
  });

  for (const [reason, refuse, relent] of [
    [
      'short_balance',
      ({ item }) => scene.control.setBalance(item.payer, item.asset, 0n),
      ({ item }) => scene.control.setBalance(item.payer, item.asset, item.amount),
    ],
    [
      'paused',
      ({ item }) => scene.control.setPaused(item.asset),
      ({ item }) => scene.control.setPaused(item.asset, false),
    ],
    [
      'payer_blacklisted',
      ({ item }) => scene.control.setBlacklisted(item.payer, item.asset),
      ({ item }) => scene.control.setBlacklisted(item.payer, item.asset, false),
    ],
  ] as const satisfies [string, (accepted: Accepted) => void, (accepted: Accepted) => void][]) {
    it(`retries an item that a final block refused (${reason}), with backoff, until it is paid`, async () => {
      await open();
      const accepted = await scene.accept();
      const { id, commitment } = accepted;
      const node = await scene.newNode();
      await node.relay();
      refuse(accepted);
      scene.control.mine();
      await node.watch();
      assert.equal(await scene.status(id), 'processing');
      assert.equal((await scene.item(commitment))?.state, 'due', 'it is sent again');
      await node.turn(4);
      assert.deepEqual(await findRefusedAttempt(scene.db.sql, id), {
        refusal: reason,
        deadline: new Date(accepted.item.deadlineS * 1_000),
      });
      assert.equal((await scene.versions()).length, 1, 'nothing is sent that a simulation refuses');
      const waits = async () => {
        const [row] = await scene.db.sql<{ retryAt: Date }[]>`
          select retry_at as "retryAt" from items where commitment = ${commitment}`;
        return (row?.retryAt.getTime() ?? 0) - scene.nowMs();
      };
      // The payer's own backoff after the failure on the chain may be longer than the item's.
      for (let seconds = 0; seconds < 60 && (await waits()) <= 30_000; seconds += 1) {
        scene.pass(Math.max(1_000, await waits()));
        await node.relay();
      }
      assert.ok((await waits()) > 30_000, 'less and less often');
      assert.ok((await waits()) <= 75_000, 'but not seldom');
      relent(accepted);
      scene.pass(75_000);
      await node.turn(2);
      assert.equal(await scene.status(id), 'succeeded');
      assert.equal(await findRefusedAttempt(scene.db.sql, id), undefined);
    });
  }

  it('is not misled by a stranger who has an item refused with a signature he made up', async () => {
    await open();
    const { id, signed } = await scene.accept();
    const other = await scene.payers.payable('eip3009-vrs');
    const node = await scene.newNode();
    await node.watch();
    scene.control.relayAsStranger([{ ...signed, signature: other.signed.signature }]);
    scene.control.mine();
    await node.watch();
    assert.equal(await scene.status(id), 'processing');
    await node.turn();
    assert.equal(await scene.status(id), 'succeeded');
  });

  it('takes native coin whose payer never confirmed: processing from its first block, succeeded at depth', async () => {
    await open({ depth: 2 });
    const { id, pay, payer, commitment, sendElsewhere } = await scene.offer();
    const node = await scene.newNode();
    sendElsewhere();
    const hash = pay();
    await node.watch();
    assert.equal(await scene.status(id), 'requires_action', 'the watcher sees blocks only');
    scene.control.mine();
    await node.watch();
    assert.equal(await scene.status(id), 'processing');
    const [, event] = await listEvents(scene.db.sql, id);
    assert.deepEqual(
      [event?.type, event?.actor, event?.evidence.commitment, event?.evidence.transaction],
      ['payment.processing', 'watcher', commitment, hash],
    );
    await node.turn();
    const payment = await scene.payment(id);
    assert.equal(payment.status, 'succeeded');
    assert.equal(payment.transactionHash, hash);
    const sent = await scene.chain.reader.sentTransaction(hash);
    assert.deepEqual([payment.transactionNonce, sent?.slot], ['1', 1], 'of the transaction of the payer');
    assert.equal(payment.buyerAccount, `${scene.network}:${payer.address}`);
    assert.deepEqual(
      (await listEvents(scene.db.sql, id)).map(({ type }) => type),
      ['payment.created', 'payment.processing', 'payment.succeeded', 'payment.settled'],
    );
  });

  it('accepts no event for a payment in coin that differs from its action', async () => {
    await open({ depth: 2 });
    const { id, item, commitment } = await scene.offer();
    const node = await scene.newNode();
    scene.control.emitLookAlike({ ...item, amount: item.amount - 1n }, commitment);
    scene.control.mine();
    await node.watch();
    assert.equal(await scene.status(id), 'requires_action');
  });

  it('ends a payment whose native action was not used, after a final block later than its deadline', async () => {
    await open();
    const { id, commitment } = await scene.offer();
    const node = await scene.newNode();
    scene.pass(16 * 60_000);
    await node.watch();
    assert.equal(await scene.status(id), 'requires_action');
    await node.turn();
    assert.equal(await scene.status(id), 'expired');
    assert.equal((await scene.item(commitment))?.state, 'unpaid');
  });

  it('records money that arrives after the payment has ended, with an alert', async () => {
    await open();
    const { id, pay, commitment } = await scene.offer();
    const node = await scene.newNode();
    await scene.movePayment({
      paymentId: id,
      event: { type: 'cancelled', by: 'merchant' },
      actor: 'test',
      evidence: {},
    });
    pay();
    await node.turn();
    assert.equal(await scene.status(id), 'cancelled');
    assert.equal((await scene.item(commitment))?.state, 'paid');
    assert.deepEqual(await scene.alerts(), [`paid_after_end ${id}`]);
  });

  it('shows the asset, amount and buyer of the way that paid, when the payer has paid in two ways', async () => {
    await open();
    const node = await scene.newNode();
    const { id, pay, item, payer } = await scene.offer();
    const token = await scene.accept({ terms: { subject: id } });
    assert.equal((await scene.payment(id)).buyerAccount, `${scene.network}:${token.payer.address}`);
    // The coin lies one block before the token.
    pay();
    scene.control.mine();
    await node.relay();
    scene.control.mine();
    await node.watch();
    const shown = await scene.payment(id);
    assert.deepEqual(
      [shown.status, shown.tokenAsset, shown.tokenValue, shown.buyerAccount],
      ['succeeded', item.asset, item.amount.toString(), `${scene.network}:${payer.address}`],
    );
    await node.turn(3);
    assert.deepEqual(await scene.alerts(), [`paid_after_end ${id}`]);
    const [last] = (await listEvents(scene.db.sql, id)).slice(-1);
    assert.equal(last?.type, 'payment.late_money');
    assert.deepEqual(await scene.payment(id), shown);
    const report = await reconcile(scene, scene.connected, { from: 0 });
    assert.deepEqual(report?.differences, []);
  });

  it('does not send a signed item of a payment that was paid in coin meanwhile', async () => {
    await open();
    const node = await scene.newNode();
    const { id, pay } = await scene.offer();
    const token = await scene.accept({ terms: { subject: id } });
    pay();
    scene.control.mine();
    await node.watch();
    await node.turn(3);
    assert.equal(await scene.status(id), 'succeeded');
    assert.deepEqual(await scene.versions(), []);
    assert.equal((await scene.item(token.commitment))?.state, 'due');
    assert.deepEqual(await scene.alerts(), []);
    // The signature is over after its deadline, and with it the item.
    scene.pass(HOUR_MS);
    await node.turn(2);
    assert.equal((await scene.item(token.commitment))?.state, 'unpaid');
  });

  it('does the same again after a crash between a move and its mark, and nothing happens twice', async () => {
    await open();
    const { id } = await scene.accept();
    const node = await scene.newNode();
    await node.turn();
    await scene.db.sql`update chain_events set decided_at = null`;
    await (await scene.newNode()).watch();
    const types = (await listEvents(scene.db.sql, id)).map(({ type }) => type);
    assert.deepEqual(types, ['payment.created', 'payment.processing', 'payment.succeeded', 'payment.settled']);
    assert.deepEqual(await scene.alerts(), []);
  });

  it('writes nothing under a lease that was taken over', async () => {
    await open();
    const stale = await scene.newNode();
    await scene.newNode();
    await assert.rejects(stale.watch(), { name: 'LeaseLostError' });
  });

  // The next holder has stored everything that the old one would have to store before it decides. So the decision itself
  // is the first write of the old one.
  it('moves no payment after its lease was taken over, although the event is stored and final', async () => {
    await open();
    const { id } = await scene.accept();
    const zombie = await scene.newNode();
    await zombie.relay();
    await zombie.watch();
    scene.control.mine();
    const next = await scene.newNode();
    const { heights } = await next.follow();
    // The old holder has heard the height, too, and was stopped before it decided.
    zombie.watcher.memory.heights = heights;
    await assert.rejects(zombie.watch(), { name: 'LeaseLostError' });
    assert.equal(await scene.status(id), 'processing');
    await next.watch();
    assert.deepEqual(await typesOf(id), [
      'payment.created',
      'payment.processing',
      'payment.succeeded',
      'payment.settled',
    ]);
  });

  it('ends no attempt after its lease was taken over, although the deadline is final', async () => {
    await open();
    const { id, payer, item, commitment } = await scene.accept();
    scene.control.setBalance(payer.address, item.asset, 0n);
    const zombie = await scene.newNode();
    await zombie.watch();
    scene.pass(2 * HOUR_MS);
    scene.control.mine();
    const next = await scene.newNode();
    await next.follow();
    await assert.rejects(zombie.watch(), { name: 'LeaseLostError' });
    assert.equal(await scene.status(id), 'processing');
    assert.equal((await scene.item(commitment))?.state, 'due');
    await next.watch();
    assert.equal(await scene.status(id), 'expired');
  });

  it('raises an alert for an unknown outcome, and holds the payment', async () => {
    await open();
    const { id, payer, item } = await scene.accept();
    scene.control.setBalance(payer.address, item.asset, 0n);
    const node = await scene.newNode();
    // The first reading of a network needs endpoints that agree.
    await node.watch();
    scene.pass(2 * HOUR_MS);
    scene.control.mine();
    scene.control.lie({ isDisagreeing: true });
    await node.watch();
    assert.equal(await scene.status(id), 'processing');
    assert.deepEqual(await scene.alerts(), [`payments_undetermined ${scene.network}`]);
    scene.control.beHonest();
    scene.pass(60_000);
    await node.turn();
    assert.equal(await scene.status(id), 'expired');
    assert.deepEqual(await scene.alerts(), []);
  });
});
