import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { verifyBooks } from '../../src/actions/books/verify-books.ts';
import { command } from '../../src/actions/command.ts';
import { putChecked, searchPlace } from '../../src/store/chain/deposit-places.ts';
import { findDepositProgress, isPaidInto, sumCounting } from '../../src/store/chain/deposit-progress.ts';
import {
  deleteMovements,
  deleteMovementsAbove,
  deleteResidual,
  type MovementRow,
  movementColumns,
  proveMovements,
  putMovements,
  putResidual,
  type ReadMovement,
  readMovement,
  type StoredMovement,
} from '../../src/store/chain/movements.ts';
import {
  findWrongCheckpoints,
  isCheckpointDue,
  listMovedAssets,
  listProvedMovements,
  putCheckpoint,
  sumMovements,
} from '../../src/store/chain/place-checkpoints.ts';
import type { Tx } from '../../src/store/plumbing/database.ts';
import { IS_LONG } from '../long.ts';
import { type CountedSweep, walkDust } from '../money/walk-dust.ts';
import { until } from '../until.ts';
import { DOLLAR, openRefundScene, type RefundScene, TETHER } from './refund-scene.ts';

const ELSEWHERE = 'eip155:8453';
const LIMITS = { [DOLLAR]: 100n, [TETHER]: 50n };
const SECOND_MS = 1_000;

/** An act on the movements of an address. Numbers choose among what there is. */
type Act =
  | { readonly is: 'arrive' | 'find'; readonly units: number; readonly which: number }
  | {
      readonly is: 'prove' | 'refute' | 'reorg' | 'mine again' | 'surplus' | 'loss' | 'explain' | 'sweep';
      readonly which: number;
    }
  | { readonly is: 'limits'; readonly units: number };

const which = fc.nat(1_000);
const units = fc.oneof({ weight: 6, arbitrary: fc.integer({ min: 1, max: 40 }) }, fc.integer({ min: 90, max: 300 }));
const one = <Name extends Act['is']>(...is: Name[]) => fc.record({ is: fc.constantFrom(...is), which });
const acts: fc.Arbitrary<Act> = fc.oneof(
  { weight: 10, arbitrary: fc.record({ is: fc.constant('arrive' as const), units, which }) },
  { weight: 8, arbitrary: one('prove') },
  { weight: 2, arbitrary: one('sweep') },
  { weight: 1, arbitrary: fc.record({ is: fc.constant('find' as const), units, which }) },
  { weight: 3, arbitrary: one('refute', 'reorg', 'mine again', 'surplus', 'loss', 'explain') },
  { weight: 1, arbitrary: fc.record({ is: fc.constant('limits' as const), units }) },
);

