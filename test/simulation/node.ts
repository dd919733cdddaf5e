import { type Logger, pino } from 'pino';
import { openReceiptKey } from '../../src/actions/open-receipt-key.ts';
import { rowKeysOf } from '../../src/actions/row-keys.ts';
import { subjectKeysOf } from '../../src/actions/subject-keys.ts';
import type { ChainEvent, Incoming } from '../../src/chains/chain-reader.ts';
import type { Chains, ConnectedChain } from '../../src/chains/chains.ts';
import { buildApp } from '../../src/http/app.ts';
import type { App } from '../../src/http/deps.ts';
import { createParts } from '../../src/parts.ts';
import { sandboxRates } from '../../src/rates/sandbox-rates.ts';
import type { CrashPoint } from '../../src/runtime/crash-points.ts';
import { createSecrets } from '../../src/runtime/secrets.ts';
import type { World } from '../../src/runtime/world.ts';
import { depositMinimumOn } from '../../src/settings/chains.ts';
import type { Config } from '../../src/settings/config.ts';
import { readConfig } from '../../src/settings/read-config.ts';
import { type Database, openDatabase } from '../../src/store/plumbing/database.ts';
import type { Listener } from '../../src/store/plumbing/listener.ts';
import { startBookkeeping } from '../../src/workers/bookkeeping.ts';
import { startDelivering } from '../../src/workers/delivering.ts';
import { housekeepingJobs } from '../../src/workers/housekeeping.ts';
import { startJobs } from '../../src/workers/loop.ts';
import { mailJobs, startMailing } from '../../src/workers/mailing.ts';
import { payingOutJobs } from '../../src/workers/paying-out.ts';
import { startPlacing } from '../../src/workers/placing.ts';
import { startRelaying } from '../../src/workers/relaying.ts';
import { startWatching } from '../../src/workers/watching.ts';
import { patient } from '../database.ts';
import { REGISTRY } from '../registry.ts';
import { SHARED_COMPILERS } from '../shared-compilers.ts';
import { viewChain } from './chain-view.ts';
import type { Driver } from './driver.ts';
import { type MailServer, wayToMailServer } from './mail-server.ts';
import type { SimNetwork } from './networks.ts';
import { type Receiver, wayToReceivers } from './receivers.ts';
import type { Rings } from './rings.ts';
import type { Participant, Scheduler } from './scheduler.ts';
import type { Seeded } from './seeded.ts';

/** All nodes of a run share it. */
export const MASTER_SECRET = new Uint8Array(32).fill(7);
export const SUBJECT_KEYS = subjectKeysOf(createSecrets([MASTER_SECRET]));
export const ROW_KEYS = rowKeysOf(createSecrets([MASTER_SECRET]));
/** A payer may have this many open items at once. */
export const OPEN_ITEMS_PER_PAYER = 2;
/** The whole tokens of one asset that may leave within an hour: some runs reach it. */
export const OUTGOING_PER_HOUR = 120;
/** More connections than a node ever needs at once: a full pool would order statements by itself. */
const POOL_SIZE = 40;

type Parts = Awaited<ReturnType<typeof createParts>>;

/** One node of the gateway between a start and its crash. */
export interface SimNode extends Participant {
  readonly applicationName: string;
  isCutOff: boolean;
  /** The number of lists of events that it gets without their events. */
  missingLogs: number;
  /** Undefined until the start is complete. */
  app: App | undefined;
  parts: Parts | undefined;
  /** Resolves when the start is complete, or has failed. */
  readonly started: Promise<void>;
  /** Resolves at the crash. */
  readonly crashed: Promise<void>;
  crash(): Promise<void>;
  /** Breaks its database connections; the node goes on. */
  disconnect(): Promise<void>;
}

export interface SimNodeInput {
  readonly name: string;
  readonly skewMs: number;
  readonly url: string;
  readonly driver: Driver;
  readonly scheduler: Scheduler;
  readonly random: Seeded;
  readonly networks: readonly SimNetwork[];
  /** Alters the chain as this node sees it, for a mutant. */
  readonly alterChain?: ((connected: ConnectedChain) => ConnectedChain) | undefined;
  /** Alters the database as this node uses it, for a mutant. */
  readonly alterDatabase?: ((db: Database) => Database) | undefined;
  readonly rings: Rings;
  /** Payments that the lying endpoint adds to its lists of events. */
  readonly forged: readonly Extract<ChainEvent, { readonly type: 'paid' }>[];
  /** Transfers that it adds to its lists of transfers. */
  readonly forgedTransfers: readonly Incoming[];
  readonly receivers: readonly Receiver[];
  readonly mailServer: MailServer;
  /** Called when a receiver gets something wrong. */
  readonly onMisdelivery: (problem: string) => void;
  readonly onBroadcast: (bytes: string) => Promise<void>;
  /** Called with every error that a node logs. */
  readonly onError: (text: string) => void;
  /** Called at each line where a crash is tried. */
  readonly onCrashPoint: (node: SimNode, point: CrashPoint) => void;
}

