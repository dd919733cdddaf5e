import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { encodeFunctionData, type Hex, parseAbi } from 'viem';
import type { Difference } from '../../src/actions/books/audit/compare-events.ts';
import { reconcile } from '../../src/actions/books/audit/reconcile.ts';
import { verifyBooks } from '../../src/actions/books/verify-books.ts';
import { command } from '../../src/actions/command.ts';
import { SANDBOX_ACCOUNTS } from '../../src/sandbox/genesis.ts';
import { housekeepingJobs } from '../../src/workers/housekeeping.ts';
import { startJobs } from '../../src/workers/loop.ts';
import { payingOutJobs } from '../../src/workers/paying-out.ts';
import { startRelaying } from '../../src/workers/relaying.ts';
import { startWatching } from '../../src/workers/watching.ts';
import { freshKey } from '../gateway.ts';
import { type OlderState, readOlderVersion } from '../older-version.ts';
import { until } from '../until.ts';
import { openUpgraded, type UpgradedGateway } from '../upgraded-gateway.ts';
import { SANDBOX, USDC, walletOn } from './paying-shop.ts';

const TOKEN = parseAbi(['function transfer(address to, uint256 amount)']);

/** As in the scene: the second payer is on the list. */
const screening = {
  decide: (accounts: readonly string[]) => ({
    hits: accounts.filter((account) => account.toLowerCase().endsWith(SANDBOX_ACCOUNTS.secondPayer.toLowerCase())),
    list: { hash: 'ab'.repeat(32), version: '7', date: '2026-02-28' },
  }),
};

/**
 * The lots that have to come of each payment: the amount, the part at the address, its place, its part in the payment, and the
 * orders of then that have spent it.
 */
const LOTS: Readonly<Record<string, readonly string[]>> = {
  open: [],
  part: ['4000000 waits direct open'],
  screened: ['10000000 waits direct screened'],
  unfinal: ['10000000 swept direct paying'],
  sweepSending: ['10000000 swept direct paying'],
  tooMuch: ['10000000 swept direct paying', '3000000 swept direct overpaid'],
  wrongToken: ['5000000 swept direct wrong_token'],
  late: ['10000000 swept direct late'],
  underpaid: ['4000000 swept direct underpaid'],
  cancelled: ['10000000 swept direct late'],
  returned: ['10000000 swept direct paying', '5000000 swept direct overpaid'],
  returning: ['10000000 swept direct paying', '5000000 swept direct overpaid'],
  requested: ['10000000 swept direct paying', '5000000 swept direct overpaid'],
  held: ['10000000 swept held paying'],
  heldUnswept: ['10000000 swept held paying'],
  heldTooMuch: ['10000000 swept held paying', '3000000 swept held overpaid'],
  heldOpen: ['4000000 swept held open'],
  heldLate: ['10000000 swept held late'],
  heldWrongToken: ['5000000 swept held wrong_token, float 4950000'],
  paidOut: ['10000000 swept held paying, payout 9900000', '4000000 swept held overpaid, float 3960000'],
  payoutSending: ['10000000 swept held paying, payout 9900000'],
  // Of an open payment: that version paid out whatever was swept.
  early: ['4000000 swept held open, payout 3960000'],
  refunded: ['10000000 swept held paying, refund 9900000'],
  refundSending: ['10000000 swept held paying, refund 9900000'],
  // The wallet's money has paid, and a stranger's sweep had become a float.
  replaced: ['4000000 swept held paid_twice, float 3960000', '10000000 swept held paying'],
};

