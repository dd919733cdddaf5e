import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { command } from '../../src/actions/command.ts';
import { recheckRefusals } from '../../src/actions/outgoing/check/recheck-refusals.ts';
import { recordUnexpectedTransfers } from '../../src/actions/outgoing/return/record-unexpected-transfers.ts';
import { ACCOUNTS } from '../../src/domain/books.ts';
import { listBalances } from '../../src/store/money/books.ts';
import { listUnexpected } from '../../src/store/money/unexpected-money.ts';
import { listAlerts } from '../../src/store/plumbing/alerts.ts';
import { DOLLAR, openRefundScene, type RefundScene } from './refund-scene.ts';

/** Money of which one row cannot be computed, booked or stored. */
describe('an error of one row', () => {
  let scene: RefundScene;
  afterEach(() => scene.close());

  /** The position of a payment becomes unreadable, or readable again. */
  const tamper = (id: string, booked: object) =>
    command(scene, (tx) => tx`update positions set booked = ${tx.json(booked as never)} where payment_id = ${id}`);
  const BROKEN = [{ network: '', asset: '', reference: '', lines: [{ account: 'payer', units: 'much' }] }];
  const uncomputed = async () =>
    (await listAlerts(scene.db.sql)).filter(({ name }) => name === 'money_uncomputed').map(({ subject }) => subject);
  const isOutdated = async (id: string) =>
    (await scene.db.sql`select from positions where payment_id = ${id} and is_stale`).length > 0;

  it('keeps no other position from being computed, however few have a turn in a round', async () => {
    scene = await openRefundScene({ watching: { sweepFrom: () => 0n, mostPerRound: 1 } });
    const node = await scene.newNode();
    const [first, second] = [await scene.deposit(), await scene.deposit()];
    first.send(100n);
    await scene.live(node, 3);
    await tamper(first.id, BROKEN);
    first.send(100n);
    await scene.live(node, 1);
    second.send(1_000n);
    await scene.live(node, 6);
    assert.equal(await isOutdated(first.id), true, 'it waits, and spends nothing');
    assert.equal(await scene.status(second.id), 'succeeded');
    assert.deepEqual(await uncomputed(), [first.id], 'a person is told of it');
    await recheckRefusals(scene);
    assert.deepEqual(await uncomputed(), [first.id]);
    await tamper(first.id, []);
    await scene.live(node, 2);
    await recheckRefusals(scene);
    assert.deepEqual([await isOutdated(first.id), await uncomputed()], [false, []]);
  });

  it('keeps no reorganisation from being applied, and the others are computed with it', async () => {
    scene = await openRefundScene({ watching: { sweepFrom: () => 0n } });
    const node = await scene.newNode();
    const [first, second] = [await scene.deposit(), await scene.deposit()];
    first.send(100n);
    second.send(100n);
    await scene.live(node, 3);
    assert.deepEqual([await isOutdated(first.id), await isOutdated(second.id)], [false, false]);
    await tamper(first.id, BROKEN);
    const { number } = await scene.chain.reader.head();
    scene.control.reorg(number - 1, { transactions: 'dropped', length: number });
    await node.follow();
    assert.deepEqual(await uncomputed(), [first.id]);
    await scene.live(node, 2);
    assert.equal(await isOutdated(first.id), true);
    assert.equal(await isOutdated(second.id), false);
    const lots = await scene.db.sql`select from lots where payment_id = ${second.id} and amount > 0`;
    assert.equal(lots.length, 0, 'the money of the other payment has left the books');
  });

  it('keeps no other unexpected money from being booked, and has an alert that names it', async () => {
    scene = await openRefundScene();
    const node = await scene.newNode();
    await scene.live(node, 2);
    await recordUnexpectedTransfers(scene, scene.connected);
    await command(scene, (tx) => tx.unsafe('alter table strays add constraint unlucky check (amount <> 13)'));
    for (const units of [12n, 13n, 14n]) scene.transfer({ from: scene.payers.newAccount(), units });
    await scene.live(node, 2);
    const found = await listUnexpected(scene.db.sql, { states: ['unclaimed'], limit: 10 });
    assert.deepEqual(found.map(({ amount }) => amount).toSorted(), ['12', '14']);
    const alerts = (await listAlerts(scene.db.sql)).filter(({ name }) => name === 'event_set_aside');
    assert.equal(alerts.length, 1);
    assert.match(alerts[0]?.message ?? '', /could not be booked/);
    const rows = (await listBalances(scene.db.sql, scene.network)).filter(({ asset }) => asset === DOLLAR);
    assert.equal(rows.find(({ account }) => account === ACCOUNTS.unexpected)?.units, 26n);
  });
});
