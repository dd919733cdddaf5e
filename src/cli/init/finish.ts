import { NODE_GONE_MS } from '../../actions/announce-node.ts';
import { askWithin, reasonOf } from '../../actions/oversight/doctor/ask-within.ts';
import { type Finding, fault } from '../../domain/doctor/diagnosis.ts';
import { judgeSettings } from '../../domain/doctor/judge-gateway.ts';
import type { EnvValues } from '../../settings/env-file.ts';
import { productionRisks } from '../../settings/production-risks.ts';
import { readConfig, readStartConfig } from '../../settings/read-config.ts';
import { listApiKeys } from '../../store/parties/api-keys.ts';
import { listMerchantsOfAllPartners } from '../../store/parties/merchants.ts';
import { listPartners } from '../../store/parties/partners.ts';
import { listEverybody } from '../../store/people/people.ts';
import { listNodes } from '../../store/plumbing/nodes.ts';
import type { Command } from '../command.ts';
import { type Context, withDatabase } from '../connect.ts';
import { create as createPartner } from '../partner-commands.ts';
import { invite } from '../people-commands.ts';
import { migrateDatabase } from '../system-commands.ts';
import { strikerOf } from './check.ts';
import type { Present } from './missing.ts';
import { type Answers, OPERATOR_EMAIL, OPERATOR_NAME, PARTNER_NAME } from './questions.ts';

const WITHIN_MS = 10_000;
const MAX_PEOPLE = 1_000;

export interface Finished {
  /** The steps that were carried out, in lines. */
  readonly done: readonly string[];
  readonly findings: readonly Finding[];
  readonly refusals: readonly Finding[];
  /** Risks with which a node still starts, in sentences. */
  readonly risks: readonly string[];
  readonly present: Present | undefined;
}

/** Migrates the database to this version, and adds the first operator and partner. Steps that are already done are skipped. */
export async function finish(context: Context, values: EnvValues, answers: Answers): Promise<Finished> {
  const start = readStartConfig(values);
  const refusals = judgeSettings({
    changed: [],
    refusals: 'problems' in start ? start.problems : [],
    risks: [],
  }).findings;
  const read = readConfig(values);
  if ('problems' in read) return { done: [], findings: [], refusals, risks: [], present: undefined };
  const risks = productionRisks(read.config).flatMap(({ isRefused, message }) => (isRefused ? [] : [message]));
  const own: Context = { ...context, config: read.config, environment: values };
  const strike = strikerOf(values);
  const done: string[] = [];
  const findings: Finding[] = [];
  const step = async (what: string, remedy: string, work: () => Promise<string | undefined>) => {
    try {
      const text = await work();
      if (text !== undefined) done.push(text);
    } catch (error) {
      findings.push(fault(`${what}: ${strike(reasonOf(error))}.`, remedy));
    }
  };
  await step('The database could not be migrated', 'Mend it, and run `till migrate`.', async () => {
    const { text } = await migrateDatabase.run(own, {});
    return `Schema of the database: ${text}`;
  });
  if (findings.length > 0) return { done, findings, refusals, risks, present: undefined };
  await step('The first operator could not be invited', 'Run `till people invite --operator`.', () =>
    inviteOperator(own, answers),
  );
  await step('The first partner could not be added', 'Run `till partners create`.', () => addPartner(own, answers));
  const asked = await askWithin(context.world.timers, WITHIN_MS, () => findPresent(own));
  return { done, findings, refusals, risks, present: 'known' in asked ? asked.known : undefined };
}

async function inviteOperator(context: Context, answers: Answers): Promise<string | undefined> {
  const { [OPERATOR_NAME]: name = '', [OPERATOR_EMAIL]: email = '' } = answers;
  if (name === '') return undefined;
  const people = await withDatabase(context, ({ db }) => listEverybody(db.sql, MAX_PEOPLE));
  const isThere = people.some((person) => person.belongsTo === 'operator' && person.email === email);
  if (isThere) return undefined;
  const values = { operator: true, name, email, role: 'owner', 'refund-limit': [] };
  const { text, note } = await runAs(invite, context, values);
  return note === undefined ? text : `${text}\n${note}`;
}

async function addPartner(context: Context, answers: Answers): Promise<string | undefined> {
  const name = answers[PARTNER_NAME] ?? '';
  const partners = name === '' ? [] : await withDatabase(context, ({ db }) => listPartners(db.sql));
  if (name === '' || partners.some((partner) => partner.name === name)) return undefined;
  const { text } = await runAs(createPartner, context, { name });
  // The last paragraph is left out: it names the next command, which the set-up prints in its list of missing steps.
  return text.split('\n\n').slice(0, 2).join('\n\n');
}

/** Runs a command with these values, as if they came from the command line. */
function runAs(command: Command, context: Context, values: Readonly<Record<string, unknown>>) {
  return command.run({ ...context, valuesAt: () => values }, values);
}

function findPresent(context: Context): Promise<Present> {
  return withDatabase(context, async ({ db, world }) => {
    const everywhere = { partnerId: undefined, mode: undefined, status: undefined, search: undefined };
    const [people, partners, keys, merchants, nodes] = await Promise.all([
      listEverybody(db.sql, MAX_PEOPLE),
      listPartners(db.sql),
      listApiKeys(db.sql, {}),
      listMerchantsOfAllPartners(db.sql, { ...everywhere, limit: 1 }),
      listNodes(db.sql),
    ]);
    const nowMs = world.clock.nowMs();
    return {
      operators: people.filter(({ belongsTo }) => belongsTo === 'operator').length,
      partners: partners.map(({ id }) => id),
      keys: keys.length,
      merchants: merchants.length,
      nodes: nodes.filter(({ seenAt }) => nowMs - seenAt.getTime() < NODE_GONE_MS).length,
    };
  });
}
