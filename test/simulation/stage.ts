import type { CommandDeps } from '../../src/actions/command.ts';
import { subjectOfEvent } from '../../src/actions/event-subject.ts';
import type { RowKeyDeps } from '../../src/actions/row-keys.ts';
import type { Chain } from '../../src/chains/chain.ts';
import type { ChainEvent, Incoming } from '../../src/chains/chain-reader.ts';
import type { ConnectedChain } from '../../src/chains/chains.ts';
import type { MemoryChainControl } from '../../src/chains/memory/control.ts';
import { CRASH_POINTS, type CrashPoint } from '../../src/runtime/crash-points.ts';
import { type Database, openDatabase, type Reader } from '../../src/store/plumbing/database.ts';
import { type Rows, readerOf } from '../../src/store/plumbing/statement.ts';
import { createUnusedDatabase, patient } from '../database.ts';
import { depositsOnChain } from './deposits-on-chain.ts';
import { type Driver, openDriver } from './driver.ts';
import type { MailServer } from './mail-server.ts';
import { NETWORK, openNetwork, SECOND_NETWORK, type SimNetwork } from './networks.ts';
import { type SimNode, SUBJECT_KEYS, startNode } from './node.ts';
import { MERCHANT_KEY, openParties, type Payer, payerOf, registerHeld, type SimMerchant } from './parties.ts';
import type { Receiver } from './receivers.ts';
import { createRings, type Rings } from './rings.ts';
import { createScheduler, type Participant, type Scheduler } from './scheduler.ts';
import { type Seeded, seeded } from './seeded.ts';

/** A violated invariant, which ends the run. */
export class Violation extends Error {
  readonly invariant: string;
  constructor(invariant: string, detail: string) {
    super(`${invariant}: ${detail}`);
    this.invariant = invariant;
  }
}

const SERVER_SETTINGS = {
  // A statement in a circle of locks fails at once, and always the same one: the last that came.
  deadlock_timeout: '3ms',
  // Every connection plans a statement once. Otherwise planning takes most of the server's time.
  plan_cache_mode: 'force_generic_plan',
};

/** The last status that a client received of a payment. */
interface ReportedStatus {
  readonly status: string;
  readonly step: number;
}

/** The events that a program of the partner has got from the API. */
interface Followed {
  cursor: string | undefined;
  readonly ids: Set<string>;
  readonly sequences: Map<string, number>;
  /** The value of `quietSince` when a page was asked for that had no events. */
  upToDateSince: number | undefined;
}

