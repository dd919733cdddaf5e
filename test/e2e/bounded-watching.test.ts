import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { command } from '../../src/actions/command.ts';
import { RANGE } from '../../src/actions/watch/find-missed-event.ts';
import { watchOnce } from '../../src/actions/watch/watch-once.ts';
import type { ChainEvent, Witness } from '../../src/chains/chain-reader.ts';
import { newId } from '../../src/domain/ids.ts';
import { searchPlace } from '../../src/store/chain/deposit-places.ts';
import { findDepositProgress, isPaidInto } from '../../src/store/chain/deposit-progress.ts';
import { findDeposit } from '../../src/store/chain/deposits.ts';
import { listProvedMovements } from '../../src/store/chain/place-checkpoints.ts';
import { findLotsOf } from '../../src/store/money/lots.ts';
import { walkDust } from '../money/walk-dust.ts';
import { nodesOf, planOf } from '../query-plan.ts';
import { costOf } from '../rows-read.ts';
import { seeded } from '../simulation/seeded.ts';
import { headOf, spyOnStatements } from '../spied-statements.ts';
import { until } from '../until.ts';
import { DOLLAR, openRefundScene, type RefundScene, TETHER } from './refund-scene.ts';

type Deposit = Awaited<ReturnType<RefundScene['deposit']>>;

const DAY_MS = 86_400_000;
const EVERYTHING = { watching: { sweepFrom: () => 0n } };
/** Rows of others. A scan of a table of so many takes longer than an index, so that the planner avoids it. */
const OTHERS = 5_000;

/** The rows of `movements` that a round may read for an address. */
const MOST_ROWS = 40;
/** The statements about them in such a round. */
const MOST_STATEMENTS = 30;

