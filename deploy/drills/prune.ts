import { pino } from 'pino';
import { addMerchants, HIGH_LIMITS, merchantId, openBeside, settle, startGateway } from '../../bench/gateway.ts';
import { loadPayments } from '../../bench/loader.ts';
import { countOld, pruneOld } from '../../src/actions/oversight/prune.ts';
import { systemWorld } from '../../src/runtime/system-world.ts';
import type { Reader } from '../../src/store/plumbing/database.ts';
import { REGISTRY } from '../../test/registry.ts';
import type { Drill, Step } from './drill.ts';

const MERCHANTS = 100;
const PAYMENTS = 1_000_000;
const SHORT_PAYMENTS = 20_000;
/** A transaction carries so many payments, and one payment in a hundred was once refused by the contract. */
const BATCH = 20;
const REFUSED_OF = 100;
/** The bytes of a batch of twenty payments, as hexadecimal digits. */
const BATCH_DIGITS = 12_000;
const KEPT_MS = 30 * 86_400_000;
/** A lock of the money paths is held for no longer. */
const MOST_MS = 100;

export const prune: Drill = {
  name: 'prune',
  title: 'A year: pruning many payments while others are created',
  missing: () => false,
  run: async ({ isShort, print }) => {
    const payments = isShort ? SHORT_PAYMENTS : PAYMENTS;
    const started = await startGateway({ ...HIGH_LIMITS, MAX_EVENT_LOOP_DELAY_MS: '0' });
    await addMerchants(started, MERCHANTS);
    const gateway = await started.restart(async (sql) => {
      await loadPayments(sql, { merchants: MERCHANTS, perMerchant: payments / MERCHANTS });
      await addSends(sql, payments);
    });
    const db = openBeside(gateway.databaseUrl.href);
    try {
      await settle(gateway);
      const deps = { db, world: systemWorld, registry: REGISTRY, log: pino({ level: 'silent' }) };
      const before = new Date(Date.now() - KEPT_MS);
      const counted = await timed(() => countOld(db.sql, before));
      print(`counted: ${JSON.stringify(counted.value)}`);
      const answers = await answersOf(gateway);
      const size = await sizeOf(db.sql);
      const creating = createUntilStopped(gateway);
      const pruned = await timed(() => pruneOld(deps, { before, actor: 'drill' }));
      const created = await creating.stop();
      const steps: Step[] = [
        { step: 'payments', result: payments.toLocaleString('en-US'), isGood: true },
        ...counted.value.map(({ what, rows, bytes }) => ({
          step: `--dry-run: ${what}`,
          result: `${rows.toLocaleString('en-US')} rows, ${megabytes(bytes)}; all counted in ${seconds(counted.ms)}`,
          isGood: rows > 0,
        })),
        ...pruned.value.map(({ what, rows, pages, longestMs, tookMs }, index) => ({
          step: what,
          result: `${rows.toLocaleString('en-US')} rows in ${pages} transactions, the longest ${longestMs} ms, ${seconds(tookMs)}`,
          isGood: rows === counted.value[index]?.rows,
        })),
        {
          step: 'payments created meanwhile',
          result: `${created.count}, ${created.failed} failed, the slowest ${Math.round(created.slowestMs)} ms`,
          isGood: created.count > 0 && created.failed === 0,
        },
        {
          step: 'no transaction longer than 100 ms',
          result: `${Math.max(...pruned.value.map(({ longestMs }) => longestMs))} ms`,
          // The short form runs beside other tests, and its time says more of them than of pruning.
          isGood: isShort ? undefined : pruned.value.every(({ longestMs }) => longestMs <= MOST_MS),
        },
        {
          step: 'lists of the past',
          result: 'compared before and after',
          isGood: answers === (await answersOf(gateway)),
        },
        {
          step: 'size of the signed transactions, after vacuum full',
          result: `${megabytes(size)} before, ${megabytes(await sizeOf(db.sql, { isVacuumed: true }))} after`,
          isGood: true,
        },
      ];
      return steps;
    } finally {
      await db.close();
      await gateway.stop();
    }
  },
};