/** Everything that a run consists of: a database, a chain, nodes, merchants and payers. */
export interface Stage {
  readonly scheduler: Scheduler;
  /** The share of the usual time that clients take, and that passes between two faults: less than 1 in a short run. */
  readonly pace: number;
  readonly driver: Driver;
  readonly random: Seeded;
  readonly networks: readonly SimNetwork[];
  /** The first network; for a fault, the one that it happens on. */
  readonly control: MemoryChainControl;
  readonly connected: ConnectedChain;
  /** Reads the database without a step. The scheduler waits for the answer. */
  readonly sql: Reader;
  readonly db: Database;
  /** For commands of the operator while no node runs. */
  readonly commandDeps: CommandDeps & RowKeyDeps;
  readonly nodes: (SimNode | undefined)[];
  /** The merchant with a destination, and the merchant whose money is held. */
  readonly merchants: readonly SimMerchant[];
  readonly keys: readonly { readonly id: string; readonly secret: string }[];
  /** The wallet app, whose id is public. */
  readonly appId: string;
  readonly payers: readonly Payer[];
  /** The account that the merchants are paid to. */
  readonly merchantAccount: Payer;
  /** The partner's receivers of webhooks. */
  readonly receivers: readonly Receiver[];
  readonly mailServer: MailServer;
  /** Receipts by mail whose requests were answered. */
  readonly receipts: { readonly paymentId: string; readonly recipient: string }[];
  /** The terms of the address of each payment, as they were answered first. */
  readonly addresses: Map<string, string>;
  /** The transactions reported to programs, by payment, and the nonces that they have signed. */
  readonly agents: {
    readonly reported: Map<string, string[]>;
    readonly nonces: { readonly payer: string; readonly nonce: string }[];
  };
  /** Transfers to the intermediate account for a float, with its owner. */
  readonly topUps: { readonly owner: string; readonly transactionHash: string }[];
  /** Accounts that refunds were asked for, besides those of payers. */
  readonly refundedTo: Set<string>;
  /** Payments by Idempotency-Key. */
  readonly created: Map<string, string>;
  readonly reported: Map<string, ReportedStatus>;
  /** The last status and version of each payment. */
  readonly seen: Map<string, { readonly status: string; readonly version: number }>;
  /** The last fencing number of each writer that needs a lease. */
  readonly fencing: Map<string, number>;
  /** Events that a consumer has read, in the order of their positions. */
  readonly consumed: { after: number; readonly ids: Set<string>; readonly sequences: Map<string, number> };
  readonly followed: Followed;
  /** The step at which everything had come to its end. Undefined while something is under way. */
  quietSince: number | undefined;
  /** True after the database was restored from a backup: it does not know everything that was. */
  isRestored: boolean;
  /** Payments that had a piece of a link in the backup. */
  readonly piecesInBackup: Set<string>;
  /** Payments that the lying endpoint has made up. */
  readonly forged: PaidEvent[];
  /** Transfers to deposit addresses that the lying endpoint has made up. */
  readonly forgedTransfers: Incoming[];
  readonly rings: Rings;
  /** Signed items of a frozen merchant, counted when the freeze was answered. */
  readonly frozen: Map<string, number>;
  readonly faults: Map<string, number>;
  /** Lines at which the next node that comes there dies. */
  readonly crashPoints: Set<CrashPoint>;
  /** The lines that are chosen from. */
  readonly deadlyPoints: readonly CrashPoint[];
  /** Errors that nodes have logged. */
  readonly errors: string[];
  /** Violations that were found in the middle of a step. The run ends with the first. */
  readonly violations: unknown[];
  fault(label: string): void;
  /** Work that must end before the run does. An error of it is a violation. */
  act(work: Promise<unknown>): void;
  readonly acting: () => number;
  /** Resolves with the merchant of the next signature that is sent. */
  nextConfirm(): Promise<string>;
  noteConfirm(merchantId: string): void;
  newClient(name: string): Participant;
  /** Starts a node, unless it runs. */
  startNode(index: number): void;
  /** A node dies, and is started again after this time. */
  crashNode(node: SimNode, downMs: number): Promise<void>;
  registerHeld(deps: CommandDeps & RowKeyDeps): Promise<void>;
  /** The Collector's payments for an object, on the canonical chain. */
  paidOnChain(objectId: string): Promise<readonly PaidEvent[]>;
  /** True if the Collector has paid the payment, or if enough has come to an address of it. */
  isPaidOnChain(paymentId: string): Promise<boolean>;
  close(): Promise<void>;
}

export type PaidEvent = Extract<ChainEvent, { readonly type: 'paid' }>;

export interface StageInput {
  readonly seed: number;
  readonly nodes: number;
  readonly pace: number;
  readonly hasSecondNetwork: boolean;
  readonly alter?: ((text: string) => string) | undefined;
  readonly alterChain?: ((connected: ConnectedChain) => ConnectedChain) | undefined;
  readonly alterDatabase?: ((db: Database) => Database) | undefined;
  readonly deadlyPoints?: readonly CrashPoint[] | undefined;
}

