import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { createAlarms } from './actions/alarms.ts';
import { adoptRows } from './actions/outgoing/order/adopt-rows.ts';
import { signingKeysOf } from './actions/outgoing/refund/signed/signing-keys.ts';
import { shareExamination } from './actions/oversight/doctor/share-examination.ts';
import { rememberAccounts } from './actions/own-accounts.ts';
import { forgedDestination, isOwnDestination } from './actions/parties/destination-rows.ts';
import { forgedKeyMessage, isOwnKey } from './actions/parties/key-rows.ts';
import { openCheckout } from './actions/parties/open-checkout.ts';
import { createPaymentCreator } from './actions/paying/create-payment.ts';
import { createPaymentMover } from './actions/paying/payment-mover.ts';
import { NO_REHEARSAL, type Rehearsal } from './actions/paying/rehearsal.ts';
import { tracedPayments } from './actions/paying/traced-payments.ts';
import { forgedPersonMessage, isOwnHolder } from './actions/people/person-rows.ts';
import { siteOf } from './actions/people/webauthn.ts';
import { createRequestRecorder } from './actions/record-requests.ts';
import { createRecordStanding } from './actions/record-standing.ts';
import { createUseRecorder } from './actions/record-uses.ts';
import { createRecordMemory, type RecordMemory } from './actions/records/remember-records.ts';
import { createRowCheck } from './actions/row-check.ts';
import { type RowKeyDeps, rowKeysOf } from './actions/row-keys.ts';
import { openSubjectKeys, type SubjectKeyDeps } from './actions/subject-keys.ts';
import type { Chains } from './chains/chains.ts';
import type { RegistryDeps } from './chains/registry.ts';
import type { Diagnosis } from './domain/doctor/diagnosis.ts';
import type { ReceiptKey } from './domain/receipt.ts';
import type { Version } from './domain/version.ts';
import type { HttpDeps } from './http/deps.ts';
import { createDrain } from './http/drain.ts';
import { createCountLimit, LINK_ORDERS, MAILED_RECEIPTS, PRINTS, SIGN_IN_FAILURES } from './http/entry/count-limit.ts';
import { createListReads } from './http/entry/list-reads.ts';
import { createReplicaReads } from './http/entry/replica-reads.ts';
import { createSurveyLimit } from './http/entry/survey-limit.ts';
import { createTurns } from './http/entry/turns.ts';
import { createSubjectReader, eventBodies } from './http/event-bodies.ts';
import { createHoldPlaces } from './http/status/hold-places.ts';
import { createLongPolls } from './http/status/long-poll.ts';
import { openPress } from './paper/press.ts';
import { NO_RATES, type Rates } from './rates/rates.ts';
import { createMetrics, type Metrics } from './runtime/metrics.ts';
import { createPaymentWork } from './runtime/payment-work.ts';
import type { Secrets } from './runtime/secrets.ts';
import { unshiftedWorld } from './runtime/shifted-clock.ts';
import { createSparseWarning } from './runtime/sparse-log.ts';
import type { World } from './runtime/world.ts';
import type { RehearsalDeps } from './sandbox/rehearsal.ts';
import { NO_SCREENING, type Screening } from './screening/screening.ts';
import { depositMinimumOn } from './settings/chains.ts';
import type { Config } from './settings/config.ts';
import { valueOn } from './settings/network-kinds.ts';
import { type EventFeed, openEventFeed } from './store/events/event-feed.ts';
import type { PlacedEvent } from './store/events/events.ts';
import { isFeedName } from './store/events/placing.ts';
import { findKeyHolders, type KeyHolder, recordKeyUses, type StoredKeyRights } from './store/parties/api-keys.ts';
import { createDestinationReader, type StoredDestination } from './store/parties/destinations.ts';
import { findNetworkStops, type NetworkStop } from './store/parties/freezes.ts';
import { findPayableMerchants, type PayableMerchant } from './store/parties/merchants.ts';
import { findWalletApps, type WalletApp } from './store/parties/wallet-apps.ts';
import { createPaymentReader } from './store/payments/payment-reader.ts';
import { recordOpenings, recordOptions } from './store/payments/payment-steps.ts';
import { findPayments, glanceAtPayments } from './store/payments/payments.ts';
import { findSessionHolders, recordSessionUses, type SessionHolder } from './store/people/sessions.ts';
import type { Database } from './store/plumbing/database.ts';
import { createFreshCache } from './store/plumbing/fresh-cache.ts';
import type { Replica } from './store/plumbing/replica.ts';

