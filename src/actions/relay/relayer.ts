import type { Chain } from '../../chains/chain.ts';
import type { Signer } from '../../chains/signer.ts';
import { backoffMs, withJitter } from '../../runtime/backoff.ts';
import type { World } from '../../runtime/world.ts';
import type { SendLimits } from '../../store/chain/due-items.ts';
import type { OpenSend, SenderId } from '../../store/chain/sends.ts';
import type { Lease } from '../../store/plumbing/leases.ts';
import type { Alarms } from '../alarms.ts';
import type { LeaseDeps } from '../lease.ts';
import type { SecretDeps } from '../open-receipt-key.ts';
import type { RowKeyDeps } from '../row-keys.ts';

export interface RelayDeps extends LeaseDeps, RowKeyDeps, SecretDeps {
  readonly settings: RelaySettings;
  readonly meters: RelayMeters;
}

/** Settings of the operator. Amounts are in the smallest unit of the network's coin. */
export interface RelaySettings {
  /** A relayer's balance below this raises an alert. */
  minBalance?(network: string): bigint | undefined;
  /** The highest price of a unit of execution. */
  feeCap?(network: string): bigint | undefined;
  /** The most units of execution for all transactions of one item. */
  workPerItem?(network: string): bigint | undefined;
  /** The most units of execution for the items of one payer within an hour. */
  workPerPayerHour?(network: string): bigint | undefined;
  /** The highest cost of transactions on a network within an hour. */
  costPerHour?(network: string): bigint | undefined;
}

/** After this many failures on the chain an item is not sent again, and waits for its deadline. */
const MAX_FAILURES = 3;

export function limitsOf({ settings }: { readonly settings: RelaySettings }, network: string): SendLimits {
  return { failures: MAX_FAILURES, work: settings.workPerItem?.(network) };
}

export interface RelayMeters {
  signed(network: string, why: 'first' | 'bump' | 'fill' | 'resign'): void;
  items(network: string, outcome: 'sent' | 'postponed', count: number): void;
  inFlight(sender: SenderId, count: number): void;
}

/** One signer on one network, while this node holds its lease. */
export interface Relayer {
  readonly chain: Chain;
  readonly signer: Signer;
  readonly id: SenderId;
  /** The addresses of all relayers of the network. They share the due items. */
  readonly peers: readonly string[];
  /** True if the signer sends only its own native coin, like the intermediate account. */
  readonly isCoinOnly?: boolean;
  readonly lease: Lease;
  readonly alarms: RelayAlarms;
  readonly memory: RelayMemory;
}

export interface RelayAlarms {
  readonly lowBalance: Alarms;
  readonly stuckSend: Alarms;
  readonly outOfFunds: Alarms;
  readonly price: Alarms;
  readonly budget: Alarms;
  /** The alert for an endpoint that contradicts the journal. */
  readonly counts: Alarms;
}

/** The relayer's state in memory. If it is lost, some bytes are broadcast once more, and a batch waits a moment longer or shorter. */
export interface RelayMemory {
  /** By slot: the time of this process's last broadcast. */
  readonly broadcastAtMs: Map<number, number>;
  /** Slots whose transactions the chain refused as underpriced. */
  readonly outbid: Set<number>;
  /** The time of the signer's last refusal to sign again, by slot. */
  readonly refusedAtMs: Map<number, number>;
  /** The time of the last check for mined transactions. */
  checkedAtMs: number;
  /** The time since which a batch has been gathering items. */
  gatheringSinceMs: number | undefined;
  balanceCheckedAtMs: number | undefined;
  stuckCheckedAtMs: number | undefined;
  budgetsReadAtMs: number;
  /** The retired relayers of the network, and the time of the last read. */
  retired: { readonly addresses: ReadonlySet<string>; readonly readAtMs: number } | undefined;
}

export function newMemory(): RelayMemory {
  return {
    broadcastAtMs: new Map(),
    outbid: new Set(),
    refusedAtMs: new Map(),
    checkedAtMs: 0,
    gatheringSinceMs: undefined,
    balanceCheckedAtMs: undefined,
    stuckCheckedAtMs: undefined,
    budgetsReadAtMs: 0,
    retired: undefined,
  };
}

/** The pause before the next round. A new item may end it early if `canBeWoken`. */
export interface Rest {
  readonly ms: number;
  readonly canBeWoken: boolean;
}

/**
 * The pause while there is nothing to send. Items accepted on any node wake the relayer; this poll of the database finds items whose
 * wake-up was lost.
 */
export const IDLE: Rest = { ms: 250, canBeWoken: true };

/** The name of the lease whose holder is the only writer of this signer's slots. */
export function relayLeaseName({ network, signer }: SenderId): string {
  return `relay ${network} ${signer}`;
}

const RETRY = { firstMs: 1_000, maxMs: 60_000 };

/** The backoff of an item that could not be sent, or was not paid. It grows with every attempt. */
export function retryDelayMs(world: Pick<World, 'random'>, attempts: number): number {
  return withJitter(world, backoffMs(RETRY, attempts + 1));
}

export interface Journal {
  /** The open sends that are not mined, within `SLOT_REACH`. */
  readonly open: readonly OpenSend[];
  /** The number of used slots. Every slot below this number is used. */
  readonly usedSlots: number;
  /** The first slot within reach that is neither used nor taken. */
  readonly nextSlot: number;
  /** True if a new slot may be taken. False while it is unknown which slot is free: then only open sends are maintained. */
  readonly mayTake: boolean;
}
