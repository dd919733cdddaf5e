import { type Finding, fault } from '../../domain/doctor/diagnosis.ts';
import type { Kind } from '../../settings/kinds.ts';
import { names, Problem } from '../../settings/kinds.ts';
import { relayerKeys, signingKey } from '../../settings/network-kinds.ts';
import { productionRisks, RISK_NAMES, type RiskName } from '../../settings/production-risks.ts';
import { type Check, type Checked, type CheckInput, checked } from './check.ts';
import { checkEndpoints, checkIntermediate, checkRelayers, checkSigner } from './check-chains.ts';
import { checkDatabase, checkRights, checkSecret } from './check-database.ts';
import { checkMail, checkRates, checkScreening } from './check-outside.ts';
import { checkProxy, checkPublicUrl } from './check-public-url.ts';
import { type CheckName, MAKE } from './question.ts';
import { endpointsOf, listOf, NETWORKS, RPC } from './questions.ts';

const CHECKS: Readonly<Record<CheckName, Check>> = {
  database: checkDatabase,
  rights: checkRights,
  secret: checkSecret,
  'public-url': checkPublicUrl,
  proxy: checkProxy,
  endpoints: checkEndpoints,
  signer: checkSigner,
  relayers: checkRelayers,
  intermediate: checkIntermediate,
  rates: checkRates,
  screening: checkScreening,
  mail: checkMail,
};

/** The risks that an answer can bring, by setting. A gateway with live networks does not start with any of these risks. */
const RISKS_OF: Readonly<Record<string, readonly RiskName[]>> = {
  PUBLIC_URL: ['public_url_plain_http'],
  [RPC]: ['rpc_plain_http'],
  EXTERNAL_SIGNER_URL: ['signer_plain_http'],
  DATABASE_URL: ['database_without_tls', 'default_database_password'],
  DATABASE_MIGRATE_URL: ['database_without_tls', 'default_database_password'],
  RELAYER_KEYS: ['published_key'],
  INTERMEDIATE_KEY: ['published_key'],
};

/**
 * Checks an answer: first for risks that would stop the start, then by requests to the configured service, such as an RPC
 * endpoint.
 */
export async function checkAnswer(input: CheckInput): Promise<Checked> {
  const risks = risksOf(input);
  if (risks.length > 0) return checked(risks);
  const { check } = input.question;
  return check === undefined ? checked([]) : CHECKS[check](input);
}

function risksOf({ question, answers, registry }: CheckInput): Finding[] {
  const [setting = ''] = question.id.split(' ');
  const names = RISKS_OF[setting] ?? [];
  if (names.length === 0) return [];
  const parsed = <T>(kind: Kind<T>, raw = ''): T | undefined => {
    const value = raw === '' || raw === MAKE ? undefined : kind.parse(raw, registry);
    return value instanceof Problem ? undefined : value;
  };
  const given = (id: string) => (question.id === id ? answers[id] || undefined : undefined);
  const risks = productionRisks({
    registry,
    publicUrl: answers.PUBLIC_URL ?? 'https://unknown.example',
    rpcUrls: new Map(listOf(answers[NETWORKS]).map((chainId) => [chainId, listOf(answers[endpointsOf(chainId)])])),
    externalSignerUrl: answers.EXTERNAL_SIGNER_URL || undefined,
    databaseUrl: given('DATABASE_URL'),
    databaseMigrateUrl: given('DATABASE_MIGRATE_URL'),
    relayerKeys: parsed(relayerKeys(), given('RELAYER_KEYS')),
    intermediateKey: parsed(signingKey(), given('INTERMEDIATE_KEY')),
    outgoingPerHour: undefined,
    screeningList: undefined,
    acceptedRisks: parsed(namesOfRisks(), answers.ACCEPT_RISKS) ?? [],
  });
  return risks
    .filter(({ name, isRefused }) => isRefused && names.includes(name))
    .map(({ name, message }) => fault(message, `To accept the risk, add ${name} to ACCEPT_RISKS.`));
}

function namesOfRisks() {
  return names('risks', RISK_NAMES);
}
