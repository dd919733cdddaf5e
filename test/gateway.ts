import type { InjectOptions } from 'fastify';
import { type Logger, pino } from 'pino';
import { openReceiptKey } from '../src/actions/open-receipt-key.ts';
import { createPartner } from '../src/actions/parties/create-partner.ts';
import { issueKey } from '../src/actions/parties/issue-key.ts';
import { registerApp } from '../src/actions/parties/register-app.ts';
import type { TestClock } from '../src/actions/test-clock.ts';
import type { Mode } from '../src/domain/mode.ts';
import { buildApp } from '../src/http/app.ts';
import { createParts, type PartsInput } from '../src/parts.ts';
import { createSecrets } from '../src/runtime/secrets.ts';
import { systemWorld } from '../src/runtime/system-world.ts';
import type { World } from '../src/runtime/world.ts';
import { followSandboxTime } from '../src/sandbox/sandbox-time.ts';
import type { Config } from '../src/settings/config.ts';
import { readConfig } from '../src/settings/read-config.ts';
import { openNodeDatabase } from '../src/store/plumbing/node-database.ts';
import { startPlacing } from '../src/workers/placing.ts';
import { createTestDatabase, patient } from './database.ts';
import { checkResponse } from './openapi.ts';
import { TEST_SECRET } from './sealed.ts';
import { SHARED_COMPILERS } from './shared-compilers.ts';

export type TestGateway = Awaited<ReturnType<typeof startTestGateway>>;

/** Gateways of a test that share a database share it, too. */
export { TEST_SECRET };

export interface TestGatewayInput
  extends Pick<PartsInput, 'chains' | 'rates' | 'screening' | 'page' | 'guides' | 'sandbox' | 'rehearse' | 'examine'> {
  /** A database shared with another gateway of the test; its own one otherwise. */
  readonly databaseUrl?: string;
  /** True if the test stops its database. Other gateways wait for a database that is slow because many tests use it. */
  readonly losesDatabase?: boolean;
  readonly config?: Partial<Config>;
  readonly world?: Partial<World>;
  /** True if it goes by the time of the database, as in production. Other gateways go by the time of the test. */
  readonly isOnDatabaseTime?: boolean;
  /** True if it goes by the time of a sandbox, which the test clock moves. */
  readonly isOnSandboxTime?: boolean;
  /** Parts of the test clock that stand in; undefined for a gateway outside a sandbox, which has none. */
  readonly testClock?: Partial<TestClock> | undefined;
  readonly masterSecret?: Uint8Array;
  readonly log?: Logger;
}

const PATIENT = { answerMs: 60_000, silentTicks: 240 };

