import { askWithin } from '../../actions/oversight/doctor/ask-within.ts';
import { examineSchema, readClock } from '../../actions/oversight/doctor/examine.ts';
import { examineSecret } from '../../actions/oversight/doctor/examine-nodes.ts';
import { type Finding, fault } from '../../domain/doctor/diagnosis.ts';
import type { Asked } from '../../domain/doctor/facts.ts';
import { judgeDatabase, judgeServer, judgeUsable } from '../../domain/doctor/judge-database.ts';
import { judgeSchema, judgeSecret } from '../../domain/doctor/judge-gateway.ts';
import { judgeClocks } from '../../domain/doctor/judge-outside.ts';
import { judgeRights } from '../../domain/doctor/judge-set-up.ts';
import { createFollowedClock } from '../../runtime/followed-clock.ts';
import { MasterSecretError, openSecrets } from '../../settings/master-secret.ts';
import type { Database } from '../../store/plumbing/database.ts';
import { mayWrite, readRights, readServerState } from '../../store/plumbing/database-state.ts';
import { openForReading } from '../connect.ts';
import { type Check, type Checked, type CheckInput, checked, configOf, strikerOf } from './check.ts';
import { MAKE } from './question.ts';

/** The time limit for a check on the database, from the connection to the last answer. */
const WITHIN_MS = 10_000;

const URLS = ['DATABASE_URL', 'DATABASE_DIRECT_URL', 'DATABASE_MIGRATE_URL'] as const;

/** The URL of PostgreSQL itself. It differs from DATABASE_URL if that leads to a pooler. */
function serverOf({ answers }: CheckInput): string {
  return answers.DATABASE_DIRECT_URL || (answers.DATABASE_URL ?? '');
}

/** Checks the server, its version, its clock, and the version of the gateway that migrated its schema. */
export const checkDatabase: Check = (input) =>
  onDatabase(input, serverOf(input), async (db) => {
    const { world } = input.context;
    const clock = createFollowedClock(world.clock);
    await readClock(world, db.sql, clock);
    const machineOffMs = world.clock.nowMs() - clock.nowMs();
    const server = await readServerState(db.sql);
    const schema = await examineSchema(db.sql);
    const mismatch = schema.mismatch === null ? [] : judgeSchema(schema).findings;
    const refusals = [...judgeUsable(server), ...mismatch];
    const clocks = judgeClocks({ machineOffMs: { known: machineOffMs }, heads: [] });
    const age =
      schema.applied.length === 0 ? 'an empty database' : `a database with ${schema.applied.length} migrations`;
    if (refusals.length > 0) return checked(refusals);
    const said = [`PostgreSQL ${server.version}, as ${server.role}: ${age}.`];
    const findings = [...judgeServer(server).findings, ...clocks.findings];
    return { ...checked(findings, said, { machineOffMs }), isRefused: false };
  });

/** Checks the rights of the role that migrates, and of the role of the nodes if it is another one. */
export const checkRights: Check = async (input) => {
  const { DATABASE_MIGRATE_URL: migrateUrl = '' } = input.answers;
  const url = serverOf(input);
  const migrating = await onDatabase(input, migrateUrl || url, async (db) => {
    const isComplete = (await examineSchema(db.sql)).missing.length === 0;
    return checked(isComplete ? [] : judgeRights(await readRights(db.sql)));
  });
  if (migrating.isRefused) return migrating;
  const writing = await onDatabase(input, url, async (db) => {
    const { role } = await readRights(db.sql);
    if ((await mayWrite(db.sql)) !== false) return checked([]);
    const message = `The role ${role} of DATABASE_URL may not write the tables of the gateway.`;
    return checked([
      fault(message, 'Use the role till_run of `till database roles --apply`, or grant it their rights.'),
    ]);
  });
  return writing.isRefused ? writing : { ...migrating, findings: [...migrating.findings, ...writing.findings] };
};

/** Checks that the database does not belong to another master secret: gateways with different secrets cannot share a database. */
export const checkSecret: Check = async (input) => {
  const { TILL_SECRET: secret = '', TILL_SECRET_FILE: secretFile = '' } = input.answers;
  if (input.question.id === 'TILL_SECRET_FILE' && secretFile === '') return checked([]);
  const ids = await secretIdsOf(input, secretFile === '' ? { TILL_SECRET: secret } : { TILL_SECRET_FILE: secretFile });
  if ('unknown' in ids) return checked([fault(`${capital(ids.unknown)}.`, 'Name another file, or none.')]);
  return onDatabase(input, serverOf(input), async (db) => {
    if ((await examineSchema(db.sql)).missing.length > 0) return checked([]);
    const nowMs = input.context.world.clock.nowMs() - (input.seen.machineOffMs ?? 0);
    const { findings } = judgeSecret(await examineSecret(db.sql, { secretIds: ids, nowMs }));
    return checked(findings);
  });
};

/** The ids of the given master secrets. None if a new secret is to be created. */
async function secretIdsOf(
  { context }: CheckInput,
  setting: Readonly<Record<string, string>>,
): Promise<Asked<readonly string[]>> {
  const config = configOf(setting);
  if (setting.TILL_SECRET === MAKE || config === undefined) return { known: [] };
  try {
    return { known: (await openSecrets({ config, world: context.world })).ids };
  } catch (error) {
    if (!(error instanceof MasterSecretError)) throw error;
    return { unknown: error.message.replace(/\.$/, '') };
  }
}

/** Runs a check on a database. If the database does not answer, the result is a fault in one line, which refuses the answer. */
async function onDatabase(
  { context, answers }: CheckInput,
  url: string,
  work: (db: Database) => Promise<Checked>,
): Promise<Checked> {
  const strike = strikerOf(Object.fromEntries(URLS.map((env) => [env, answers[env]])));
  const asked = await askWithin(context.world.timers, WITHIN_MS, async () => {
    const db = await openForReading(url, 'till-init');
    try {
      return await work(db);
    } finally {
      await db.close();
    }
  });
  if ('known' in asked) return asked.known;
  const findings: Finding[] = [...judgeDatabase({ outage: strike(asked.unknown) }).findings];
  return checked(findings);
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
