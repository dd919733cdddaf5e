import { runbookOf } from '../../../domain/alert.ts';
import type {
  Asked,
  CertificateFacts,
  DatabaseFacts,
  DatabaseOutage,
  Gathered,
  PublicUrlFacts,
  SchemaFacts,
} from '../../../domain/doctor/facts.ts';
import { createFollowedClock, type FollowedClock } from '../../../runtime/followed-clock.ts';
import type { World } from '../../../runtime/world.ts';
import { listAlerts } from '../../../store/plumbing/alerts.ts';
import type { Database, Reader } from '../../../store/plumbing/database.ts';
import { migrationState, SchemaMismatchError } from '../../../store/plumbing/migrate.ts';
import { listReceiptKeys } from '../../../store/plumbing/receipt-keys.ts';
import { readDatabaseTime } from '../../../store/plumbing/sandbox-clock.ts';
import { askWithin, reasonOf, strikeReasons } from './ask-within.ts';
import { examineAccounts } from './examine-accounts.ts';
import { examineDatabase, type Read } from './examine-database.ts';
import type { ExamineDeps } from './examine-deps.ts';
import { examineDisks } from './examine-disks.ts';
import { type AskedNetwork, askNetworks, clocksOf, networksOf } from './examine-networks.ts';
import { examineLeases, examineNodes, examineSecret, examineWebhooks } from './examine-nodes.ts';
import { examineReplica } from './examine-replica.ts';

/** The time limit for the connection to the database, including the first query. */
const CONNECT_WITHIN_MS = 8_000;
const READ_WITHIN_MS = 8_000;
/** The time limit for questions to chains and URLs. Longer than an endpoint may take to answer. */
const CHAIN_WITHIN_MS = 20_000;
/** The number of readings of the database's clock. The reading with the shortest round trip counts. */
const CLOCK_READINGS = 3;

/**
 * Asks everything that a person in support would ask, and changes nothing. Each question has a time limit, and an unanswered question
 * does not stop the other questions.
 */
export async function examine(deps: ExamineDeps): Promise<Gathered> {
  const { timers } = deps.world;
  const asking = askNetworks(deps).catch(unknownBecause);
  const certificates = deps.certificates.map(async ({ what, read }) => ({
    what,
    certificate: await askWithin(timers, CHAIN_WITHIN_MS, read),
  }));
  const clock = createFollowedClock(deps.world.clock);
  const opened = await openWithin(deps, clock);
  try {
    const gathered = await gather(deps, { opened, clock, asking, certificates: Promise.all(certificates) });
    return strikeReasons(gathered, deps.strike);
  } finally {
    if ('known' in opened) await opened.known.close();
  }
}

interface Begun {
  readonly opened: Asked<Database>;
  /** The clock of the database, or of this machine if the database is out of reach. */
  readonly clock: FollowedClock;
  readonly asking: Promise<Asked<readonly AskedNetwork[]>>;
  readonly certificates: Promise<readonly Omit<CertificateFacts, 'nowMs'>[]>;
}

