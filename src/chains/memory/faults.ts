import { type Block, type Chain, type ChainEvent, ChainUnavailableError } from '../chain.ts';

/** The methods of the port that call the chain and can therefore be unavailable. */
export const METHODS = [
  'check',
  'survey',
  'judge',
  'simulate',
  'isUsed',
  'minedNonce',
  'balance',
  'holding',
  'suggestFees',
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
] as const satisfies readonly (keyof Chain)[];

export type Method = (typeof METHODS)[number];

/** Faults of a broadcast. */
export type BroadcastFate =
  /** The transaction is accepted and the answer is lost: a 5xx or a timeout after the fact. */
  | 'answer_lost'
  /** Neither the transaction nor the answer arrives. */
  | 'lost'
  /** Accepted by a node that then forgets it. */
  | 'forgotten'
  /** Accepted, and invisible until broadcasts are released. */
  | 'held';

export interface Faults {
  /** Runs the method unless it is out of reach. */
  ask<T>(method: Method, run: () => T | Promise<T>): Promise<T>;
  nextFate(): BroadcastFate | undefined;
  /** The lies of an endpoint. */
  readonly lies: Lies;
  isDown(): boolean;
  readonly control: FaultControl;
}

export interface Lies {
  /** The number of blocks by which the endpoint secretly lags behind. */
  headLag: number;
  /** At this height `block` reports a wrong hash. */
  wrongHashAt: number | undefined;
  /** True if the other endpoints have another block. */
  isDisagreeing: boolean;
  /** The number of calls in which `events` finds nothing, like a replica that has the block but not yet its logs. */
  emptyEvents: number;
  /** Forged events that `events` adds, in their blocks. */
  inventedEvents: readonly ChainEvent[];
}

export interface FaultControl {
  /** Out of reach until `comeBack`: these methods, or all. */
  goDown(...methods: readonly Method[]): void;
  comeBack(...methods: readonly Method[]): void;
  /** The next calls fail, and those after them work. */
  failNext(method: Method, times?: number): void;
  /** Called before every answer: a simulation waits, counts or throws here. Undefined takes it away. */
  intercept(before: ((method: Method) => void | Promise<void>) | undefined): void;
  /** Sets the faults of the next broadcasts. */
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
      lie: (told) => void Object.assign(lies, told),
      beHonest: () => void Object.assign(lies, HONEST),
    },
  };
}

/** A block as a lying endpoint reports it. */
export function misquote(block: Block): Block {
  return { ...block, hash: `0x${block.hash.slice(2).split('').reverse().join('')}` };
}
