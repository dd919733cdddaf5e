import type { Chain } from '../../chains/chain.ts';
import type { Signer } from '../../chains/signer.ts';
import { backoffMs, withJitter } from '../../runtime/backoff.ts';
import type { World } from '../../runtime/world.ts';
import type { SendLimits } from '../../store/chain/due-items.ts';
import type { OpenSend, SenderId } from '../../store/chain/sends.ts';
import type { Lease } from '../../store/plumbing/leases.ts';
import type { Alarms } from '../alarms.ts';
import type { LeaseDeps } from '../lease.ts';
import type { RowKeyDeps } from '../row-keys.ts';

export interface RelayDeps extends LeaseDeps, RowKeyDeps {
  readonly settings: RelaySettings;
  readonly meters: RelayMeters;
}

/** Settings of the operator. Amounts are in the smallest unit of the network's coin. */
export interface RelaySettings {
  /** A relayer's balance below this raises an alert. */
  minBalance?(network: string): bigint | undefined;
  /** The highest fee per unit of gas. */
  feeCap?(network: string): bigint | undefined;
  /** The maximum gas for all transactions of one item. */
  gasPerItem?(network: string): bigint | undefined;
  /** The maximum gas for the items of one payer within an hour. */
  gasPerPayerHour?(network: string): bigint | undefined;
  /** The maximum cost of gas on a network within an hour. */
  gasCostPerHour?(network: string): bigint | undefined;
}

/** After this many failures on the chain an item is not sent again, and waits for its deadline. */
const MAX_FAILURES = 3;

export function limitsOf({ settings }: { readonly settings: RelaySettings }, network: string): SendLimits {
  return { failures: MAX_FAILURES, gas: settings.gasPerItem?.(network) };
}

export interface RelayMeters {
  signed(network: string, why: 'first' | 'bump' | 'fill'): void;
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
  /** True if it sends only its own coin, like the intermediate account. */
  readonly isCoinOnly?: boolean;
  readonly lease: Lease;
  readonly alarms: RelayAlarms;
  readonly memory: RelayMemory;
}

export interface RelayAlarms {
  readonly lowBalance: Alarms;
  readonly stuckSend: Alarms;
  readonly outOfFunds: Alarms;
  readonly gasPrice: Alarms;
  readonly gasBudget: Alarms;
  /** The alert for an endpoint that contradicts the journal. */
  readonly nonces: Alarms;
}

/** State that may be lost: then some bytes are broadcast once more, and a batch waits a moment longer or shorter. */
export interface RelayMemory {
  /** The time of this process's last broadcast by nonce. */
  readonly broadcastAtMs: Map<number, number>;
  /** Nonces whose transactions the chain refused as underpriced. */
  readonly outbid: Set<number>;
  /** The time of the signer's last refusal to sign again, by nonce. */
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

/** Items accepted on any node wake the relayer. This poll of the database finds items whose wake-up was lost. */
export const IDLE: Rest = { ms: 250, canBeWoken: true };

/** The name of the lease whose holder is the only writer of this signer's nonces. */
export function relayLeaseName({ network, signer }: SenderId): string {
  return `relay ${network} ${signer}`;
}

const RETRY = { firstMs: 1_000, maxMs: 60_000 };

/** The backoff of an item that could not be sent, or was not paid. It grows with every attempt. */
export function retryDelayMs(world: Pick<World, 'random'>, attempts: number): number {
  return withJitter(world, backoffMs(RETRY, attempts + 1));
}

export interface Journal {
  /** The open sends from the mined nonce on, within `NONCE_REACH`. */
  readonly open: readonly OpenSend[];
  /** All nonces below this one are mined. */
  readonly minedNonce: number;
  /** The first nonce within reach that is neither mined nor taken. */
  readonly nextNonce: number;
  /** False while it is unknown which nonce is free: open sends are tended, and no new one is made. */
  readonly mayTake: boolean;
}