/** The real application on a real database, called without a socket. Every answer is checked against `openapi.json`. */
export async function startTestGateway(input: TestGatewayInput = {}) {
  const own = input.databaseUrl === undefined ? await createTestDatabase() : undefined;
  const url = input.databaseUrl ?? own?.url ?? '';
  const ownWorld = { ...systemWorld, ...input.world };
  const { log = pino({ level: 'silent' }) } = input;
  const { chains, rates, screening, page, guides, sandbox, rehearse } = input;
  const config = { ...testConfig(), ...input.config };
  const database = await openNodeDatabase({
    ...config,
    url: own === undefined ? url : patient(url),
    directUrl: config.databaseDirectUrl,
    isPrepared: config.databasePrepare,
    poolSize: 12,
    applicationName: 'till-test',
    log,
    baseClock: ownWorld.clock,
    machineClock: ownWorld.clock,
    tracing: ownWorld.tracing,
    silence: input.losesDatabase ? undefined : PATIENT,
  });
  const { db, listDb, replica, clockOffMs } = database;
  const realWorld = input.isOnDatabaseTime ? { ...ownWorld, clock: database.clock } : ownWorld;
  const time = input.isOnSandboxTime
    ? await followSandboxTime({ db, registry: config.registry, log, world: realWorld })
    : undefined;
  const world = { ...realWorld, clock: time?.clock ?? realWorld.clock };
  // All routes are there, so that tests of every described route find them. Without a chain there is nothing to move.
  const control = { moveChain: async () => true, refresh: async () => time?.refresh() };
  const testClock = 'testClock' in input ? input.testClock && { ...control, ...input.testClock } : control;
  const base = {
    config,
    registry: config.registry,
    world,
    log,
    db,
    listDb,
    replica,
    secrets: createSecrets([input.masterSecret ?? TEST_SECRET]),
  };
  const receiptKey = await openReceiptKey(base);
  const parts = await createParts({
    ...base,
    receiptKey,
    chains,
    rates,
    screening,
    page,
    guides,
    sandbox,
    testClock,
    rehearse,
    examine: input.examine ?? (async () => ({ level: 'well', sections: [] })),
    ...(input.isOnDatabaseTime && { clockOffMs }),
  });
  // Events are placed in real time, even with a manual clock.
  const stopPlacing = startPlacing({ ...parts, world: systemWorld });
  const app = await buildApp(parts, { schemaController: SHARED_COMPILERS });

  return {
    ...parts,
    app,
    databaseUrl: url,
    /** Sends a request and checks the answer against the API's own description. */
    async call(options: InjectOptions & { url: string }) {
      const response = await app.inject(options);
      await checkResponse(options, response);
      return response;
    },
    async stop() {
      await app.close();
      await stopPlacing();
      parts.stop();
      await time?.stop();
      await database.close();
      await own?.drop();
    },
  };
}

export interface PartnerOptions {
  readonly mode?: Mode;
  readonly key?: Partial<Parameters<typeof issueKey>[1]>;
}

/** A new partner with a key, as an operator would make them. */
export async function createTestPartner(gateway: TestGateway, options: PartnerOptions = {}) {
  const partner = await createPartner(gateway, { actor: 'test', name: 'Test partner' });
  const issued = await createTestKey(gateway, partner.id, options);
  return { partner, key: issued.key, secret: issued.secret, headers: { 'api-key': issued.secret } };
}

export function createTestKey(gateway: TestGateway, partnerId: string, { mode = 'test', key }: PartnerOptions = {}) {
  const limits = { scopes: null, merchantIds: null, addresses: null, expiresAt: null };
  return issueKey(gateway, { actor: 'test', partnerId, mode, label: 'Test', ...limits, ...key });
}

export function createTestApp(gateway: TestGateway, mode: Mode = 'test') {
  return registerApp(gateway, { actor: 'test', mode, name: 'Test wallet', iconUrl: null });
}

let keyCount = 0;
/** A unique Idempotency-Key. */
export function freshKey(): string {
  keyCount += 1;
  return `test-${process.pid}-${keyCount}`;
}

export async function createTestMerchant(gateway: TestGateway, headers: Record<string, string>, fields: object = {}) {
  const response = await gateway.call({
    method: 'POST',
    url: '/v1/merchants',
    headers: { ...headers, 'idempotency-key': freshKey() },
    payload: { merchantName: 'Test shop', merchantEmail: 'shop@example.com', ...fields },
  });
  if (response.statusCode !== 201) throw new Error(`No merchant: ${response.body}`);
  return response.json().merchant as { id: string; name: string; createdAt: string };
}

/** The defaults, with limits above the load of a test. */
function testConfig(): Config {
  const read = readConfig({
    RATE_LIMIT_KEY_PER_SECOND: '100000',
    RATE_LIMIT_ADDRESS_PER_SECOND: '100000',
    SURVEY_ACCOUNTS_PER_KEY: '100000',
    SURVEY_ACCOUNTS_PER_ADDRESS: '100000',
  });
  if ('problems' in read) throw new Error(read.problems.join('; '));
  return { ...read.config, maxEventLoopDelayMs: 0, listTimeoutMs: 15_000, listCostMsPerSecond: 1_000_000 };
}
