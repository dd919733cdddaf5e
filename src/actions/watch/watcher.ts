import type { Chain } from '../../chains/chain.ts';
import { ChainUnavailableError } from '../../chains/chain.ts';
import type { Chains } from '../../chains/chains.ts';
import type { Heights } from '../../domain/quorum.ts';
import type { Screening } from '../../screening/screening.ts';
import type { PaymentFeed } from '../../store/payments/payment-feed.ts';
import { databaseFault } from '../../store/plumbing/database.ts';
import type { Lease } from '../../store/plumbing/leases.ts';
import type { Alarms } from '../alarms.ts';
import { type LeaseDeps, LeaseLostError } from '../lease.ts';
import type { PaymentMover } from '../paying/move-payment.ts';

export interface WatchDeps extends LeaseDeps {
  readonly chains: Chains;
  readonly movePayment: PaymentMover;
  /** Tells all nodes of a payment that changed without moving. */
  readonly feed: Pick<PaymentFeed, 'announce'>;
  readonly screening: Screening;
  readonly settings: WatchSettings;
  readonly meters: WatchMeters;
}

export interface WatchSettings {
  /** Where a chain that was never read before is begun; a little below its head if undefined. */
  startAt?(network: string): number | undefined;
}

/** What is counted while watching. */
export interface WatchMeters {
  blocks(network: string, at: { head: number; read: number; final: number }): void;
  event(network: string, outcome: 'paid' | 'refused' | 'unknown' | 'set_aside'): void;
  reorg(network: string, depth: number): void;
}

/** One network, for as long as this node leads it. */
export interface Watcher {
  readonly chain: Chain;
  readonly network: string;
  /** Blocks a payment must lie deep, its own counted. */
  readonly depth: number;
  readonly lease: Lease;
  readonly undetermined: Alarms;
  /** Raised while endpoints contradict each other, and while one alone is believed. */
  readonly disputed: Alarms;
  readonly alone: Alarms;
  readonly memory: WatchMemory;
}

/** What need not survive: when it is forgotten, something is asked once more. */
export interface WatchMemory {
  /** When events were last read, and when everything that depends on time was last looked at. */
  readAtMs: number;
  judgedAtMs: number;
  checkedAtMs: number;
  /** Nonces that were used by none of our transactions, with the block everybody had seen by then. */
  readonly foreign: Map<string, number>;
  /** How far the chain had come when endpoints were last asked, and when that was. */
  heights: Heights;
  heardAtMs: number;
  /** What endpoints contradict each other about, in words, by the question it came up with. */
  readonly disputes: Map<Question, string>;
  /** When disputed events are asked about again. */
  readonly askAgainAtMs: Map<string, number>;
  /** Logs that could not be read, by the subject of their alert. */
  readonly unread: Set<string>;
}

export type Question = 'events' | 'endings' | 'reorganisation';

export function newWatchMemory(): WatchMemory {
  return {
    readAtMs: 0,
    judgedAtMs: 0,
    checkedAtMs: 0,
    foreign: new Map(),
    heights: { agreed: undefined, alone: undefined },
    heardAtMs: 0,
    disputes: new Map(),
    askAgainAtMs: new Map(),
    unread: new Set(),
  };
}

export function watchLeaseName(network: string): string {
  return `watch ${network}`;
}

/** How far the chain has been read. */
export interface View {
  readonly readNumber: number;
  readonly finalNumber: number;
  readonly finalAtMs: number;
  /** How far the chain has come by the word of its endpoints. */
  readonly heights: Heights;
  /** Whether there is more to read. */
  readonly isBehind: boolean;
  /** Whether something is new since the last look. */
  readonly hasNews: boolean;
}

/** Whether the fault lies with the thing itself: then it is set aside, and everything else goes on. */
export function isItsOwnFault(error: unknown): boolean {
  if (error instanceof ChainUnavailableError || error instanceof LeaseLostError) return false;
  return databaseFault(error) === undefined;
}