export async function openStage(input: StageInput): Promise<Stage> {
  const random = seeded(input.seed);
  const scheduler = createScheduler(random.fork('scheduler'));
  const database = await createUnusedDatabase();
  const db = openDatabase({ url: patient(database.url), poolSize: 2, applicationName: 'simulation' });
  for (const [name, value] of Object.entries(SERVER_SETTINGS)) {
    await db.sql.unsafe(`alter database ${new URL(database.url).pathname.slice(1)} set ${name} = '${value}'`);
  }
  const violations: unknown[] = [];
  const rings = createRings((problem) => violations.push(new Violation('rings follow commits', problem)));
  const driver = await openDriver({
    url: database.url,
    scheduler,
    random: random.fork('driver'),
    rings,
    alter: input.alter,
  });
  const first = openNetwork(scheduler, NETWORK);
  const networks = input.hasSecondNetwork ? [first, openNetwork(scheduler, SECOND_NETWORK)] : [first];
  const payers = [1, 2, 3].map((index) => payerOf(networks, `0x${`${index}`.repeat(2).padStart(64, 'a')}`));
  const parties = await openParties(db, scheduler, random.fork('parties'));
  const incarnations: number[] = [];
  const confirmListeners: ((merchantId: string) => void)[] = [];
  let acting = 0;

  const stage: Stage = {
    scheduler,
    pace: input.pace,
    driver,
    random,
    networks,
    ...first,
    sql: readerOf(({ parts, values }) =>
      driver.busy(db.sql(parts as unknown as TemplateStringsArray, ...values) as Promise<Rows>),
    ),
    nodes: Array.from({ length: input.nodes }, () => undefined),
    ...parties,
    payers,
    merchantAccount: payerOf(networks, MERCHANT_KEY),
    mailServer: { accepted: new Map(), mood: 'well' },
    receipts: [],
    addresses: new Map(),
    agents: { reported: new Map(), nonces: [] },
    topUps: [],
    refundedTo: new Set(),
    created: new Map(),
    reported: new Map(),
    seen: new Map(),
    fencing: new Map(),
    consumed: { after: 0, ids: new Set(), sequences: new Map() },
    followed: { cursor: undefined, ids: new Set(), sequences: new Map(), upToDateSince: undefined },
    quietSince: undefined,
    isRestored: false,
    piecesInBackup: new Set(),
    db,
    forged: [],
    forgedTransfers: [],
    rings,
    frozen: new Map(),
    faults: new Map(),
    crashPoints: new Set(),
    deadlyPoints: input.deadlyPoints ?? (Object.keys(CRASH_POINTS) as CrashPoint[]),
    errors: [],
    violations,
    act(work) {
      acting += 1;
      work
        .catch((error: unknown) => violations.push(error))
        .finally(() => {
          acting -= 1;
        });
    },
    acting: () => acting,
    nextConfirm: () => new Promise((resolve) => void confirmListeners.push(resolve)),
    noteConfirm(merchantId) {
      for (const listener of confirmListeners.splice(0)) listener(merchantId);
    },
    fault(label) {
      stage.faults.set(label, (stage.faults.get(label) ?? 0) + 1);
      scheduler.note(`fault: ${label}`);
    },
    newClient: (name) => ({ name, isAlive: true, pausedUntilMs: 0, skewMs: 0 }),
    startNode(index) {
      // The faults may be over while the nodes are being started, and two may start a node then. The first one would run on unseen.
      if (stage.nodes[index]?.isAlive) return;
      const incarnation = (incarnations[index] ?? 0) + 1;
      incarnations[index] = incarnation;
      const own = random.fork(`node ${index} ${incarnation}`);
      stage.nodes[index] = startNode({
        name: `node ${index + 1}`,
        skewMs: own.between(-1_500, 1_500),
        url: database.url,
        driver,
        scheduler,
        random: own,
        networks,
        alterChain: input.alterChain,
        alterDatabase: input.alterDatabase,
        rings,
        forged: stage.forged,
        forgedTransfers: stage.forgedTransfers,
        receivers: stage.receivers,
        mailServer: stage.mailServer,
        onMisdelivery: (problem) => void violations.push(new Violation('webhooks are genuine', problem)),
        onBroadcast: (bytes) => checkJournalled(stage, bytes),
        onError: (text) => void stage.errors.push(text),
        onCrashPoint(node, point) {
          if (!stage.crashPoints.delete(point)) return;
          scheduler.note(`${node.name}: dies at ${point}`);
          void driver.busy(stage.crashNode(node, own.between(500, 15_000)));
        },
      });
    },
    async crashNode(node, downMs) {
      const index = stage.nodes.indexOf(node);
      await node.crash();
      scheduler.after(stage.newClient('supervisor'), downMs, () => stage.startNode(index), `restarts ${node.name}`);
    },
    registerHeld: (deps) => registerHeld(deps, stage.merchants, random.fork('destination')),
    async paidOnChain(objectId) {
      const shown = await Promise.all(networks.map(({ connected }) => paidEvents(connected.chain)));
      return shown.flat().filter(({ id }) => id === objectId);
    },
    async isPaidOnChain(paymentId) {
      if ((await stage.paidOnChain(paymentId)).length > 0) return true;
      const deposits = await depositsOnChain(stage, paymentId);
      return deposits.some(({ arrived, asked }) => arrived >= asked);
    },
    async close() {
      for (const node of stage.nodes) if (node?.isAlive) await node.crash();
      await driver.close();
      await db.close();
      await database.drop();
    },
  };
  return stage;
}

/** Every transaction is in the journal before it leaves. */
async function checkJournalled({ sql, violations }: Stage, bytes: string): Promise<void> {
  const rows = await sql`select from relay_versions where bytes = ${bytes}`;
  if (rows.length > 0) return;
  violations.push(new Violation('sends are journalled', 'a transaction left that the journal does not have'));
}

/** The payments that the Collector of a network reports, with the ids of what they pay. */
export async function paidEvents(chain: Chain): Promise<readonly (PaidEvent & { readonly id: string | undefined })[]> {
  const { number } = await chain.reader.head();
  const events = await chain.reader.events(0, number);
  return events.flatMap((event) =>
    event.type === 'paid'
      ? [{ ...event, id: subjectOfEvent({ subjectKeys: SUBJECT_KEYS }, chain.payerSide, event) }]
      : [],
  );
}