/** Work that strangers and endpoints can cause. It must not grow by a transaction or a question for each of their acts. */
describe('the work of a watcher', () => {
  let scene: RefundScene;
  afterEach(() => scene.close());

  /** The beginnings of the statements that transactions send meanwhile. */
  async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
    const heads: string[] = [];
    const end = spyOnStatements(scene.db, (statement) => void heads.push(headOf(statement)));
    await work();
    end();
    return heads;
  }
  const countOf = (heads: readonly string[], part: string) => heads.filter((head) => head.includes(part)).length;

  /** Reports of transfers out of our account that one endpoint makes up, each in a transaction of its own. */
  async function forged(count: number): Promise<ChainEvent[]> {
    const { number, hash } = await scene.chain.reader.head();
    const collector = scene.chain.payerSide.collector();
    assert.ok(collector);
    return Array.from({ length: count }, (_, index) => ({
      type: 'paid',
      block: { number, hash },
      transactionHash: `0x${(index + 1).toString(16).padStart(64, 'f')}`,
      logIndex: 0,
      collector,
      commitment: `0x${(index + 1).toString(16).padStart(64, 'e')}`,
      subject: '5a'.repeat(16),
      payer: scene.intermediate,
      asset: DOLLAR,
      amount: 990n,
      fee: 0n,
      recipient: scene.payers.newAccount(),
    }));
  }

  it('deletes forty forged events by one statement', async () => {
    scene = await openRefundScene({ witnesses: 3 });
    const node = await scene.newNode();
    await node.turn();
    const events = await forged(40);
    scene.control.lie({ inventedEvents: events });
    scene.control.testify(0, { invented: events });
    scene.control.mine();
    await node.follow();
    const stored = () => scene.db.sql`select from chain_events where transaction_hash like '0xfff%'`;
    assert.equal((await stored()).length, 40);
    // From now on they are not read again, and are only judged.
    scene.control.beHonest();
    scene.control.mine();
    const heads = await statementsOf(() => node.watch());
    assert.equal((await stored()).length, 0);
    assert.equal(countOf(heads, 'delete from chain_events'), 1, heads.join('\n'));
  });

  it('decides events behind those about which the endpoints contradict each other, however many these are', async () => {
    scene = await openRefundScene({ witnesses: 2, watching: { mostPerRound: 1 } });
    const node = await scene.newNode();
    await node.turn();
    const victims = await Promise.all(Array.from({ length: 4 }, () => scene.accept()));
    scene.control.setPaused(DOLLAR);
    // One endpoint shows payments of items that nobody has carried out. They come before all others, and fill every round.
    const made = await forged(4);
    const events = made.map((event, index) => {
      const { item, commitment = '' } = victims[index] ?? {};
      const { collector = '', payer = '', asset = '', recipient = '', amount = 0n, fee = 0n } = item ?? {};
      return { ...event, collector, commitment, payer, asset, recipient, amount, fee } as ChainEvent;
    });
    scene.control.lie({ inventedEvents: events });
    scene.control.testify(0, { invented: events });
    scene.control.mine();
    await node.follow();
    scene.control.beHonest();
    const [stored] = await scene.db.sql`select count(*)::int as count from chain_events where decided_at is null`;
    assert.deepEqual(stored, { count: 4 });
    const { id } = await scene.accept({ method: 'permit2' });
    await node.turn(8);
    const [left] = await scene.db.sql`
      select count(*)::int as count from chain_events where transaction_hash like '0xfff%' and decided_at is null`;
    assert.deepEqual(left, { count: 4 }, 'the others still wait');
    assert.equal(await scene.status(id), 'succeeded');
  });

  it('decides a payment in the round that reads it, however many refusals of known items wait', async () => {
    scene = await openRefundScene({ watching: { mostPerRound: 2 } });
    const node = await scene.newNode();
    await node.turn();
    const known = await Promise.all(Array.from({ length: 12 }, () => scene.accept()));
    for (const { payer, item } of known) scene.control.setBalance(payer.address, item.asset, 0n);
    scene.control.relayAsStranger(known.map(({ signed }) => signed));
    scene.control.mine();
    await watchOnce(node.watchDeps, node.watcher);
    const refusals = async () => {
      const rows = await scene.db.sql`select from chain_events where type = 'refused' and decided_at is null`;
      return rows.length;
    };
    assert.equal(await refusals(), 8);
    const { id, signed } = await scene.accept({ method: 'permit2' });
    scene.control.relayAsStranger([signed]);
    scene.control.mine();
    await watchOnce(node.watchDeps, node.watcher);
    assert.equal(await scene.status(id), 'succeeded');
    assert.equal(await refusals(), 5, 'they have the rest of the round');
  });

  it('decides refusals and sweeps beside payments about which the endpoints contradict each other', async () => {
    scene = await openRefundScene({ witnesses: 2, watching: { mostPerRound: 2, sweepFrom: () => 0n } });
    const node = await scene.newNode();
    await node.turn();
    const victims = await Promise.all(Array.from({ length: 6 }, () => scene.accept()));
    scene.control.setPaused(DOLLAR);
    const made = await forged(6);
    const events = made.map((event, index) => {
      const { item, commitment = '' } = victims[index] ?? {};
      const { collector = '', payer = '', asset = '', recipient = '', amount = 0n, fee = 0n } = item ?? {};
      return { ...event, collector, commitment, payer, asset, recipient, amount, fee } as ChainEvent;
    });
    scene.control.lie({ inventedEvents: events });
    scene.control.testify(0, { invented: events });
    scene.control.mine();
    await node.follow();
    scene.control.beHonest();
    scene.control.relayAsStranger(victims.map(({ signed }) => signed));
    scene.control.mine();
    await node.turn(4);
    const open = await scene.db.sql`
      select type, count(*)::int as count from chain_events where decided_at is null group by type`;
    assert.deepEqual([...open], [{ type: 'paid', count: 6 }], 'the others are decided');
  });

  it('ends a signature and counts a deposit while two hundred claims of strangers wait', async () => {
    scene = await openRefundScene({ watching: { mostPerRound: 25 } });
    const node = await scene.newNode();
    await node.turn();
    const deadlineS = Math.floor(scene.nowMs() / 1_000) + 60;
    const lapsed = await scene.accept({ terms: { deadlineS } });
    scene.control.setBalance(lapsed.payer.address, lapsed.item.asset, 0n);
    const deposit = await scene.deposit();
    const claims = await Promise.all(
      Array.from({ length: 200 }, () => {
        const subject = newId('pay_', scene.nowMs(), scene.world.random.bytes(10));
        return scene.payers.payable('eip3009-vrs', { subject, amount: 1n, fee: 0n });
      }),
    );
    scene.pass(5 * 60_000);
    scene.control.mine();
    deposit.send(1_000n);
    scene.control.relayAsStranger(claims.map(({ signed }) => signed));
    scene.control.mine();
    for (let rounds = 0; rounds < 2; rounds += 1) await watchOnce(node.watchDeps, node.watcher);
    const [left] = await scene.db.sql`select count(*)::int as count from chain_events where decided_at is null`;
    assert.ok(Number(left?.count) >= 100, 'most of them still wait');
    assert.equal(await scene.status(lapsed.id), 'requires_action');
    assert.equal(await scene.status(deposit.id), 'succeeded');
  });

  it('delays no payment by sixty transactions of strangers, and asks about them at once', async () => {
    scene = await openRefundScene({ witnesses: 2 });
    const node = await scene.newNode();
    await node.turn();
    const { id } = await scene.accept();
    await node.relay();
    const strange = new Set<string>();
    for (let count = 0; count < 60; count += 1) {
      const subject = newId('pay_', scene.nowMs(), scene.world.random.bytes(10));
      const { signed } = await scene.payers.payable('eip3009-vrs', { subject, amount: 1n, fee: 0n });
      strange.add(scene.control.relayAsStranger([signed]));
    }
    scene.control.mine();
    // The second endpoint answers questions about them when the test says so.
    const gates = { receipt: Promise.withResolvers<void>(), transfers: Promise.withResolvers<void>() };
    const asked = { receipt: new Set<string>(), transfers: new Set<string>() };
    const held = async (question: keyof typeof gates, hash: string) => {
      if (!strange.has(hash)) return;
      asked[question].add(hash);
      await gates[question].promise;
    };
    const { witnesses } = scene.chain.reader;
    const slow = (witness: Witness): Witness => ({
      ...witness,
      receipt: (hash) => held('receipt', hash).then(() => witness.receipt(hash)),
      transfers: (hash) => held('transfers', hash).then(() => witness.transfers(hash)),
    });
    Object.assign(scene.chain.reader, {
      witnesses: () => witnesses().map((witness, index) => (index === 1 ? slow(witness) : witness)),
    });
    const round = node.watch();
    await until('the payment is decided', async () => (await scene.status(id)) === 'succeeded');
    await until('their receipts are asked for', async () => asked.receipt.size === 50);
    gates.receipt.resolve();
    await until('their transfers are asked for', async () => asked.transfers.size === 50);
    gates.transfers.resolve();
    await round;
    const open = async () => {
      const rows = await scene.db.sql`
        select from chain_events where transaction_hash = any(${[...strange]}::text[]) and decided_at is null`;
      return rows.length;
    };
    assert.equal(await open(), 10, 'the others wait for the next round');
    await node.watch();
    assert.equal(await open(), 0);
  });

  it('reads blocks once for all signatures whose nonces payers have used elsewhere', async () => {
    scene = await openRefundScene({ witnesses: 2 });
    const node = await scene.newNode();
    await node.turn();
    const accepted = await Promise.all(Array.from({ length: 6 }, () => scene.accept()));
    for (const { item } of accepted) scene.control.useAuthorizationElsewhere(item);
    scene.control.mine(3 * RANGE);
    await node.relay();
    await node.follow();
    const read: string[] = [];
    const { witnesses } = scene.chain.reader;
    const counted = (witness: Witness): Witness => ({
      ...witness,
      events: (from, to) => {
        read.push(`${from} ${to}`);
        return witness.events(from, to);
      },
    });
    Object.assign(scene.chain.reader, { witnesses: () => witnesses().map(counted) });
    await node.watch();
    for (const { id } of accepted) assert.equal(await scene.status(id), 'requires_action');
    assert.ok(new Set(read).size > 2, read.join(', '));
    assert.equal(read.length, 2 * new Set(read).size, `each range once from each endpoint: ${read.join(', ')}`);
  });

  it('applies the sweeps of thirty addresses by a stranger in two transactions', async () => {
    scene = await openRefundScene(EVERYTHING);
    const node = await scene.newNode();
    const deposits = await Promise.all(Array.from({ length: 30 }, () => scene.deposit()));
    for (const { send } of deposits) send(100n);
    await node.turn(2);
    for (const { item } of deposits) {
      scene.control.relayAsStranger([{ item, commitment: '', signature: '0x', hasCode: false }]);
    }
    scene.control.mine();
    const heads = await statementsOf(() => node.watch());
    const [decided] = await scene.db.sql`
      select count(*)::int as sweeps, count(distinct xmin::text)::int as transactions from chain_events
      where type = 'swept' and decided_at is not null`;
    assert.deepEqual(decided, { sweeps: 30, transactions: 2 });
    assert.equal(countOf(heads, 'update chain_events e set decided_at'), 2);
    assert.equal(countOf(heads, "update items i set state = 'paid'"), 2);
    const [swept] = await scene.db.sql`select count(*)::int as lots from lots where waiting = 0 and net > 0`;
    assert.deepEqual(swept, { lots: 30 }, 'the money of each payment is computed');
    assert.deepEqual(await scene.differences(), []);
  });

  it('adds thousands of dust transfers up in the database, as a walk over all of them would', async () => {
    scene = await openRefundScene({ watching: { toleranceBasisPoints: () => 0 } });
    const node = await scene.newNode();
    const { id, commitment, address, send } = await scene.deposit();
    send(1n);
    await scene.live(node, 2);
    const random = seeded(7);
    const dustBelow = { [DOLLAR]: 100n, [TETHER]: 50n };
    const { deadline } = (await findDeposit(scene.db.sql, { paymentId: id, asset: DOLLAR }))?.item ?? {};
    assert.ok(deadline);
    // One in five hundred is no dust. Blocks go from hours before the deadline to hours after it.
    const made = Array.from({ length: 5_000 }, (_, index) => ({
      network: random.chance(0.9) ? scene.network : 'eip155:8453',
      transactionHash: `0x${index}`,
      logIndex: random.below(1_000),
      blockNumber: 1_000 + index,
      at: new Date(deadline.getTime() + (index - 2_500) * 1_000),
      asset: random.chance(0.8) ? DOLLAR : TETHER,
      amount: random.chance(0.002) ? 1_000 : random.between(1, 40),
      isScreened: random.chance(0.1),
    }));
    await command(scene, async (tx, at) => {
      await searchPlace(tx, { network: 'eip155:8453', commitment, address, paymentId: id, mac: undefined }, at);
      await tx`delete from movements where payment_id = ${id}`;
      await tx`
        insert into movements (network, transaction_hash, log_index, block_number, block_hash, at, commitment, payment_id, asset,
          sender, amount, is_screened, is_proved)
        select m.network, m."transactionHash", m."logIndex", m."blockNumber", '', m.at, ${commitment}, ${id}, m.asset,
          'anybody', m.amount, m."isScreened", true
        from jsonb_to_recordset(${tx.json(made as never)}) as m(network text, "transactionHash" text, "logIndex" int,
          "blockNumber" bigint, at timestamptz, asset text, amount numeric, "isScreened" boolean)`;
    });
    const movements = made.map((each) => ({ ...each, commitment, amount: `${each.amount}`, source: 'log' as const }));
    const listed = await listProvedMovements(scene.db.sql, id, dustBelow);
    assert.deepEqual(
      listed.map(({ transactionHash, first, amount }) => ({
        transactionHash,
        first: BigInt(first),
        amount: BigInt(amount),
      })),
      walkDust(movements, dustBelow, deadline),
    );
    assert.ok(listed.length < 100, `the fold gets ${listed.length} facts`);
  });

  describe('for an address with dust', () => {
    /** Transfers of one unit to the address, in blocks that are final and were looked at. */
    async function addDust(deposit: Deposit, count: number): Promise<void> {
      const { id, commitment, address } = deposit;
      const other = await scene.deposit();
      const { number } = await scene.chain.reader.head();
      const nowMs = scene.nowMs();
      await command(scene, async (tx) => {
        // The other addresses have no rows of their own.
        await tx.unsafe('set local session_replication_role = replica');
        await tx`
          insert into movements (network, transaction_hash, log_index, block_number, block_hash, at, commitment, payment_id,
            asset, sender, amount, is_screened, is_proved)
          select ${scene.network}, '0x' || n, n, ${number} * n / ${count}::int, '', ${new Date(nowMs - 10_000)}::timestamptz
            + n * interval '1 ms', ${commitment}, ${id}, ${DOLLAR}, 'anybody', 1, false, true
          from generate_series(1, ${count}::int) n`;
        // Of other payments, so that a scan of the table takes longer than an index.
        await tx`
          insert into movements (network, transaction_hash, log_index, block_number, block_hash, at, commitment, payment_id,
            asset, sender, amount, is_screened, is_proved)
          select ${scene.network}, '0xother' || n, n, ${number}, '', ${new Date(nowMs)}, 'other' || n, ${other.id}, ${DOLLAR},
            'anybody', 1, false, true
          from generate_series(1, ${OTHERS}::int) n`;
      });
      await command(scene, (tx) => tx.unsafe('analyze movements'));
      scene.control.setBalance(address, DOLLAR, scene.control.balanceOf(address, DOLLAR) + BigInt(count));
    }

    /** With so much dust, what one more transfer costs, a look of the payer at the page, and the end of the payment. */
    async function costsAt(count: number) {
      scene = await openRefundScene();
      const node = await scene.newNode();
      const deposit = await scene.deposit({ amount: 1_000_000n });
      deposit.send(1n);
      await node.turn(2);
      await addDust(deposit, count);
      // The first look adds the dust up.
      for (let looks = 0; looks < 2; looks += 1) {
        deposit.send(1n);
        await node.turn(2);
      }
      const look = await costOf(scene.db, 'movements', async () => {
        deposit.send(1n);
        await node.turn();
      });
      const { commitment, item } = deposit;
      const asked = { commitment, network: scene.network, asset: DOLLAR, asked: '9' };
      const page = await costOf(scene.db, 'movements', async () => {
        await isPaidInto(scene.db.sql, deposit.id);
        await findDepositProgress(scene.db.sql, { ...asked, deadline: new Date(item.deadlineS * 1_000) });
      });
      const lots = await findLotsOf(scene.db.sql, [deposit.id]);
      const known = lots.reduce((sum, { amount }) => sum + amount, 0n);
      assert.equal(known, BigInt(count + 4));
      scene.pass(20 * 60_000);
      const end = await costOf(scene.db, 'movements', () => node.turn(2));
      assert.equal(await scene.status(deposit.id), 'expired');
      await scene.close();
      return { look, page, end };
    }

    it('reads as few transfers at 5,000 as at 500', async () => {
      const few = await costsAt(500);
      const many = await costsAt(5_000);
      for (const step of ['look', 'page', 'end'] as const) {
        const [some, more] = [few[step], many[step]];
        assert.ok(some.rows > 0 && some.rows <= MOST_ROWS, some.readers.join('\n'));
        assert.ok(more.rows <= MOST_ROWS, more.readers.join('\n'));
        assert.ok(more.statements <= MOST_STATEMENTS, `${more.statements} statements`);
      }
    });
  });

  it('remembers no address for longer than it is watched', async () => {
    scene = await openRefundScene();
    const node = await scene.newNode();
    const { byAddress } = node.watcher.memory.places;
    for (let count = 0; count < 3; count += 1) await scene.deposit();
    await node.turn();
    assert.equal(byAddress.size, 3);
    scene.pass(20 * DAY_MS);
    const { address } = await scene.deposit();
    await node.turn();
    assert.equal(byAddress.size, 4);
    scene.pass(11 * DAY_MS);
    await node.turn();
    assert.deepEqual([...byAddress.keys()], [address]);
    scene.pass(20 * DAY_MS);
    await node.turn();
    assert.equal(byAddress.size, 0);
  });

  const GROWING = ['payments', 'items', 'deposits', 'deposit_places', 'movements', 'chain_events', 'positions', 'lots'];

  it('reads no table from end to end when the chain reorganises', async () => {
    scene = await openRefundScene(EVERYTHING);
    const node = await scene.newNode();
    const { id, send } = await scene.deposit();
    send(1_000n);
    await scene.live(node, 4);
    await multiply();
    const { number } = await scene.chain.reader.head();
    scene.control.reorg(number - 1, { transactions: 'dropped', length: number });
    const scans: string[] = [];
    let sent = 0;
    const end = spyOnStatements(scene.db, async (statement, tx) => {
      sent += 1;
      for (const node of nodesOf(await planOf(tx, statement as ReturnType<typeof tx>))) {
        const table = node['Relation Name'] ?? '';
        if (node['Node Type'] === 'Seq Scan' && GROWING.includes(table)) scans.push(`${table}: ${headOf(statement)}`);
      }
    });
    await node.follow();
    end();
    const [row] = await scene.db.sql`select count(*)::int as count from movements where payment_id = ${id}`;
    assert.deepEqual(row, { count: 0 }, 'the reorganisation is applied');
    assert.ok(sent > 20, `${sent} statements`);
    assert.deepEqual(scans, []);
  });

  /** Copies every row of the growing tables, in blocks below those of the scene. */
  async function multiply(): Promise<void> {
    const { sql } = scene.db;
    const KEYS = ['id', 'payment_id', 'commitment', 'item', 'transaction_hash', 'subject', 'address'];
    await command(scene, async (tx) => {
      await tx.unsafe('set local session_replication_role = replica');
      for (const table of GROWING) {
        const columns = await sql<{ name: string }[]>`
          select column_name as name from information_schema.columns
          where table_name = ${table} and table_schema = current_schema() and is_generated = 'NEVER'
            and is_identity = 'NO'`;
        const value = (name: string) => {
          if (KEYS.includes(name)) return `t.${name} || '-' || n`;
          return name === 'block_number' ? '0' : `t.${name}`;
        };
        const names = columns.map(({ name }) => name);
        const { count } = await tx.unsafe(`
          insert into ${table} (${names.join(', ')})
          select ${names.map(value).join(', ')} from ${table} t, generate_series(1, ${OTHERS}) n`);
        assert.ok(count >= OTHERS, table);
      }
    });
    for (const table of GROWING) await command(scene, (tx) => tx.unsafe(`analyze ${table}`));
  }
});