export interface PartsInput {
  readonly config: Config;
  readonly world: World;
  readonly log: Logger;
  readonly db: Database;
  /** A separate connection pool for lists and searches, so that they cannot use up the connections of payments. */
  readonly listDb: Pick<Database, 'sql' | 'load'>;
  /** The replica that answers some lists in place of the primary. */
  readonly replica?: Pick<Replica, 'read' | 'state' | 'load'> | undefined;
  readonly secrets: Secrets;
  readonly receiptKey: ReceiptKey;
  /** The stored facts of networks and assets. */
  readonly records?: RecordMemory;
  /** The connected networks. Without networks the gateway takes no payments. */
  readonly chains?: Chains;
  readonly rates?: Rates;
  readonly screening?: Screening;
  /** The built web pages. Undefined if they were not built. */
  readonly page?: HttpDeps['page'];
  readonly guides?: HttpDeps['guides'];
  readonly sandbox?: HttpDeps['sandbox'];
  readonly testClock?: HttpDeps['testClock'];
  /** Produces the outcomes that sandbox payments ask for. */
  readonly rehearse?: ((deps: RehearsalDeps) => Rehearsal) | undefined;
  /** Examines the whole gateway, with the settings of this node. */
  readonly examine?: () => Promise<Diagnosis>;
  /** Milliseconds by which the machine's clock is ahead of the database's clock; 0 by default. */
  readonly clockOffMs?: () => number;
}

const NO_CHAINS: Chains = { find: () => undefined, list: () => [] };
const noExamination = () => Promise.reject(new Error('This node was opened without its settings.'));

/** Logs one line for each decision about money, after its commit. `docs/log.md` describes the fields. */
function logMoney({ db, log }: Pick<PartsInput, 'db' | 'log'>): void {
  db.onMoney((lines) => {
    for (const line of lines) log.info(line, 'money');
  });
}

/** Creates, on an open database, everything that lives as long as the node. */
export async function createParts(input: PartsInput) {
  const { chains = NO_CHAINS, rates = NO_RATES, screening = NO_SCREENING, clockOffMs = () => 0 } = input;
  const rowKeys = rowKeysOf(input.secrets);
  const subjectKeys = await openSubjectKeys(input, { needsAll: false });
  const { registry } = input.config;
  const records = input.records ?? createRecordMemory({ ...input, registry });
  const { examine = noExamination } = input;
  const base = { ...input, registry, records, chains, rates, screening, clockOffMs, rowKeys, subjectKeys };
  await adoptRows(base);
  await rememberAccounts(base);
  logMoney(base);
  const metrics = createMetrics();
  const caches = createCaches(base);
  await openCheckout(base);
  const feed = await openEventFeed(base);
  const press = openPress(unshiftedWorld(base.world).timers);
  const parts = {
    ...base,
    ...caches,
    ...createUseRecorders(base),
    ...createDerivedKeys(base),
    ...createEntry(base, { metrics, feed }),
    ...createPayments(base, feed),
    ...createEventRendering(base),
    ...createSendingTerms(base),
    metrics,
    standing: createRecordStanding(),
    notesWal: base.config.readDatabaseUrl !== undefined,
    feed,
    press,
    examine: shareExamination({ clock: unshiftedWorld(base.world).clock, examine }),
    site: siteOf(base.config.publicUrl),
    stop() {
      for (const cache of Object.values(caches)) cache.stop();
      press.close();
    },
  };
  return { ...parts, rehearsal: input.rehearse?.(parts) ?? NO_REHEARSAL };
}

/** The input with its defaults, and the keys of rows and seals. */
type Base = PartsInput &
  Required<Pick<PartsInput, 'records' | 'chains' | 'rates' | 'screening' | 'clockOffMs'>> &
  RegistryDeps &
  RowKeyDeps &
  SubjectKeyDeps;

/**
 * Caches of rows that most requests need. Cached rows are read again at short intervals. A row with a wrong MAC is left out, and
 * alerts the operator.
 */
function createCaches(base: Base) {
  const { world, db } = base;
  const steady = unshiftedWorld(world);
  const isGenuineKey = createRowCheck<StoredKeyRights>(base, {
    alert: 'key_refused',
    isOwn: (row) => isOwnKey(base, row),
    messageOf: forgedKeyMessage,
  });
  const isGenuineSession = createRowCheck<SessionHolder>(base, {
    alert: 'session_refused',
    isOwn: (row) => isOwnHolder(base, row),
    messageOf: forgedPersonMessage,
  });
  return {
    keys: createFreshCache<KeyHolder>(steady, {
      read: async (hashes) => (await findKeyHolders(db.sql, hashes)).filter(isGenuineKey),
      keyOf: (key) => key.hash,
    }),
    sessions: createFreshCache<SessionHolder>(steady, {
      read: async (hashes) => (await findSessionHolders(db.sql, hashes)).filter(isGenuineSession),
      keyOf: (session) => session.hash,
    }),
    apps: createFreshCache<WalletApp>(steady, {
      read: (ids) => findWalletApps(db.sql, ids),
      keyOf: (app) => app.id,
    }),
    merchants: createFreshCache<PayableMerchant>(steady, {
      read: (ids) => findPayableMerchants(db.sql, ids),
      keyOf: (merchant) => merchant.id,
    }),
    networkStops: createFreshCache<NetworkStop>(steady, {
      read: (networks) => findNetworkStops(db.sql, networks),
      keyOf: ({ network }) => network,
    }),
  };
}

