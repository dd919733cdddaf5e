import { isoText } from '../wait-words.ts';
import {
  bytesText,
  countText,
  type Fact,
  type Finding,
  fault,
  type Judged,
  remark,
  spanText,
  unknown,
  warning,
} from './diagnosis.ts';
import type {
  Asked,
  DatabaseFacts,
  DatabaseOutage,
  OldTransaction,
  Replication,
  SchemaParts,
  ServerState,
  SlowStatement,
  TableState,
} from './facts.ts';

const LEAST_VERSION = 150_000;
const CONNECTIONS_WARN = 0.8;
const CONNECTIONS_FAULT = 0.95;
/**
 * The age at which an open database transaction is a warning. Requests and jobs take seconds. A longer transaction keeps dead
 * rows in every table.
 */
const OLD_TRANSACTION_MS = 10 * 60_000;
const VERY_OLD_TRANSACTION_MS = 24 * 3_600_000;
/**
 * The transaction age at which the doctor warns. PostgreSQL freezes rows by itself from two hundred million on, and stops
 * accepting writes at two thousand million.
 */
const TRANSACTION_AGE_WARN = 500_000_000;
const TRANSACTION_AGE_FAULT = 1_500_000_000;
const DEAD_ROWS = 100_000;
const DEAD_SHARE = 0.5;
const SLOW_MS = 500;
const STANDBY_LAG_BYTES = 256 * 1024 ** 2;
const SLOT_BYTES = 10 * 1024 ** 3;
const LOAD_STATISTICS =
  'Add pg_stat_statements to shared_preload_libraries and restart the server; its role needs `pg_read_all_stats`.';
const NEEDED_EXTENSION = 'pg_trgm';

const NONE: Judged = { facts: [], findings: [] };

export function judgeDatabase(database: DatabaseFacts | DatabaseOutage): Judged {
  if ('outage' in database) {
    const remedy = 'See that the server runs, and that DATABASE_URL names it with the right user and password.';
    return { ...NONE, findings: [fault(`The database is out of reach: ${database.outage}.`, remedy)] };
  }
  const { nowMs } = database;
  const parts = [
    judged(database.server, 'The state of the server', judgeServer),
    judged(database.oldestTransaction, 'The oldest transaction', (oldest) => judgeTransaction(oldest, nowMs)),
    judged(database.tables, 'The size of the tables', judgeTables),
    judged(database.parts, 'The extensions and indexes', judgeParts),
    judged(database.slow, 'The slow statements', judgeSlow, LOAD_STATISTICS),
    judged(database.replication, 'The replication', judgeReplication),
  ];
  return { facts: parts.flatMap(({ facts }) => facts), findings: parts.flatMap(({ findings }) => findings) };
}

/** The judgement of one question. If the question has no answer, that is one finding, and the other questions are still judged. */
function judged<T>(
  asked: Asked<T>,
  what: string,
  judge: (known: T) => Judged,
  remedy = 'Ask again with a role that may read the statistics (`pg_monitor`).',
): Judged {
  if ('known' in asked) return judge(asked.known);
  const message = `${what} could not be read: ${asked.unknown}.`;
  return {
    ...NONE,
    findings: [unknown(message, remedy)],
  };
}

export function judgeServer(server: ServerState): Judged {
  const { connections, maxConnections, transactionAge } = server;
  const facts: Fact[] = [
    { name: 'PostgreSQL', value: `${server.version}, running since ${isoText(server.startedAt.getTime())}` },
    { name: 'role', value: server.isSuperuser ? `${server.role}, a superuser` : server.role },
    { name: 'size', value: bytesText(server.sizeBytes) },
    { name: 'connections', value: `${connections} of ${maxConnections}` },
    { name: 'transaction age', value: `${transactionAge.toLocaleString('en')} of 2,000,000,000` },
  ];
  return { facts, findings: [...serverFaults(server), ...serverLimits(server), ...serverRemarks(server)] };
}

