import { ChainUnavailableError } from '../chain-errors.ts';
import type { Block, ChainEvent, ChainReader } from '../chain-reader.ts';
import type { PayerSide } from '../payer-side.ts';
import type { Sender } from '../sender.ts';

/** The methods of the ports that call the chain and can therefore be unavailable. */
export const METHODS = [
  'check',
  'survey',
  'judge',
  'simulate',
  'isUsed',
  'usedSlots',
  'balance',
  'holding',
  'suggestOffer',
  'broadcast',
  'findTransaction',
  'isPaymentShown',
  'head',
  'block',
  'events',
  'incoming',
  'coinTransfer',
  'coinTransfers',
  'sentTransaction',
  'sentTransactions',
] as const satisfies readonly ('check' | keyof ChainReader | keyof PayerSide | keyof Sender)[];

export type Method = (typeof METHODS)[number];

export type BroadcastFate =
  /** The transaction is accepted, but the answer is lost, for example by a timeout. */
  | 'answer_lost'
  /** Neither the transaction nor the answer arrives. */
  | 'lost'
  /** A node accepts the transaction and then drops it. */
  | 'forgotten'
  /** The transaction is accepted, and stays invisible until broadcasts are released. */
  | 'held';

export interface Faults {
  /** Runs the method unless a fault makes it unavailable. */
  ask<T>(method: Method, run: () => T | Promise<T>): Promise<T>;
  nextFate(): BroadcastFate | undefined;
  readonly lies: Lies;
  isDown(): boolean;
  readonly control: FaultControl;
}

export interface Lies {
  /** The number of blocks by which the reported head is behind the real head. */
  headLag: number;
  /** The height at which `block` reports a wrong hash. */
  wrongHashAt: number | undefined;
  /** True if every endpoint reports a wrong block hash of its own, so that no two endpoints confirm a block. */
  isDisagreeing: boolean;
  /** The number of calls in which `events` finds nothing, like a replica that has the block and does not have its logs yet. */
  emptyEvents: number;
  /** Forged events that `events` adds, in their blocks. */
  inventedEvents: readonly ChainEvent[];
}

export interface FaultControl {
  /** Makes these methods, or all methods, unavailable until `comeBack`. */
  goDown(...methods: readonly Method[]): void;
  comeBack(...methods: readonly Method[]): void;
  failNext(method: Method, times?: number): void;
  /** Called before every answer. A simulation can wait, count or throw here. Undefined removes the hook. */
  intercept(before: ((method: Method) => void | Promise<void>) | undefined): void;
  broadcasts(fate: BroadcastFate, times?: number): void;
  /** Makes the endpoint lie, until `beHonest`. */
  lie(lies: Partial<Lies>): void;
  beHonest(): void;
}

const HONEST: Lies = {
  headLag: 0,
  wrongHashAt: undefined,
  isDisagreeing: false,
  emptyEvents: 0,
  inventedEvents: [],
};

export function createFaults(network: string): Faults {
  const down = new Set<Method>();
  const failures = new Map<Method, number>();
  const fates: BroadcastFate[] = [];
  const lies = { ...HONEST };
  let interceptor: ((method: Method) => void | Promise<void>) | undefined;

  async function ask<T>(method: Method, run: () => T | Promise<T>): Promise<T> {
    await interceptor?.(method);
    const left = failures.get(method) ?? 0;
    if (left > 0) failures.set(method, left - 1);
    if (left > 0 || down.has(method)) throw new ChainUnavailableError(network, 'out of reach');
    return run();
  }

  return {
    ask,
    nextFate: () => fates.shift(),
    lies,
    isDown: () => down.size === METHODS.length,
    control: {
      goDown: (...methods) => {
        for (const method of methods.length > 0 ? methods : METHODS) down.add(method);
      },
      comeBack: (...methods) => {
        for (const method of methods.length > 0 ? methods : METHODS) {
          down.delete(method);
          failures.delete(method);
        }
      },
      failNext: (method, times = 1) => void failures.set(method, times),
      intercept: (before) => {
        interceptor = before;
      },
      broadcasts: (fate, times = 1) => void fates.push(...Array.from({ length: times }, () => fate)),
      lie: (terms) => void Object.assign(lies, terms),
      beHonest: () => void Object.assign(lies, HONEST),
    },
  };
}

/** A block as a lying endpoint reports it. */
export function misquote(block: Block): Block {
  return { ...block, hash: `0x${block.hash.slice(2).split('').reverse().join('')}` };
}
