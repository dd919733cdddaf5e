import { privateKeyToAccount } from 'viem/accounts';
import { type CommandDeps, command } from '../../src/actions/command.ts';
import { createPartner } from '../../src/actions/parties/create-partner.ts';
import { putDestinations } from '../../src/actions/parties/destination-rows.ts';
import { issueKey } from '../../src/actions/parties/issue-key.ts';
import { type RowKeyDeps, rowKeysOf } from '../../src/actions/row-keys.ts';
import type { ChainEvent } from '../../src/chains/chain.ts';
import type { ConnectedChain } from '../../src/chains/chains.ts';
import type { MemoryChainControl } from '../../src/chains/memory/control.ts';
import { createMemoryChain } from '../../src/chains/memory/memory-chain.ts';
import { findNetwork } from '../../src/chains/networks.ts';
import { checksumAddress, parseAsset } from '../../src/domain/caip.ts';
import { termsOfNew } from '../../src/domain/cooling-off.ts';
import { idBytes, newId } from '../../src/domain/ids.ts';
import { createSecrets } from '../../src/runtime/secrets.ts';
import { insertMerchant } from '../../src/store/parties/merchants.ts';
import { type Database, openDatabase, type Reader } from '../../src/store/plumbing/database.ts';
import { type Rows, readerOf } from '../../src/store/plumbing/statement.ts';
import { SANDBOX_ASSETS } from '../chains/sandbox-assets.ts';
import { signerFromKey } from '../chains/signer.ts';
import { createTestDatabase } from '../database.ts';
import { type Driver, openDriver } from './driver.ts';
import { MASTER_SECRET, type SimNode, startNode } from './node.ts';
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

export const NETWORK = 'eip155:31337';
export const BLOCK_MS = 6_000;
export const DEPTH = 3;
export const USDC = SANDBOX_ASSETS['eip3009-vrs'];
export const COIN = SANDBOX_ASSETS.native;
export const ENDPOINTS = 3;
const FEE_ACCOUNT = checksumAddress('0xfee0000000000000000000000000000000000fee');
const DESTINATION = checksumAddress('0xde50000000000000000000000000000000000de5');
const RELAYER_KEYS = [`0x${'1'.repeat(64)}`, `0x${'2'.repeat(64)}`] as const;
const INTERMEDIATE_KEY = `0x${'7'.repeat(64)}` as const;

export interface Payer {
  readonly address: string;
  readonly account: string;
  signTypedData(text: string): Promise<string>;
}

export interface SimMerchant {
  readonly id: string;
  readonly name: string;
}

/** Something that a client was told about a payment. */
interface Told {
  readonly status: string;
  readonly step: number;
}

/** Everything that a run consists of: a database, a chain, nodes, merchants and payers. */
export interface Stage {
  readonly scheduler: Scheduler;
  readonly driver: Driver;
  readonly random: Seeded;
  readonly control: MemoryChainControl;
  readonly connected: ConnectedChain;
  /** Reads the database without a step. The scheduler waits for the answer. */
  readonly sql: Reader;
  readonly nodes: (SimNode | undefined)[];
  /** The merchant with a destination, and the merchant whose money is held. */
  readonly merchants: readonly SimMerchant[];
  readonly keys: readonly { readonly id: string; readonly secret: string }[];
  readonly payers: readonly Payer[];
  /** Payments by Idempotency-Key. */
  readonly created: Map<string, string>;
  readonly told: Map<string, Told>;
  /** The last status and version of each payment. */
  readonly seen: Map<string, { readonly status: string; readonly version: number }>;
  /** The last fencing number of each writer that needs a lease. */
  readonly fencing: Map<string, number>;
  /** Events that a consumer has read, in the order of their positions. */
  readonly consumed: { after: number; readonly ids: Set<string>; readonly sequences: Map<string, number> };
  /** Signed items of a frozen merchant, counted when the freeze was answered. */
  readonly frozen: Map<string, number>;
  readonly faults: Map<string, number>;
  /** Errors that nodes have logged. */
  readonly errors: string[];
  /** Violations that were found in the middle of a step. The run ends with the first. */
  readonly violations: unknown[];
  fault(label: string): void;
  newClient(name: string): Participant;
  startNode(index: number): void;
  registerHeld(deps: CommandDeps & RowKeyDeps): Promise<void>;
  /** The Collector's payments for an object, on the canonical chain. */
  paidOnChain(objectId: string): Promise<readonly PaidEvent[]>;
  close(): Promise<void>;
}

export type PaidEvent = Extract<ChainEvent, { readonly type: 'paid' }>;

export interface StageInput {
  readonly seed: number;
  readonly nodes: number;
  readonly alter?: ((text: string) => string) | undefined;
  readonly alterChain?: ((connected: ConnectedChain) => ConnectedChain) | undefined;
}