/** Transactions, and events by which the contract refused, for payments that a loader wrote. */
async function addSends(sql: Reader, payments: number): Promise<void> {
  const sends = payments / BATCH;
  await sql`
    insert into relay_sends (network, signer, slot, kind, fencing, created_at, state, final_hash)
    select 'eip155:31337', '0xDrill', n, 'batch', 1, now() - (${sends} - n) * interval '100 days' / ${sends}, 'final', '0x' || n
    from generate_series(0, ${sends - 1}::int) n`;
  await sql`
    insert into relay_versions (hash, network, signer, slot, bytes, price, terms, cost, created_at)
    select '0x' || slot, network, signer, slot,
      '0x' || (select string_agg(md5(slot::text || i), '') from generate_series(1, ${BATCH_DIGITS / 32}::int) i), 1, '{}', 1, created_at
    from relay_sends`;
  await sql`
    insert into chain_events
      (network, transaction_hash, log_index, block_number, block_hash, commitment, type, fields, decided_at)
    select 'eip155:31337', '0x' || n / ${BATCH}, n % ${BATCH}, n / ${BATCH}, '0x', '0x' || md5(n::text),
      case when n % ${REFUSED_OF} = 0 then 'refused' else 'paid' end, '{}',
      now() - (${payments} - n) * interval '100 days' / ${payments}
    from generate_series(0, ${payments - 1}::int) n`;
  await sql.unsafe('vacuum (analyze) sends, relay_versions, chain_events');
}

type Gateway = Awaited<ReturnType<typeof startGateway>>;

/** The first pages of some merchants, for payments that are older than this run. */
async function answersOf({ port, apiKey }: Gateway): Promise<string> {
  const texts: string[] = [];
  for (let number = 2; number <= 5; number += 1) {
    for (const query of ['limit=50&status=succeeded', 'limit=50&status=expired', 'limit=1']) {
      const answer = await fetch(`http://127.0.0.1:${port}/v1/merchants/payments?${query}`, {
        headers: { 'Api-Key': apiKey, 'Merchant-Id': merchantId(number) },
      });
      if (answer.status !== 200) throw new Error(`A list was answered ${answer.status}: ${await answer.text()}`);
      texts.push(await answer.text());
    }
  }
  return texts.join('\n');
}

/** Payments of the first merchant, one after the other. */
function createUntilStopped({ port, apiKey }: Gateway) {
  let isStopped = false;
  const figures = { count: 0, failed: 0, slowestMs: 0 };
  const work = async () => {
    while (!isStopped) {
      const fromMs = performance.now();
      const answer = await fetch(`http://127.0.0.1:${port}/v1/payments`, {
        method: 'POST',
        headers: {
          'Api-Key': apiKey,
          'Merchant-Id': merchantId(1),
          'Content-Type': 'application/json',
          'Idempotency-Key': `drill-${figures.count}`,
        },
        body: JSON.stringify({ amount: { unit: 'iso4217/USD', value: '1000' }, referenceId: `DRILL-${figures.count}` }),
      });
      await answer.text();
      figures.count += 1;
      if (answer.status !== 200 && answer.status !== 201) figures.failed += 1;
      figures.slowestMs = Math.max(figures.slowestMs, performance.now() - fromMs);
    }
  };
  const working = work();
  return {
    async stop() {
      isStopped = true;
      await working;
      return figures;
    },
  };
}

async function sizeOf(sql: Reader, { isVacuumed = false } = {}): Promise<number> {
  if (isVacuumed) await sql.unsafe('vacuum full relay_versions');
  const [row] = await sql<{ size: number }[]>`select pg_total_relation_size('relay_versions')::float8 as size`;
  return row?.size ?? 0;
}

async function timed<T>(work: () => Promise<T>): Promise<{ readonly value: T; readonly ms: number }> {
  const fromMs = performance.now();
  const value = await work();
  return { value, ms: performance.now() - fromMs };
}

const megabytes = (bytes: number) => `${(bytes / 1_048_576).toFixed(0)} MB`;
const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
