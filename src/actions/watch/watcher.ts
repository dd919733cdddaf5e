import type { Chain } from '../../chains/chain.ts';
import type { Chains } from '../../chains/chains.ts';
import type { ItemKey } from '../../domain/item.ts';
import type { Heights } from '../../domain/quorum.ts';
import type { Screening } from '../../screening/screening.ts';
import type { WatchedPlace } from '../../store/chain/deposit-places.ts';
import type { Lease } from '../../store/plumbing/leases.ts';
import type { Alarms } from '../alarms.ts';
import type { LeaseDeps } from '../lease.ts';
import type { PaymentMover } from '../paying/move-payment.ts';
import type { RowKeyDeps } from '../row-keys.ts';
import type { SubjectKeyDeps } from '../subject-keys.ts';

export interface WatchDeps extends LeaseDeps, RowKeyDeps, SubjectKeyDeps {
  readonly chains: Chains;
  readonly movePayment: PaymentMover;
  readonly screening: Screening;
  readonly settings: WatchSettings;
  readonly meters: WatchMeters;
}

export interface WatchSettings {
  /** The first block to read of a new chain; a little below its head if undefined. */
  startAt?(network: string): number | undefined;
  /** The least amount at a deposit address that is swept, in whole tokens. */
  sweepFrom?(network: string): bigint | undefined;
  /** How much less than asked still pays after the deadline, in hundredths of a percent. */
  toleranceBasisPoints?(): number;
  /** How many payments, outgoing items and deposit addresses a round takes; 500 if undefined. */
  readonly mostPerRound?: number;
}

export function mostPerRound({ settings }: WatchDeps): number {
  return settings.mostPerRound ?? 500;
}

/** Metrics of watching. */
export interface WatchMeters {
  blocks(network: string, at: { head: number; read: number; final: number }): void;
  event(network: string, outcome: 'paid' | 'refused' | 'unknown' | 'set_aside'): void;
  reorg(network: string, depth: number): void;
}

/** One network, for as long as this node leads it. */
export interface Watcher {
  readonly chain: Chain;
  readonly network: string;
  /** The depth of a final payment in blocks, its own included. */
  readonly depth: number;
  readonly lease: Lease;
  readonly undetermined: Alarms;
  /** Raised while endpoints contradict each other, and while a single endpoint is trusted. */
  readonly disputed: Alarms;
  readonly alone: Alarms;
  readonly memory: WatchMemory;
}

/** State that may be lost: then some calls are repeated. */
export interface WatchMemory {
  /** The times of the last reading of events, and of the last check of items that depend on time. */
  readAtMs: number;
  judgedAtMs: number;
  checkedAtMs: number;
  formerTendedAtMs: number;
  /** Nonces that were used by none of our transactions, with the height that had been read then. */
  readonly foreign: Map<string, number>;
  /** The height of the chain at the last question to the endpoints, and its time. */
  heights: Heights;
  heardAtMs: number;
  /** The contradictions of endpoints, in sentences, by the question that showed them. */
  readonly disputes: Map<Question, string>;
  /** The time of the next question about disputed events. */
  readonly askAgainAtMs: Map<string, number>;
  /** Searches for events that no list of logs contained. */
  readonly searches: Map<string, Search>;
  /** Unreadable logs by the subject of their alert. */
  readonly unread: Set<string>;
  /** The deposit addresses that are watched. Every row up to the settled number is committed and loaded. */
  readonly places: {
    readonly byAddress: Map<string, WatchedPlace>;
    settledNumber: number;
  };
  /** The rows that had their turn last. Rows that have to wait are asked again after all others. */
  readonly turns: {
    /** Payments, by merchant. */
    readonly payments: Map<string, string>;
    /** An item of a payout, refund or return. */
    outgoing: ItemKey | '';
  };
}

/** The progress of a search for an event: all blocks below `next` were read, and are final. */
export interface Search {
  readonly next: number;
  /** True if a single endpoint showed some of them. */
  readonly isAlone: boolean;
}

export type Question = 'events' | 'endings' | 'reorganisation' | 'deposits' | 'sends' | 'outgoing';

export function newWatchMemory(): WatchMemory {
  return {
    readAtMs: 0,
    judgedAtMs: 0,
    checkedAtMs: 0,
    formerTendedAtMs: 0,
    foreign: new Map(),
    heights: { agreed: undefined, alone: undefined },
    heardAtMs: 0,
    disputes: new Map(),
    askAgainAtMs: new Map(),
    searches: new Map(),
    unread: new Set(),
    places: { byAddress: new Map(), settledNumber: 0 },
    turns: { payments: new Map(), outgoing: '' },
  };
}

export function watchLeaseName(network: string): string {
  return `watch ${network}`;
}

/** The reading position of the watcher. */
export interface View {
  readonly readNumber: number;
  readonly finalNumber: number;
  readonly finalAtMs: number;
  /** The height of the chain according to its endpoints. */
  readonly heights: Heights;
  /** True if there is more to read. */
  readonly isBehind: boolean;
  /** True if the chain has moved since the last round. */
  readonly hasNews: boolean;
}