describe('checkpoints of deposit addresses', () => {
  let scene: RefundScene;
  let deposit: Awaited<ReturnType<RefundScene['deposit']>>;
  before(async () => {
    scene = await openRefundScene();
    deposit = await scene.deposit({ amount: 150n });
    const { id: paymentId, commitment, address } = deposit;
    const place = { network: ELSEWHERE, commitment, address, paymentId, mac: undefined };
    await command(scene, (tx, at) => searchPlace(tx, place, at));
  });
  after(() => scene.close());
  const clear = () =>
    command(scene, async (tx) => {
      await tx`delete from movements`;
      await tx`delete from chain_events`;
    });
  afterEach(clear);

  const placeOn = (network: string) => ({
    ...{ network, commitment: deposit.commitment, address: deposit.address, paymentId: deposit.id },
  });

  /** Adds up all that is proved, as the check of an address does. */
  async function check(tx: Tx, network: string, limits = LIMITS, count = 1): Promise<void> {
    const place = placeOn(network);
    await putChecked(tx, place, { block: 1, at: new Date(scene.nowMs()) });
    if (await isCheckpointDue(tx, place, count)) await putCheckpoint(tx, place, limits);
  }

  let made = 0;
  function movementOf(block: number, more: Partial<ReadMovement> = {}): ReadMovement {
    made += 1;
    const { commitment, id: paymentId, sender } = deposit;
    return {
      ...{ transactionHash: `0x${made}`, logIndex: made, blockNumber: block, blockHash: `0x${block}` },
      // The deadline is between the blocks.
      at: new Date((deposit.item.deadlineS + block - 20) * SECOND_MS),
      ...{ commitment, paymentId, asset: DOLLAR, sender, amount: '1', isScreened: false, ...more },
    };
  }

  async function storedOf(): Promise<StoredMovement[]> {
    const rows = await scene.db.sql<MovementRow[]>`
      select ${movementColumns(scene.db.sql)} from movements order by at, network, block_number, log_index, asset`;
    return rows.map(readMovement);
  }
  const decidedSweeps = () => scene.db.sql<CountedSweep[]>`
    select network, fields ->> 'asset' as asset, block_number::int as "blockNumber", log_index as "logIndex"
    from chain_events where decided_at is not null`;
  /** Decides the stored sweeps of a network, and stores another one. */
  async function sweep(tx: Tx, network: string, head: number, number: number): Promise<void> {
    made += 1;
    const fields = { asset: number % 5 === 0 ? TETHER : DOLLAR };
    await tx`update chain_events set decided_at = now() where network = ${network}`;
    await tx`
      insert into chain_events (network, transaction_hash, log_index, block_number, block_hash, commitment, type, fields, decided_at)
      values (${network}, ${`0x${made}`}, ${made}, ${1 + (number % head)}, '', ${deposit.commitment}, 'swept', ${tx.json(fields)},
        ${number % 3 === 0 ? null : new Date()})`;
  }
  const deadline = () => new Date(deposit.item.deadlineS * SECOND_MS);

  /** All reads, compared with a walk over every movement. */
  async function assertSums(limits: Record<string, bigint>): Promise<void> {
    const { sql } = scene.db;
    const all = await storedOf();
    const proved = all.filter(({ isProved }) => isProved);
    const byName = (a: { transactionHash: string }, b: { transactionHash: string }) =>
      a.transactionHash < b.transactionHash ? -1 : 1;
    const listed = await listProvedMovements(sql, deposit.id, limits);
    assert.deepEqual(
      listed
        .map(({ transactionHash, first, amount }) => ({
          transactionHash,
          first: BigInt(first),
          amount: BigInt(amount),
        }))
        .sort(byName),
      walkDust(proved, limits, deadline(), await decidedSweeps()).sort(byName),
    );
    assert.deepEqual(
      listed,
      listed.toSorted((a, b) => a.at.getTime() - b.at.getTime()),
    );
    const assets = await listMovedAssets(sql, deposit.id);
    for (const { asset } of proved) assert.ok(assets.includes(asset));
    // Lost money is not there.
    const total = (some: readonly StoredMovement[]) =>
      some.reduce((sum, { amount, source }) => sum + (source === 'loss' ? -BigInt(amount) : BigInt(amount)), 0n);
    for (const network of [scene.network, ELSEWHERE]) {
      const own = all.filter((each) => each.network === network);
      for (const upTo of [0, 7, 15, 30, 1_000]) {
        const sums = await sumMovements(sql, { network, commitment: deposit.commitment, upTo });
        for (const asset of [DOLLAR, TETHER]) {
          const logged = own.filter(
            (each) => each.asset === asset && each.source === 'log' && each.blockNumber <= upTo,
          );
          assert.equal(sums.get(asset) ?? 0n, total(logged));
        }
      }
      for (const asset of [DOLLAR, TETHER]) {
        const ask = { network, commitment: deposit.commitment, asset, deadline: deadline() };
        const counting = own.filter((each) => each.asset === asset && !each.isScreened && each.at <= deadline());
        assert.equal(await sumCounting(sql, ask), total(counting));
        const { arrived } = await findDepositProgress(sql, { ...ask, asked: '100' });
        assert.equal(arrived, total(counting) < 0n ? 0n : total(counting));
        const isAsked = network === scene.network && asset === DOLLAR;
        const isEnough = total(counting) >= deposit.item.amount;
        if (isAsked) assert.equal(await isPaidInto(sql, deposit.id), isEnough);
      }
      assert.deepEqual(await findWrongCheckpoints(sql, network, 10), []);
    }
  }

  it('give the same movements and sums as a walk over all of them, whatever comes, goes and changes', async () => {
    let checkpoints = 0;
    const property = fc.asyncProperty(fc.array(acts, { minLength: 12, maxLength: 40 }), async (sequence) => {
      await clear();
      let limits: Record<string, bigint> = LIMITS;
      let head = 1;
      for (const act of sequence) {
        const network = 'which' in act && act.which % 4 === 0 ? ELSEWHERE : scene.network;
        const own = (await storedOf()).filter((each) => each.network === network);
        const chosen = 'which' in act ? own[act.which % Math.max(1, own.length)] : undefined;
        const about = { network, commitment: deposit.commitment, asset: DOLLAR };
        const residual = { ...movementOf(head), ...about, amount: `${head}` };
        await command(scene, async (tx) => {
          if (act.is === 'arrive' || act.is === 'find') {
            if (act.is === 'arrive') head += act.which % 3;
            const block = act.is === 'arrive' ? head : 1 + (act.which % head);
            const asset = act.which % 5 === 0 ? TETHER : DOLLAR;
            const more = { asset, amount: `${act.units}`, isScreened: act.which % 7 === 0 };
            await putMovements(tx, network, [movementOf(block, more)]);
          }
          if (act.is === 'prove') {
            const some = own.filter((_, index) => act.which % 3 > 0 || index % 2 === 0);
            await proveMovements(tx, network, some);
            await check(tx, network, limits as typeof LIMITS, 1 + (act.which % 4));
          }
          if (act.is === 'refute' && chosen) await deleteMovements(tx, network, [chosen]);
          if (act.is === 'reorg') {
            head = Math.max(1, head - (act.which % 12));
            await deleteMovementsAbove(tx, network, head);
            await tx`delete from chain_events where network = ${network} and block_number > ${head}`;
          }
          if (act.is === 'sweep') await sweep(tx, network, head, act.which);
          if (act.is === 'mine again' && chosen?.source === 'log') {
            const { blockNumber, blockHash, at } = movementOf(1 + (act.which % head));
            await putMovements(tx, network, [{ ...chosen, blockNumber, at, blockHash: `${blockHash} again` }]);
          }
          if (act.is === 'surplus') await putResidual(tx, { ...residual, source: 'balance' });
          if (act.is === 'loss') await putResidual(tx, { ...residual, source: 'loss' });
          if (act.is === 'explain') await deleteResidual(tx, about);
          if (act.is === 'limits') limits = { ...LIMITS, [DOLLAR]: BigInt(act.units) };
        });
        await assertSums(limits);
        checkpoints += (await scene.db.sql`select from place_checkpoints`).length;
      }
    });
    await fc.assert(property, { numRuns: IS_LONG ? 200 : 10, endOnFailure: true });
    assert.ok(checkpoints > 20, `${checkpoints} acts with a checkpoint`);
  });

  async function proveAll(): Promise<void> {
    await command(scene, async (tx) => {
      await proveMovements(tx, scene.network, await storedOf());
      await check(tx, scene.network);
    });
  }
  async function arrive(...movements: readonly ReadMovement[]): Promise<void> {
    await command(scene, (tx) => putMovements(tx, scene.network, movements));
  }
  const stored = () => scene.db.sql`select from place_checkpoints`;

  it('go with the movements that a reorganisation deeper than final depth removes', async () => {
    await arrive(movementOf(5), movementOf(6), movementOf(7));
    await proveAll();
    assert.equal((await stored()).length, 1);
    await command(scene, (tx) => deleteMovementsAbove(tx, scene.network, 7));
    assert.equal((await stored()).length, 1, 'nothing of it is gone');
    await command(scene, (tx) => deleteMovementsAbove(tx, scene.network, 6));
    assert.equal((await stored()).length, 0);
    const [dust, ...others] = await listProvedMovements(scene.db.sql, deposit.id, LIMITS);
    assert.deepEqual([dust?.amount, others], ['2', []]);
  });

  it('stay while blocks are read again, and later transfers come and are proved', async () => {
    const known = [movementOf(5), movementOf(6)];
    await arrive(...known);
    await proveAll();
    await arrive(...known, movementOf(7));
    assert.equal((await stored()).length, 1);
    await command(scene, async (tx) => proveMovements(tx, scene.network, await storedOf()));
    assert.equal((await stored()).length, 0, 'a change of a contained movement ends them');
    await command(scene, (tx) => check(tx, scene.network));
    await arrive(movementOf(8));
    const last = (await storedOf()).slice(-1);
    await command(scene, (tx) => proveMovements(tx, scene.network, last));
    assert.equal((await stored()).length, 1);
    await assertSums(LIMITS);
  });

  it('can be thrown away', async () => {
    await arrive(movementOf(5), movementOf(6));
    await proveAll();
    const before = await listProvedMovements(scene.db.sql, deposit.id, LIMITS);
    await command(scene, (tx) => tx`delete from place_checkpoints`);
    assert.deepEqual(await listProvedMovements(scene.db.sql, deposit.id, LIMITS), before);
  });

  it('miss no transfer that another transaction is storing at that moment', async () => {
    await arrive(movementOf(5), movementOf(9));
    await command(scene, async (tx) => proveMovements(tx, scene.network, await storedOf()));
    const commit = Promise.withResolvers<void>();
    const isStored = Promise.withResolvers<void>();
    // A rebuild finds a transfer of an earlier block.
    const storing = command(scene, async (tx) => {
      await putMovements(tx, scene.network, [movementOf(7)]);
      isStored.resolve();
      await commit.promise;
    });
    await isStored.promise;
    let isChecked = false;
    const checking = command(scene, (tx) => check(tx, scene.network)).then(() => {
      isChecked = true;
    });
    await until('the check waits, or is over', async () => {
      const waiting = await scene.db.sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return isChecked || waiting.length > 0;
    });
    commit.resolve();
    await Promise.all([storing, checking]);
    assert.deepEqual(await findWrongCheckpoints(scene.db.sql, scene.network, 10), []);
    const ask = { network: scene.network, commitment: deposit.commitment, upTo: 10 };
    assert.equal((await sumMovements(scene.db.sql, ask)).get(DOLLAR), 3n);
  });

  it('are named by the check of the books if they are not the sum of their movements', async () => {
    const node = await scene.newNode();
    const { address, id, commitment, send } = await scene.deposit();
    send(1_000n);
    await scene.live(node, 4);
    const place = { network: scene.network, commitment, address, paymentId: id };
    await command(scene, (tx) => putCheckpoint(tx, place, LIMITS));
    const problems = async () => (await verifyBooks(scene.db.sql)).flatMap((report) => report.problems);
    assert.deepEqual(await problems(), []);
    await command(
      scene,
      (tx) => tx`
        update place_checkpoints set sums = jsonb_set(sums, '{0,units}', '"1001"') where commitment = ${commitment}`,
    );
    const expected = `The checkpoint of the deposit address ${address} of ${id} is not the sum of its transfers.`;
    assert.deepEqual(await problems(), [expected]);
    await command(scene, (tx) => tx`delete from place_checkpoints`);
  });
});