async function gather(deps: ExamineDeps, { opened, clock, asking, certificates }: Begun): Promise<Gathered> {
  const { timers } = deps.world;
  const nowMs = clock.nowMs();
  const onDatabase = <T>(work: (db: Database) => Promise<T>, withinMs = READ_WITHIN_MS): Promise<Asked<T>> =>
    'known' in opened
      ? askWithin(timers, withinMs, () => work(opened.known))
      : Promise.resolve({ unknown: 'the database is out of reach' });
  const read = <T>(work: (sql: Reader) => Promise<T>) => onDatabase(({ sql }) => work(sql));

  const database: Promise<Asked<DatabaseFacts | DatabaseOutage>> =
    'known' in opened
      ? examineDatabase(read, nowMs).then((known) => ({ known }))
      : Promise.resolve({ known: { outage: opened.unknown } });
  const offMs: Asked<number> =
    'known' in opened
      ? { known: deps.world.clock.nowMs() - clock.nowMs() }
      : { unknown: 'the database is out of reach' };
  const networks = asking.then((asked) => networksOf(asked, { read, offMs }));
  const asked = {
    database,
    replica: examineReplica(deps, read),
    schema: read(examineSchema),
    secret: read((sql) => examineSecret(sql, { secretIds: deps.secretIds, nowMs })),
    nodes: read((sql) => examineNodes(sql, { roles: deps.roles, nowMs })),
    leases: read((sql) => examineLeases(sql, { chains: deps.chains, nowMs })),
    clocks: networks.then((answer) => clocksOf(answer, offMs)),
    networks,
    accounts: onDatabase((db) => examineAccounts(deps, { db, clock }), CHAIN_WITHIN_MS),
    alerts: read(async (sql) => (await listAlerts(sql)).map((alert) => ({ ...alert, runbook: runbookOf(alert.name) }))),
    webhooks: read(examineWebhooks),
    disk: database.then((answer) => examineDisks(deps, answer)),
    publicUrl: askPublicUrl(deps, read),
    certificates: certificates.then((list): Gathered['certificates'] => {
      return { known: list.map((each) => ({ ...each, nowMs })) };
    }),
  };
  return { program: { known: deps.program }, settings: { known: deps.settings }, ...(await everything(asked)) };
}

/**
 * Asks which gateway answers at the public URL. The page with the receipt keys shows it, because no two gateways have a key in common.
 */
async function askPublicUrl({ world, publicUrl }: ExamineDeps, read: Read): Promise<Asked<PublicUrlFacts | null>> {
  if (publicUrl === null) return { known: null };
  const keys = await read(listReceiptKeys);
  if ('unknown' in keys) return keys;
  const isOurs = (text: string) => keys.known.some(({ publicKey }) => text.includes(publicKey));
  return askWithin(world.timers, CHAIN_WITHIN_MS, async () => {
    return { publicUrl: publicUrl.publicUrl, answer: await publicUrl.ask(isOurs) };
  });
}

/** Waits for all answers at once. */
async function everything<T extends Readonly<Record<string, Promise<unknown>>>>(
  asked: T,
): Promise<{ [Name in keyof T]: Awaited<T[Name]> }> {
  const answers = await Promise.all(
    Object.entries(asked).map(async ([name, answer]) => [name, await answer.catch(unknownBecause)] as const),
  );
  return Object.fromEntries(answers) as { [Name in keyof T]: Awaited<T[Name]> };
}

function unknownBecause(error: unknown): { readonly unknown: string } {
  return { unknown: reasonOf(error) };
}

async function openWithin({ world, openDatabase }: ExamineDeps, clock: FollowedClock): Promise<Asked<Database>> {
  let isLate = false;
  const asked = await askWithin(world.timers, CONNECT_WITHIN_MS, async () => {
    const db = await openDatabase();
    try {
      await readClock(world, db.sql, clock);
      if (isLate) throw new Error('too late');
      return db;
    } catch (error) {
      await db.close();
      throw error;
    }
  });
  isLate = true;
  return asked;
}

/** Sets `clock` to the time of the database. */
export async function readClock(
  { clock: own }: Pick<World, 'clock'>,
  sql: Reader,
  clock: FollowedClock,
): Promise<void> {
  for (let count = 0; count < CLOCK_READINGS; count += 1) {
    const askedAtMs = own.nowMs();
    const theirMs = await readDatabaseTime(sql);
    clock.take({ askedAtMs, answeredAtMs: own.nowMs(), theirMs });
  }
}

export async function examineSchema(sql: Reader): Promise<SchemaFacts> {
  try {
    return { ...(await migrationState(sql)), mismatch: null };
  } catch (error) {
    if (!(error instanceof SchemaMismatchError)) throw error;
    return { applied: [], missing: [], mismatch: error.message };
  }
}