describe('deposit addresses and held money of an older version (342f561)', () => {
  let older: OlderState;
  let upgraded: UpgradedGateway;
  before(async () => {
    older = await readOlderVersion('342f561');
    upgraded = await openUpgraded(older, { screening });
    const { gateway } = upgraded;
    const workers = [
      startWatching({ ...gateway, watching: { startAt: () => 0, sweepFrom: () => 0n } }),
      startRelaying(gateway),
    ];
    upgraded.run(() => Promise.all(workers.map((stop) => stop())));
  });
  after(() => upgraded.close());

  interface OldUnexpected {
    readonly id: string;
    readonly payment_id: string | null;
    readonly amount: number;
    readonly state: string;
  }
  const oldUnexpected = (): OldUnexpected[] =>
    (JSON.parse(older.tables.strays ?? '[]') as OldUnexpected[]).filter(({ payment_id: id }) => id !== null);
  const idOf = (name: string) => older.payments[name] ?? '';
  const sql = () => upgraded.gateway.db.sql;
  const countOf = async (query: string) => Number((await sql().unsafe<{ n: string }[]>(query))[0]?.n);

  /** All money was computed, and all sweeps have come. */
  const isComputed = () =>
    until('all money is computed', async () => {
      const query = `select (select count(*) from positions where is_stale) + (select count(*) from deposit_places where is_stale)
        + (select count(*) from items where purpose = 'sweep' and state in ('due', 'sent')) as n`;
      return (await countOf(query)) === 0;
    });

  async function lotsOf(paymentId: string): Promise<string[]> {
    const lots = await sql()<{ text: string; spends: string | null }[]>`
      select concat_ws(' ', l.amount, case when l.waiting > 0 then 'waits' else 'swept' end,
          case when l.is_held then 'held' else 'direct' end,
          case when l.is_screened then 'screened' when l.is_paying then 'paying' else coalesce(l.reason, 'open') end) as text,
        (select string_agg(concat_ws(' ', s.purpose, s.units), ', ') from lot_spends s where s.lot_id = l.id) as spends
      from lots l where l.payment_id = ${paymentId} order by l.number`;
    return lots.map(({ text, spends }) => (spends === null ? text : `${text}, ${spends}`));
  }

  async function booksAgree(): Promise<void> {
    let differences: readonly Difference[] | undefined;
    const isSame = async () => {
      differences = (await reconcile(upgraded.gateway, upgraded.connected, { from: 0 }))?.differences;
      return differences?.length === 0;
    };
    await until('the books agree', isSame, { withinMs: 30_000 }).catch(() => assert.deepEqual(differences, []));
    const problems = (await verifyBooks(sql())).flatMap((each) => each.problems);
    assert.deepEqual(problems, []);
  }

  it('become lots, and everything that was done with them is spent', async () => {
    await isComputed();
    for (const [name, lots] of Object.entries(LOTS)) assert.deepEqual(await lotsOf(idOf(name)), lots, name);
    const names = [...Object.keys(LOTS), 'swept'].sort();
    assert.deepEqual(names, Object.keys(older.payments).sort());
    const lost = 'select count(*) as n from lot_spends s where not exists (select from lots l where l.id = s.lot_id)';
    assert.equal(await countOf(lost), 0);
  });

  it('leave payments as they were, but for the one whose money was not final', async () => {
    for (const [name, id] of Object.entries(older.payments)) {
      const { status } = older.shown[id] as { status: string };
      const [row] = await sql()<{ status: string }[]>`select status from payments where id = ${id}`;
      assert.equal(row?.status, name === 'unfinal' ? 'succeeded' : status, name);
    }
  });

  it('are named once: late money keeps its names and amounts', async () => {
    const before = oldUnexpected();
    const now = await sql()<{ id: string; amount: string }[]>`
      select id, amount from strays where payment_id is not null order by id`;
    assert.deepEqual(
      now.map(({ id, amount }) => [id, amount]),
      before.map(({ id, amount }) => [id, String(amount)]).sort(([a = ''], [b = '']) => (a < b ? -1 : 1)),
    );
    const lateMoneyEvents = `select count(*) as n from events where type = 'payment.late_money'`;
    assert.equal(await countOf(lateMoneyEvents), before.length);
    // Money whose return has begun is paid for by floats, as it was promised. All other money pays for its own.
    const linked = `select count(*) as n from strays where payment_id is not null and lot_id is not null`;
    const own = before.filter(({ state }) => state === 'unclaimed');
    assert.equal(await countOf(linked), own.length);
  });

  it('are books that agree with the chain', async () => {
    await booksAgree();
  });

  it('are added to: money for an address that was over long ago is booked alone', async () => {
    const { sql: db } = upgraded.gateway.db;
    const [place] = await db<
      { address: Hex }[]
    >`select address from deposit_places where payment_id = ${idOf('swept')}`;
    assert.ok(place);
    assert.deepEqual(await lotsOf(idOf('swept')), []);
    const data = encodeFunctionData({ abi: TOKEN, functionName: 'transfer', args: [place.address, 2_000_000n] });
    await upgraded.send({ to: USDC.slice(USDC.lastIndexOf(':') + 1) as Hex, data });
    await until('it is swept', async () => (await lotsOf(idOf('swept'))).at(-1) === '2000000 swept direct overpaid');
    assert.equal((await lotsOf(idOf('swept')))[0], '10000000 swept direct paying');
    await booksAgree();
  });

  it('are not touched by a node of that version', async () => {
    const { gateway } = upgraded;
    const run = (statement: string) => command(gateway, async (tx) => void (await tx.unsafe(statement)));
    for (const statement of [
      `update payouts set amount = amount + 1`,
      `delete from payouts`,
      `insert into payouts select * from payouts`,
      `update deposits set arrived = arrived + 1, checked_block = 1, is_unfinished = true`,
      `update deposits set swept = swept + 1, is_stale = true`,
      `update deposits set told = told + 1`,
      `update deposit_strays set is_stale = true`,
      `insert into deposit_transfers select * from deposit_transfers`,
      `delete from deposit_transfers`,
    ]) {
      await assert.rejects(run(statement), /Money is kept in lots/, statement);
    }
    const name = `watch ${SANDBOX}`;
    // The lease would be free.
    const later = `now() + interval '1 year'`;
    const take = `insert into leases (name, holder, fencing, until) values ('${name}', 'old', 1, ${later})
      on conflict (name) do update set holder = excluded.holder, fencing = leases.fencing + 1, until = excluded.until
      where leases.until <= ${later} returning fencing`;
    await assert.rejects(run(take), /A newer version of Till leads this work/);
    // What it led when the migration ran, it leads no longer.
    const led = JSON.parse(older.tables.leases ?? '[]') as { name: string; fencing: number }[];
    for (const lease of led) {
      const rows = await sql()`select from leases where name = ${lease.name} and fencing = ${lease.fencing}`;
      assert.equal(rows.length, 0, lease.name);
    }
  });

  it('go on with addresses that a node of that version gives out', async () => {
    const { gateway } = upgraded;
    const headers = { 'api-key': older.apiKey, 'merchant-id': older.merchants.direct };
    const payload = { amount: { unit: 'iso4217/USD', value: '1000' }, referenceId: 'beside' };
    const created = await gateway.call({
      method: 'POST',
      url: '/v1/payments',
      headers: { ...headers, 'idempotency-key': freshKey() },
      payload,
    });
    const { paymentId } = created.json();
    await upgraded.connected.chain.check();
    const opened = await walletOn(gateway, headers).post(paymentId, 'address', { asset: USDC });
    assert.equal(opened.statusCode, 200, opened.body);
    await command(gateway, async (tx) => {
      await tx`delete from deposit_places where payment_id = ${paymentId}`;
      const [row] = await tx<{ commitment: string; network: string; address: string; mac: string }[]>`
        delete from deposits where payment_id = ${paymentId} returning commitment, network, address, mac`;
      assert.ok(row);
      // The statement of that version.
      await tx`
        insert into deposits (commitment, network, address, payment_id, asset, opened_at, mac)
        values (${row.commitment}, ${row.network}, ${row.address}, ${paymentId}, ${USDC}, now(), ${row.mac})`;
    });
    const address = opened.json().address.split(':')[2] as Hex;
    const data = encodeFunctionData({ abi: TOKEN, functionName: 'transfer', args: [address, 10_000_000n] });
    await upgraded.send({ to: USDC.slice(USDC.lastIndexOf(':') + 1) as Hex, data });
    await until('it is paid', async () => {
      const [row] = await sql()<{ status: string }[]>`select status from payments where id = ${paymentId}`;
      return row?.status === 'succeeded';
    });
  });

  it('leave once: orders of then end, and what is held goes out when its merchant has a destination', async () => {
    const { gateway } = upgraded;
    upgraded.run(startJobs(gateway, [...housekeepingJobs(gateway), ...payingOutJobs(gateway)]));
    const over = (table: string, id: string, state: string) =>
      until(
        `${id} is ${state}`,
        async () =>
          (await countOf(`select count(*) as n from ${table} where payment_id = '${id}' and state = '${state}'`)) === 1,
      );
    await over('outgoing', idOf('payoutSending'), 'paid');
    await over('refunds', idOf('refundSending'), 'refunded');
    await over('strays', idOf('returning'), 'returned');
    await over('strays', idOf('requested'), 'returned');
    const held = ['held', 'heldUnswept', 'heldTooMuch', 'heldLate', 'replaced'];
    const registered = await gateway.call({
      method: 'POST',
      url: `/v1/merchants/${older.merchants.held}/settlements/crypto`,
      headers: { 'api-key': older.apiKey, 'merchant-id': older.merchants.held, 'idempotency-key': freshKey() },
      payload: { settlements: [{ asset: USDC, destination: `${SANDBOX}:${SANDBOX_ACCOUNTS.merchant}` }] },
    });
    assert.equal(registered.statusCode, 201, registered.body);
    for (const name of held) await over('outgoing', idOf(name), 'paid');
    const twice = `select count(*) as n from (select from items where purpose in ('payout', 'refund', 'return') and state = 'paid'
      group by subject having count(*) > 1) doubled`;
    assert.equal(await countOf(twice), 0);
    const overspent = `select count(*) as n from lots l
      where l.net < (select sum(s.units) from lot_spends s where s.lot_id = l.id)`;
    assert.equal(await countOf(overspent), 0);
    await booksAgree();
  });
});