function serverFaults(server: ServerState): Finding[] {
  return [...judgeUsable(server), ...unsafeServer(server)];
}

/** The faults because of which no gateway can use the server. */
export function judgeUsable(server: ServerState): Finding[] {
  const findings: Finding[] = [];
  if (server.versionNumber < LEAST_VERSION) {
    findings.push(fault(`PostgreSQL ${server.version} is too old.`, 'Upgrade the server to version 15 or newer.'));
  }
  if (server.isStandby) {
    const remedy = 'Name the primary in DATABASE_URL; it may name all hosts, and nodes find the primary among them.';
    findings.push(fault('The database is a standby, which takes no writes.', remedy));
  }
  return findings;
}

function unsafeServer(server: ServerState): Finding[] {
  const unsafe = [server.fsync ? [] : ['fsync'], server.fullPageWrites ? [] : ['full_page_writes']].flat();
  if (unsafe.length === 0) return [];
  const message = `${unsafe.join(' and ')} ${unsafe.length === 1 ? 'is' : 'are'} off: a crash of the server can lose or damage payments.`;
  return [fault(message, 'Switch it on in postgresql.conf, and reload the server.')];
}

function serverLimits({ connections, maxConnections, transactionAge }: ServerState): Finding[] {
  const findings: Finding[] = [];
  const share = connections / maxConnections;
  if (share >= CONNECTIONS_WARN) {
    const message = `${connections} of ${maxConnections} connections are in use.`;
    const remedy = 'Raise max_connections, lower DATABASE_POOL_SIZE, or put PgBouncer in front.';
    findings.push((share >= CONNECTIONS_FAULT ? fault : warning)(message, remedy));
  }
  if (transactionAge >= TRANSACTION_AGE_WARN) {
    const message = `The oldest row is ${transactionAge.toLocaleString('en')} transactions old. At 2,000,000,000 PostgreSQL stops taking writes.`;
    const remedy =
      'Run VACUUM (FREEZE), and end what holds it back: old transactions, unused slots, autovacuum that is off.';
    findings.push((transactionAge >= TRANSACTION_AGE_FAULT ? fault : warning)(message, remedy));
  }
  return findings;
}

function serverRemarks({ role, isSuperuser, seesAll }: ServerState): Finding[] {
  const findings: Finding[] = [];
  if (isSuperuser) {
    const message = `${role} is a superuser: whoever steals a node that uses this role can rewrite history.`;
    findings.push(remark(message, 'Use the roles of `till database roles`.'));
  }
  if (!seesAll) {
    const message = 'The role sees its own connections alone, so an old transaction of another role is not shown.';
    findings.push(
      remark(message, 'Grant pg_monitor to the role, or run this with DATABASE_URL of a role that has it.'),
    );
  }
  return findings;
}

function judgeTransaction(oldest: OldTransaction | null, nowMs: number): Judged {
  if (oldest === null) return { ...NONE, facts: [{ name: 'oldest transaction', value: 'none is open' }] };
  const ageMs = Math.max(0, nowMs - oldest.since.getTime());
  const value = `${spanText(ageMs)}, of "${oldest.application}", ${oldest.state}`;
  const facts = [{ name: 'oldest transaction', value }];
  if (ageMs < OLD_TRANSACTION_MS) return { facts, findings: [] };
  const message = `A transaction of "${oldest.application}" is open for ${spanText(ageMs)} (${oldest.state}): dead rows pile up in all tables.`;
  const remedy = 'Find it in pg_stat_activity, and end it with pg_terminate_backend.';
  return { facts, findings: [(ageMs < VERY_OLD_TRANSACTION_MS ? warning : fault)(message, remedy)] };
}

