import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { systemWorld } from '../src/runtime/system-world.ts';
import { openDatabase, type Tx } from '../src/store/plumbing/database.ts';
import { createEmptyDatabase, type TestDatabase } from './database.ts';

/** The output of `scripts/make-upgrade-fixture.ts`: an older version, stopped in the middle of its work. */
export interface OlderState {
  readonly commit: string;
  readonly madeAtMs: number;
  readonly apiKey: string;
  readonly merchants: Readonly<Record<'direct' | 'held' | 'payingOut' | 'paidOut', string>>;
  /** Payments by their role in the test. */
  readonly payments: Readonly<Record<string, string>>;
  /** Payments as that version showed them. */
  readonly shown: Readonly<Record<string, object>>;
  /** The rows of every table, as JSON. */
  readonly tables: Readonly<Record<string, string>>;
  readonly chain: { readonly genesis: string; readonly journal: string };
}

/** Of d940b99: items of wallets. */
export interface OlderVersion extends OlderState {
  readonly payments: Readonly<Record<OverPayment | OpenPayment, string>>;
  readonly receipt: object;
  /** The requests that made the payments, by payment. */
  readonly retries: Readonly<Record<string, { merchant: string; key: string; payload: object }>>;
}

type OverPayment = 'succeeded' | 'paidOut' | 'refunded' | 'expired' | 'cancelled' | 'failed' | 'twoWays';
type OpenPayment =
  | ('open' | 'abandoned' | 'nativeToPay' | 'nativeUnpaid' | 'nativeWaiting' | 'due' | 'dueTether' | 'sent')
  | ('held' | 'payoutSending' | 'refundSending' | 'refundAwaiting');

const ROOT = join(import.meta.dirname, '..');

export async function readOlderVersion<State extends OlderState>(commit: string): Promise<State> {
  const bytes = await readFile(join(ROOT, 'test/fixtures', `upgrade-${commit}.json.gz`));
  return JSON.parse(gunzipSync(bytes).toString());
}

/** Its database, in the schema it had. */
export async function restoreDatabase({ tables }: OlderState): Promise<TestDatabase> {
  const database = await createEmptyDatabase();
  const db = openDatabase({ url: database.url, poolSize: 1, applicationName: 'till-test' });
  const applied = JSON.parse(tables.migrations ?? '[]') as { name: string }[];
  const load = async (tx: Tx) => {
    for (const { name } of applied) {
      const text = await readFile(join(ROOT, 'migrations', name), 'utf8');
      // An empty database has no payments that an index could hold up.
      await tx.unsafe(text.replaceAll(' concurrently ', ' '));
    }
    await tx.unsafe(MIGRATIONS);
    await tx.unsafe('set local session_replication_role = replica');
    for (const [table, rows] of Object.entries(tables)) {
      const [{ columns = '' } = {}] = await tx<{ columns: string }[]>`
        select string_agg(quote_ident(column_name), ', ') as columns from information_schema.columns
        where table_schema = 'public' and table_name = ${table} and is_generated = 'NEVER'`;
      const names = tx.unsafe(columns);
      await tx`
        insert into ${tx.unsafe(table)} (${names}) overriding system value
        select ${names} from json_populate_recordset(null::${tx.unsafe(table)}, ${rows}::text::json)`;
    }
    const counters = await tx<{ table: string; column: string }[]>`
      select table_name as "table", column_name as "column" from information_schema.columns
      where table_schema = 'public' and is_identity = 'YES'`;
    for (const { table, column } of counters) {
      const sequence = `pg_get_serial_sequence('${table}', '${column}')`;
      // Batches of events leave the outbox with their numbers.
      const used =
        table === 'outbox' && 'events' in tables
          ? `greatest(max(batch), (select max(batch) from events))`
          : `max(${column})`;
      await tx.unsafe(`select setval(${sequence}, (select coalesce(${used}, 0) + 1 from ${table}), false)`);
    }
  };
  await db.begin(systemWorld.random, load).finally(() => db.close());
  return database;
}

/** As every version makes it before its first migration. */
const MIGRATIONS = `create table migrations (
  id integer primary key, name text not null, sha256 text not null, applied_at timestamptz not null default now())`;

/** A folder with its chain. */
export async function restoreChain({ chain }: OlderState): Promise<{ dir: string; remove(): Promise<void> }> {
  const dir = await mkdtemp(join(tmpdir(), 'till-older-chain-'));
  await writeFile(join(dir, 'genesis.json'), chain.genesis);
  await writeFile(join(dir, 'journal'), chain.journal, 'latin1');
  return { dir, remove: () => rm(dir, { recursive: true, force: true }) };
}