export async function openStage(input: StageInput): Promise<Stage> {
  const random = seeded(input.seed);
  const scheduler = createScheduler(random.fork('scheduler'));
  const database = await createTestDatabase();
  const db = openDatabase({ url: database.url, poolSize: 2, applicationName: 'simulation' });
  // A statement in a circle of locks fails at once, and always the same one: the last that came.
  await db.sql.unsafe(`alter database ${new URL(database.url).pathname.slice(1)} set deadlock_timeout = '3ms'`);
  const driver = await openDriver({
    url: database.url,
    scheduler,
    random: random.fork('driver'),
    alter: input.alter,
  });
  const { control, connected } = openChain(scheduler);
  const payers = [1, 2, 3].map((index) => payerOf(control, `0x${`${index}`.repeat(2).padStart(64, 'a')}`));
  const parties = await openParties(db, scheduler, random.fork('parties'));
  const incarnations: number[] = [];

  const stage: Stage = {
    scheduler,
    driver,
    random,
    control,
    connected,
    sql: readerOf(({ parts, values }) =>
      driver.busy(db.sql(parts as unknown as TemplateStringsArray, ...values) as Promise<Rows>),
    ),
    nodes: Array.from({ length: input.nodes }, () => undefined),
    ...parties,
    payers,
    created: new Map(),
    told: new Map(),
    seen: new Map(),
    fencing: new Map(),
    consumed: { after: 0, ids: new Set(), sequences: new Map() },
    frozen: new Map(),
    faults: new Map(),
    errors: [],
    violations: [],
    fault(label) {
      stage.faults.set(label, (stage.faults.get(label) ?? 0) + 1);
      scheduler.note(`fault: ${label}`);
    },
    newClient: (name) => ({ name, isAlive: true, pausedUntilMs: 0, skewMs: 0 }),
    startNode(index) {
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
        connected,
        alterChain: input.alterChain,
        onBroadcast: (bytes) => checkJournalled(stage, bytes),
        onError: (text) => void stage.errors.push(text),
      });
    },
    registerHeld: (deps) => register(deps, stage.merchants[1]?.id ?? '', random.fork('destination')),
    async paidOnChain(objectId) {
      const subject = Buffer.from(idBytes(objectId)).toString('hex');
      const { number } = await connected.chain.head();
      const events = await connected.chain.events(0, number);
      return events.filter((event): event is PaidEvent => event.type === 'paid' && event.subject === subject);
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
  const rows = await sql`select from send_versions where bytes = ${bytes}`;
  if (rows.length > 0) return;
  violations.push(new Violation('sends are journalled', 'a transaction left that the journal does not have'));
}

function openChain(scheduler: Scheduler) {
  const sandbox = findNetwork(NETWORK);
  if (sandbox === undefined) throw new Error('The sandbox is not a known network.');
  const finality = { blockTimeMs: BLOCK_MS, depth: DEPTH, reason: 'short, so that a run sees many final blocks' };
  const { chain, control } = createMemoryChain({
    network: { ...sandbox, finality },
    world: { clock: { nowMs: scheduler.nowMs } },
    isAutoMining: false,
    witnesses: ENDPOINTS,
  });
  const relayers = RELAYER_KEYS.map(signerFromKey);
  const intermediate = signerFromKey(INTERMEDIATE_KEY);
  for (const { address } of [...relayers, intermediate]) control.setBalance(address, COIN, 10n ** 21n);
  control.mine();
  const connected: ConnectedChain = {
    chain,
    relayers,
    feeAccount: FEE_ACCOUNT,
    intermediateAccount: intermediate.address,
    intermediateSigner: intermediate,
    payable: () => [USDC, COIN],
    problems: () => [],
  };
  return { control, connected };
}

function payerOf(control: MemoryChainControl, key: string): Payer {
  const signer = privateKeyToAccount(key as `0x${string}`);
  control.setBalance(signer.address, USDC, 10n ** 12n);
  control.setBalance(signer.address, COIN, 10n ** 21n);
  return {
    address: signer.address,
    account: `${NETWORK}:${signer.address}`,
    signTypedData: (text) => signer.signTypedData(JSON.parse(text)),
  };
}

async function openParties(db: Database, scheduler: Scheduler, random: Seeded) {
  const operator: Participant = { name: 'operator', isAlive: true, pausedUntilMs: 0, skewMs: 0 };
  const rowKeys = rowKeysOf(createSecrets([MASTER_SECRET]));
  const deps = { db, world: scheduler.worldOf(operator, random), rowKeys };
  const partner = await createPartner(deps, { actor: 'operator', name: 'Partner' });
  const limits = { scopes: null, merchantIds: null, addresses: null, expiresAt: null };
  const keys = [];
  for (const label of ['first', 'second']) {
    const issued = await issueKey(deps, { actor: 'operator', partnerId: partner.id, mode: 'test', label, ...limits });
    keys.push({ id: issued.key.id, secret: issued.secret });
  }
  const merchants: SimMerchant[] = [];
  for (const name of ['direct', 'held']) {
    const merchant = {
      id: newId('mrch_', scheduler.nowMs(), random.bytes(10)),
      partnerId: partner.id,
      mode: 'test',
    } as const;
    await command(deps, async (tx, now) => {
      const facts = { name, email: null, status: 'active', iconUrl: null, createdAt: now, updatedAt: now } as const;
      await insertMerchant(tx, { ...merchant, ...facts });
    });
    merchants.push({ id: merchant.id, name });
  }
  await register(deps, merchants[0]?.id ?? '', random);
  return { merchants, keys };
}

/** Registers the destination of a merchant. */
async function register(deps: CommandDeps & RowKeyDeps, merchantId: string, random: Seeded): Promise<void> {
  const parsed = parseAsset(USDC);
  if (!parsed.ok) throw new Error(parsed.problem);
  const { key: assetKey } = parsed.value;
  await command(deps, async (tx, now) => {
    const id = newId('crypto_', now.getTime(), random.bytes(10));
    const terms = termsOfNew(`${NETWORK}:${DESTINATION}`, undefined, { now, periodMs: 0 });
    await putDestinations(tx, deps, [{ id, merchantId, asset: USDC, assetKey, ...terms, createdAt: now }]);
  });
}