function judgeTables(tables: readonly TableState[]): Judged {
  const largest = tables.slice(0, 5).map(({ table, sizeBytes }) => `${table} ${bytesText(sizeBytes)}`);
  const bloated = tables.filter(({ deadRows, liveRows }) => deadRows >= DEAD_ROWS && deadRows >= DEAD_SHARE * liveRows);
  return {
    facts: [{ name: 'largest tables', value: largest.join(', ') }],
    findings: bloated.map(({ table, deadRows, liveRows, vacuumedAt }) => {
      const last = vacuumedAt === null ? 'never' : `last at ${isoText(vacuumedAt.getTime())}`;
      const message = `${table} has ${countText(deadRows, 'dead row')} beside ${countText(liveRows, 'live row')}; it was vacuumed ${last}.`;
      return warning(message, `Run VACUUM (ANALYZE) ${table}, and see that autovacuum is on.`);
    }),
  };
}

function judgeParts({ extensions, invalidIndexes }: SchemaParts): Judged {
  const facts = [{ name: 'extensions', value: extensions.map(({ name, version }) => `${name} ${version}`).join(', ') }];
  const findings: Finding[] = [];
  if (!extensions.some(({ name }) => name === NEEDED_EXTENSION)) {
    findings.push(
      fault(
        `The extension ${NEEDED_EXTENSION} is missing.`,
        `Run CREATE EXTENSION ${NEEDED_EXTENSION} in the database.`,
      ),
    );
  }
  if (invalidIndexes.length > 0) {
    const message = `The build of these indexes was interrupted: ${invalidIndexes.join(', ')}.`;
    findings.push(warning(message, 'Run REINDEX INDEX CONCURRENTLY for each.'));
  }
  return { facts, findings };
}

function judgeSlow(slow: readonly SlowStatement[] | null): Judged {
  if (slow === null) {
    const value = 'not known: the extension pg_stat_statements is not in the database';
    return { ...NONE, facts: [{ name: 'slow statements', value }] };
  }
  const facts = slow.map(({ text, calls, meanMs }, index) => ({
    name: index === 0 ? 'most time was taken by' : '',
    value: `${meanMs} ms × ${calls.toLocaleString('en')}: ${text}`,
  }));
  const late = slow.filter(({ meanMs }) => meanMs >= SLOW_MS);
  return {
    facts,
    findings: late.map(({ text, meanMs, calls }) =>
      warning(
        `A statement takes ${Math.round(meanMs)} ms on average, ${countText(calls, 'time')}: ${text}`,
        'Run ANALYZE; look at its plan with EXPLAIN; see whether the disk or another program keeps the server busy.',
      ),
    ),
  };
}

function judgeReplication({ standbys, slots, archiveFailedAt }: Replication): Judged {
  const standbyText = standbys.map(
    ({ name, state, sync, lagBytes }) =>
      `${name} ${state ?? 'not visible'} (${sync ?? 'not visible'}${lagBytes === null ? '' : `, ${bytesText(lagBytes)} behind`})`,
  );
  const findings: Finding[] = [];
  for (const { name, lagBytes } of standbys) {
    if (lagBytes === null || lagBytes < STANDBY_LAG_BYTES) continue;
    const message = `The standby ${name} is ${bytesText(lagBytes)} behind: a failover would lose it, or wait for it.`;
    findings.push(warning(message, 'Look at its disk and at the network between the servers.'));
  }
  for (const { name, isActive, keptBytes } of slots) {
    if (isActive || keptBytes === null) continue;
    const message = `Nobody reads the replication slot ${name}; the server keeps ${bytesText(keptBytes)} of its log for it, and more until the disk is full.`;
    const remedy = `Start its standby, or run pg_drop_replication_slot('${name}').`;
    findings.push((keptBytes >= SLOT_BYTES ? fault : warning)(message, remedy));
  }
  if (archiveFailedAt !== null) {
    const message = `The log of the server has not been archived since a failure at ${isoText(archiveFailedAt.getTime())}: a restore would lose what came later.`;
    findings.push(fault(message, 'Read the log of PostgreSQL for the error of archive_command.'));
  }
  return { facts: [{ name: 'standbys', value: standbyText.join('; ') || 'none' }], findings };
}