/** Starts a node as `main.ts` does: the same parts, workers and routes. */
export function startNode(input: SimNodeInput): SimNode {
  const { name, skewMs, url, driver, scheduler, random, networks, rings, forged, onBroadcast, onError } = input;
  const { alterChain = same, alterDatabase = same, receivers, onMisdelivery } = input;
  const applicationName = `sim-${name}-${Buffer.from(random.fork('name').bytes(6)).toString('hex')}`;
  const { promise: crashed, resolve: onCrash } = Promise.withResolvers<void>();
  const { promise: started, resolve: onStarted } = Promise.withResolvers<void>();
  const participant: Participant = { name, isAlive: true, pausedUntilMs: 0, skewMs };
  const node: SimNode = Object.assign(participant, {
    applicationName,
    isCutOff: false,
    missingLogs: 0,
    app: undefined,
    parts: undefined,
    started,
    crashed,
    async crash() {
      node.isAlive = false;
      await driver.cut(applicationName);
      onCrash();
    },
    async disconnect() {
      await driver.cut(applicationName);
      for (const { onConnected } of listeners.values()) scheduler.ready(node, 'listens again', onConnected);
    },
  });
  const listeners = new Map<string, Listener>();
  driver.adopt(applicationName, node);
  driver.onNotification((channel, payload) => {
    const listener = listeners.get(channel);
    if (listener !== undefined) scheduler.ready(node, `hears ${channel}`, () => listener.onMessage(payload));
  });

  const own = networks.map(({ connected }) => {
    const chain = viewChain({
      chain: connected.chain,
      by: node,
      scheduler,
      random: random.fork(`chain ${connected.chain.network.chainId}`),
      isCutOff: () => node.isCutOff,
      takeMissingLogs: () => {
        node.missingLogs -= 1;
        return node.missingLogs >= 0;
      },
      forged,
      forgedTransfers: input.forgedTransfers,
      onBroadcast,
    });
    return alterChain({ ...connected, chain });
  });
  const chains: Chains = {
    find: (id) => own.find(({ chain }) => id === chain.network.chainId),
    list: () => own,
  };
  void begin().catch((error: unknown) => {
    // A start that fails because the database went away ends the process, as in production.
    scheduler.note(`${name}: did not start: ${String(error)}`);
    node.isAlive = false;
    onStarted();
    onCrash();
  });
  return node;

  async function begin(): Promise<void> {
    const world: World = {
      ...scheduler.worldOf(node, random.fork('world')),
      crashPoint: (point) => {
        if (node.isAlive) input.onCrashPoint(node, point);
      },
    };
    // The timeouts of the server would pass in real time.
    const opened = openDatabase({ url: patient(url), poolSize: POOL_SIZE, applicationName, statementTimeoutMs: 0 });
    const db = alterDatabase({
      ...opened,
      listen: async (channel, listener) => {
        listeners.set(channel, listener);
        listener.onConnected();
      },
    });
    db.onEvents(() => rings.ring(node));
    const log = errorLog(onError);
    const base = {
      registry: REGISTRY,
      config: nodeConfig(),
      world,
      log,
      db,
      listDb: db,
      secrets: createSecrets([MASTER_SECRET]),
    };
    const receiptKey = await openReceiptKey(base);
    const parts = await createParts({ ...base, receiptKey, chains, rates: sandboxRates() });
    startJobs(parts, [
      ...housekeepingJobs(parts),
      ...payingOutJobs(parts),
      ...mailJobs(parts, { keptDays: 30, alerts: { recipients: [], publicUrl: parts.config.publicUrl } }),
    ]);
    startPlacing(parts);
    const exchange = wayToReceivers({
      by: node,
      scheduler,
      random: random.fork('receivers'),
      receivers,
      onProblem: onMisdelivery,
    });
    await startDelivering({ ...parts, exchangeFor: () => exchange });
    startMailing({
      ...parts,
      mailer: wayToMailServer({ by: node, scheduler, random: random.fork('mails'), server: input.mailServer }),
    });
    startBookkeeping(parts);
    startRelaying(parts);
    const sweepFrom = (network: string) => depositMinimumOn(parts.config, network);
    // Nobody sends a hundred transfers to one address in a run.
    startWatching({ ...parts, watching: { startAt: () => 0, sweepFrom, movementsPerCheckpoint: 2 } });
    node.app = await driver.busy(buildApp(parts, { schemaController: SHARED_COMPILERS }));
    node.parts = parts;
    scheduler.note(`${name}: has started`);
    onStarted();
  }
}

const same = <T>(value: T) => value;

function nodeConfig(): Config {
  const read = readConfig({
    RATE_LIMIT_KEY_PER_SECOND: '100000',
    RATE_LIMIT_ADDRESS_PER_SECOND: '100000',
    SURVEY_ACCOUNTS_PER_KEY: '100000',
    SURVEY_ACCOUNTS_PER_ADDRESS: '100000',
    DEPOSIT_MINIMUM: '0',
    OUTGOING_PER_HOUR: String(OUTGOING_PER_HOUR),
    DESTINATION_COOLING_OFF_HOURS: '0',
    SMTP_URL: 'smtp://localhost',
    MAIL_FROM: 'till@shop.example',
  });
  if ('problems' in read) throw new Error(read.problems.join('; '));
  return { ...read.config, maxEventLoopDelayMs: 0, openItemsPerPayer: OPEN_ITEMS_PER_PAYER };
}

function errorLog(onError: (text: string) => void): Logger {
  return pino({ level: 'error' }, { write: onError });
}