/** Recorders of requests, of uses of keys and sessions, and of visits to payments. They write in the background. */
function createUseRecorders({ world }: Base) {
  const steady = unshiftedWorld(world);
  return {
    requestLog: createRequestRecorder(steady.clock),
    keyUses: createUseRecorder(world.clock, recordKeyUses),
    sessionUses: createUseRecorder(steady.clock, recordSessionUses),
    openings: createUseRecorder(world.clock, recordOpenings),
    optionAsks: createUseRecorder(world.clock, recordOptions),
  };
}

/** Keys that every node derives from the master secret. */
function createDerivedKeys({ secrets }: Base) {
  return {
    challengeKeys: secrets.deriveEach('passkey challenge'),
    cursorKeys: secrets.deriveEach('cursor'),
    optionKeys: secrets.deriveEach('option'),
    signingKeys: signingKeysOf(secrets),
  };
}

/** The entry of requests: limits, turns, held requests and the drain before a stop. */
function createEntry(
  { config, world, listDb, replica }: Base,
  { metrics, feed }: { readonly metrics: Metrics; readonly feed: EventFeed },
) {
  const steady = unshiftedWorld(world);
  const onRefusal = () => metrics.refusals.inc({ reason: 'rate_limited' });
  const turns = createTurns(world.timers, { onRefusal });
  const paymentWork = createPaymentWork(steady.clock);
  // A change of a payment on any node counts as payment work, to which the jobs of this node give way. It does not count on a
  // node that only has the role `jobs`, because other nodes process the payments.
  if (config.roles.some((role) => role !== 'jobs')) {
    feed.subscribe((names = []) => paymentWork.noteChanges(names.filter((name) => !isFeedName(name)).length));
  }
  const longPolls = createLongPolls(world, feed);
  const replicaReads = replica && createReplicaReads({ listDb, replica, metrics });
  return {
    turns,
    paymentWork,
    longPolls,
    drain: createDrain(longPolls),
    holdPlaces: createHoldPlaces({
      perKey: config.heldPerKey,
      perAddress: config.heldPerAddress,
      paymentWork,
      onRefusal,
    }),
    lists: createListReads(
      { listDb, replicaReads, clock: steady.clock, turns },
      { poolSize: config.listPoolSize, costMsPerSecond: config.listCostMsPerSecond, onRefusal },
    ),
    surveyLimit: createSurveyLimit(steady.clock, {
      perKey: config.surveyAccountsPerKey,
      perAddress: config.surveyAccountsPerAddress,
      onRefusal,
    }),
    signInFailures: createCountLimit(steady.clock, SIGN_IN_FAILURES),
    linkOrders: createCountLimit(steady.clock, LINK_ORDERS),
    prints: createCountLimit(steady.clock, PRINTS),
    mailedReceipts: createCountLimit(steady.clock, MAILED_RECEIPTS),
  };
}

/** Creates, moves and reads payments, and reads the destinations of merchants. */
function createPayments(base: Base, feed: EventFeed) {
  const { config } = base;
  const payerLimits = { openItemsPerPayer: config.openItemsPerPayer };
  return {
    ...tracedPayments(base.world.tracing, {
      createPayment: createPaymentCreator(base),
      movePayment: createPaymentMover(base, payerLimits),
    }),
    payerLimits,
    deposits: { minimum: (network: string) => depositMinimumOn(config, network) },
    readPayment: createPaymentReader({ ...base, feed }, findPayments),
    glanceAtPayment: createPaymentReader({ ...base, feed }, glanceAtPayments),
    readDestinations: createDestinationReader(
      base,
      createRowCheck<StoredDestination>(base, {
        alert: 'destination_refused',
        isOwn: (row) => isOwnDestination(base, row),
        messageOf: (row) => forgedDestination(row).message,
      }),
    ),
  };
}

/** The bodies of events, for webhooks and the API. */
function createEventRendering(base: Base) {
  const { config } = base;
  const readSubjects = createSubjectReader(base);
  return {
    readSubjects,
    renderEvents: (events: readonly PlacedEvent[], version: Version) =>
      eventBodies({ config, readSubjects }, events, version),
  };
}

/** Settings that relayers, watchers and jobs need, and the warnings that they raise. */
function createSendingTerms(base: Base) {
  const { config, world, log } = base;
  return {
    warn: createSparseWarning(unshiftedWorld(world).clock, log),
    leftOut: createAlarms(base, 'asset_left_out'),
    host: hostname(),
    leaseMs: config.leaseMs,
    hourlyLimit: (network: string) => valueOn(config.outgoingPerHour, network),
  };
}
