import type { Asked, DatabaseFacts } from '../../../domain/doctor/facts.ts';
import type { Reader } from '../../../store/plumbing/database.ts';
import {
  findOldestTransaction,
  listSlowStatements,
  listTableStates,
  readReplication,
  readSchemaParts,
  readServerState,
} from '../../../store/plumbing/database-state.ts';

export type Read = <T>(work: (sql: Reader) => Promise<T>) => Promise<Asked<T>>;

const TABLES = 5;
const STATEMENTS = 5;
const STATISTICS = 'pg_stat_statements';

/**
 * Reads the facts about the database. Each part is read by a separate query, because a database role may be allowed to read only some
 * parts.
 */
export async function examineDatabase(read: Read, nowMs: number): Promise<DatabaseFacts> {
  const [server, oldestTransaction, tables, parts, replication] = await Promise.all([
    read(readServerState),
    read(async (sql) => (await findOldestTransaction(sql)) ?? null),
    read((sql) => listTableStates(sql, TABLES)),
    read(readSchemaParts),
    read(readReplication),
  ]);
  const hasStatistics = 'known' in parts && parts.known.extensions.some(({ name }) => name === STATISTICS);
  const slow = hasStatistics ? await read((sql) => listSlowStatements(sql, STATEMENTS)) : { known: null };
  return { server, oldestTransaction, tables, parts, slow, replication, nowMs };
}
