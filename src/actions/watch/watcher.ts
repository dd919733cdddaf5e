import type { Chain } from '../../chains/chain.ts';
import type { Chains } from '../../chains/chains.ts';
import type { ItemKey } from '../../domain/item.ts';
import type { Heights } from '../../domain/quorum.ts';
import type { Screening } from '../../screening/screening.ts';
import type { EventTurns } from '../../store/chain/chain-events.ts';
import type { WatchedPlace } from '../../store/chain/deposit-places.ts';
import type { Lease } from '../../store/plumbing/leases.ts';
import type { Alarms } from '../alarms.ts';
import type { ReportedBlock, ReportedEvents } from '../evidence.ts';
import type { LeaseDeps } from '../lease.ts';
import type { PaymentMover } from '../paying/payment-mover.ts';
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
  /** The block at which the first reading of a chain begins; a little below the head if undefined. */
  startAt?(network: string): number | undefined;
  /** The smallest amount at a deposit address that is swept, in whole tokens. */
  sweepFrom?(network: string): bigint | undefined;
  /** The part of the requested amount that may be missing after the deadline, in hundredths of a percent. */
  toleranceBasisPoints?(): number;
  /** The maximum number of payments, outgoing items, deposit addresses and events in a round; 500 if undefined. */
  readonly mostPerRound?: number;
  /** The number of proved movements to an address after which they are added up in a checkpoint; 100 if undefined. */
  readonly movementsPerCheckpoint?: number;
}

export function mostPerRound({ settings }: WatchDeps): number {
  return settings.mostPerRound ?? 500;
}

export interface WatchMeters {
  blocks(network: string, at: { head: number; read: number; final: number }): void;
  event(network: string, outcome: 'paid' | 'refused' | 'unknown' | 'set_aside'): void;
  reorg(network: string, depth: number): void;
}

/** One network, while this node holds its lease. */
export interface Watcher {
  readonly chain: Chain;
  readonly network: string;
  /** The depth of a final payment in blocks, including its own block. */
  readonly depth: number;
  readonly lease: Lease;
  readonly undetermined: Alarms;
  /** The alert for endpoints that contradict each other. */
  readonly disputed: Alarms;
  /** The alert while only a single endpoint can be asked. */
  readonly alone: Alarms;
  readonly memory: WatchMemory;
}

/** The watcher's state in memory. If it is lost, some calls are repeated. */
export interface WatchMemory {
  /** The time of the last reading of events. */
  readAtMs: number;
  /** The time of the last complete check of everything that depends on time. */
  judgedAtMs: number;
  /** The time of the last check for items whose outcome is unknown for too long. */
  checkedAtMs: number;
  /** The time of the last maintenance of transactions of former relayers. */
  formerMaintainedAtMs: number;
  /** The time of the last check whether given-up transactions were mined. */
  givenUpReadAtMs: number;
  /**
   * Slots of our accounts that were used by a transaction which is not ours. The value is the height up to which the chain had been
   * read at the discovery.
   */
  readonly foreign: Map<string, number>;
  /** The height of the chain as the endpoints last reported it. */
  heights: Heights;
  /** The time of the last request for the height of the chain. */
  askedAtMs: number;
  /** The contradictions of endpoints, one sentence for each question. */
  readonly disputes: Map<Question, string>;
  /** The earliest time of the next request about a disputed event. */
  readonly askAgainAtMs: Map<string, number>;
  /** Searches for events that were missing in every list of logs. */
  readonly searches: Map<string, Search>;
  /** The blocks that the searches of this round have read. */
  reads: RoundReads;
  /** The subjects of the alerts for unreadable logs. */
  readonly unread: Set<string>;
  /** The watched deposit addresses. Every row up to `settledNumber` is committed and loaded. */
  readonly places: {
    readonly byAddress: Map<string, WatchedPlace>;
    settledNumber: number;
  };
  /** The blocks that were read for addresses whose money the stored transfers do not explain, by `provedKey`. */
  readonly earlier: {
    /** The pages that this round may still read. */
    pagesLeft: number;
    readonly read: Map<string, EarlierBlocks>;
  };
  /**
   * For each deposit address, by `provedKey`: the block time, in Unix seconds, up to which enough endpoints have confirmed all of its
   * money in this round. Larger amounts need more depth, so this time is earlier for them.
   */
  readonly provedTimes: Map<string, number>;
  /** The rows at which the last page ended. The next page begins behind them, so rows that cannot progress do not delay other rows. */
  readonly turns: {
    /**
     * By merchant: the id of the payment that was judged last. The merchants are in the order of these judgements, the latest at the end.
     */
    readonly payments: Map<string, string>;
    /** The outgoing item that was judged last. */
    outgoing: ItemKey | '';
    /** By type: the last event that had its turn. Empty if the last round had all undecided events. */
    events: EventTurns;
    /**
     * The number of claims (events that may prove a restore) that were checked in earlier rounds. The next round continues with the claim
     * after them.
     */
    claims: number;
  };
}

/** A range of blocks that was read for one deposit address. */
export interface EarlierBlocks {
  readonly from: number;
  readonly to: number;
  /** True if the range begins before the payment was created. */
  readonly isWhole: boolean;
}

/** The progress of a search for an event: all blocks below `next` were read, and are final. */
export interface Search {
  readonly next: number;
  /** True if only a single endpoint answered for some of these blocks. */
  readonly isAlone: boolean;
}

/**
 * The blocks and events that were read in a round. Searches share them: a payer who uses the nonces of many signatures elsewhere
 * causes a search for each signature, and all of them read the same blocks.
 */
export interface RoundReads {
  readonly events: Map<string, Promise<ReportedEvents>>;
  readonly blocks: Map<string, Promise<ReportedBlock>>;
}

export function provedKey({ network, commitment }: { readonly network: string; readonly commitment: string }): string {
  return `${network} ${commitment}`;
}

export function newRoundReads(): RoundReads {
  return { events: new Map(), blocks: new Map() };
}

export type Question = 'events' | 'endings' | 'reorganisation' | 'deposits' | 'sends' | 'outgoing';

export function newWatchMemory(): WatchMemory {
  return {
    readAtMs: 0,
    judgedAtMs: 0,
    checkedAtMs: 0,
    formerMaintainedAtMs: 0,
    givenUpReadAtMs: 0,
    foreign: new Map(),
    heights: { agreed: undefined, alone: undefined },
    askedAtMs: 0,
    disputes: new Map(),
    askAgainAtMs: new Map(),
    searches: new Map(),
    reads: newRoundReads(),
    unread: new Set(),
    places: { byAddress: new Map(), settledNumber: 0 },
    earlier: { pagesLeft: 0, read: new Map() },
    provedTimes: new Map(),
    turns: { payments: new Map(), outgoing: '', events: new Map(), claims: 0 },
  };
}

export function watchLeaseName(network: string): string {
  return `watch ${network}`;
}

/** The state of a chain as the watcher has read it. */
export interface View {
  readonly readNumber: number;
  readonly finalNumber: number;
  /** The time of block `finalNumber` according to one endpoint. It proves nothing. */
  readonly finalAtMs: number;
  /** The height of the chain according to its endpoints. */
  readonly heights: Heights;
  /** True if the chain has blocks that are not read yet. */
  readonly isBehind: boolean;
  /** True if the chain has moved since the last round. */
  readonly hasNews: boolean;
}
