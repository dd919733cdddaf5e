import type { Collected, Mined, MoneyEvent, Movement, PlaceKind, Swept } from '../../src/domain/money/movement.ts';

/** Chains as small as possible: balances, transactions in blocks of their own, and the contracts' rules. */

export const N1 = 'eip155:1';
export const N2 = 'eip155:2';
export const A = `${N1}/erc20:a`;
export const B = `${N1}/erc20:b`;
export const A2 = `${N2}/erc20:a`;

const COLLECTOR = 'collector';
export const FEES = 'fees';
/** The intermediate account. */
export const HELD = 'held';

/** The places of ours in this world. */
const PLACES: Readonly<Record<string, PlaceKind>> = { deposit: 'deposit', other: 'deposit', [HELD]: 'intermediate' };

function placeKind(address: string): PlaceKind | null {
  return PLACES[address] ?? null;
}

export interface ToyItem {
  readonly commitment: string;
  readonly subject: string;
  readonly payer: string;
  readonly asset: string;
  readonly amount: bigint;
  readonly fee: bigint;
  readonly recipient: string;
  readonly feeAccount: string;
  readonly deadlineS: number;
}

export interface ToyAddress {
  readonly address: string;
  readonly commitment: string;
  readonly askedAmount: bigint;
  readonly askedFee: bigint;
  readonly recipient: string;
}

/** A signed transaction. Carried out in another block it does what it can do there. */
export type Intent = { readonly hash: string; readonly network: string } & (
  | {
      readonly does: 'transfer';
      readonly asset: string;
      readonly from: string;
      readonly to: string;
      readonly amount: bigint;
    }
  | { readonly does: 'collect'; readonly items: readonly ToyItem[]; readonly kind: Collected['kind'] }
  | { readonly does: 'sweep'; readonly asset: string; readonly of: ToyAddress }
  /** An authorization to a deposit address, which is swept in the same transaction. */
  | { readonly does: 'pull'; readonly asset: string; readonly of: ToyAddress; readonly from: string }
);

export interface Block {
  readonly intent: Intent;
  readonly timeS: number;
  readonly mined: Mined;
}

export interface ToyChain {
  readonly blocks: readonly Block[];
  readonly timeS: number;
  readonly height: number;
  /** By address and asset. Outside accounts may be below zero: they are as rich as they like. */
  readonly balances: ReadonlyMap<string, bigint>;
}

export const EMPTY_CHAIN: ToyChain = { blocks: [], timeS: 0, height: 0, balances: new Map() };

export function balanceOf({ balances }: ToyChain, address: string, asset: string): bigint {
  return balances.get(`${address} ${asset}`) ?? 0n;
}

/** Mines a transaction in a block of its own. Undefined if it reverts, or was mined before. */
export function mine(chain: ToyChain, intent: Intent): ToyChain | undefined {
  if (chain.blocks.some((block) => block.intent.hash === intent.hash)) return undefined;
  const run = new Run(chain, intent);
  if (!run.execute()) return undefined;
  const block = { intent, timeS: chain.timeS + 1, mined: { legs: run.legs, events: run.events } };
  return {
    blocks: [...chain.blocks, block],
    timeS: chain.timeS + 1,
    height: chain.height + 1,
    balances: run.balances,
  };
}

/** The chain without its last blocks. Time and block numbers go on. */
export function withoutLast(chain: ToyChain, count: number): ToyChain {
  const blocks = chain.blocks.slice(0, chain.blocks.length - count);
  const balances = new Map<string, bigint>();
  for (const { mined } of blocks) for (const leg of mined.legs) transfer(balances, leg);
  return { ...chain, blocks, balances };
}

function transfer(balances: Map<string, bigint>, leg: Pick<Movement, 'from' | 'to' | 'asset' | 'amount'>): void {
  const [from, to] = [`${leg.from} ${leg.asset}`, `${leg.to} ${leg.asset}`];
  balances.set(from, (balances.get(from) ?? 0n) - leg.amount);
  balances.set(to, (balances.get(to) ?? 0n) + leg.amount);
}

/** One transaction while it runs. */
class Run {
  readonly legs: Movement[] = [];
  readonly events: MoneyEvent[] = [];
  readonly balances: Map<string, bigint>;
  private readonly chain: ToyChain;
  private readonly intent: Intent;

  constructor(chain: ToyChain, intent: Intent) {
    this.chain = chain;
    this.intent = intent;
    this.balances = new Map(chain.balances);
  }

  execute(): boolean {
    const { intent } = this;
    if (intent.does === 'transfer') return this.move(intent.asset, intent.from, intent.to, intent.amount);
    if (intent.does === 'collect') return this.collect(intent.items, intent.kind);
    if (intent.does === 'sweep') return this.sweep(intent.asset, intent.of);
    const { asset, from, of } = intent;
    return this.move(asset, from, of.address, of.askedAmount) && this.sweep(asset, of);
  }

  private at() {
    const { network, hash: transaction } = this.intent;
    const { timeS, height } = this.chain;
    const index = this.legs.length + this.events.length;
    return { network, transaction, blockTimeS: timeS + 1, block: height + 1, index };
  }

  private move(asset: string, from: string, to: string, amount: bigint): boolean {
    if (amount === 0n) return true;
    const isOurs = placeKind(from) !== null || from === COLLECTOR;
    if (isOurs && (this.balances.get(`${from} ${asset}`) ?? 0n) < amount) return false;
    const leg = { ...this.at(), asset, from, to, amount, fromPlace: placeKind(from), toPlace: placeKind(to) };
    this.legs.push(leg);
    transfer(this.balances, leg);
    return true;
  }

  private collect(items: readonly ToyItem[], kind: Collected['kind']): boolean {
    const fees = new Map<string, bigint>();
    for (const item of items) {
      const { asset, payer, recipient, amount, fee, feeAccount, commitment, subject, deadlineS } = item;
      if (this.chain.timeS + 1 > deadlineS) return false;
      if (!this.move(asset, payer, COLLECTOR, amount)) return false;
      if (!this.move(asset, COLLECTOR, recipient, amount - fee)) return false;
      const terms = { commitment, subject, payer, asset, amount, fee, recipient, feeAccount, deadlineS };
      this.events.push({ event: 'collected', ...this.at(), collector: COLLECTOR, kind, ...terms });
      fees.set(`${feeAccount} ${asset}`, (fees.get(`${feeAccount} ${asset}`) ?? 0n) + fee);
    }
    for (const [key, fee] of fees) {
      const [feeAccount = '', asset = ''] = key.split(' ');
      if (!this.move(asset, COLLECTOR, feeAccount, fee)) return false;
    }
    return true;
  }

  private sweep(asset: string, { address, commitment, askedAmount, askedFee, recipient }: ToyAddress): boolean {
    const amount = this.balances.get(`${address} ${asset}`) ?? 0n;
    if (amount === 0n) return false;
    // The rule of the contract, written once more: the world must not borrow the functions that it checks.
    const fee = amount > askedAmount ? askedFee : (amount * askedFee) / askedAmount;
    this.move(asset, address, FEES, fee);
    this.move(asset, address, recipient, amount - fee);
    const terms = { address, commitment, subject: '', askedToken: 'a', askedAmount, askedFee, feeAccount: FEES };
    const swept: Swept = { event: 'swept', ...this.at(), ...terms, asset, amount, fee, recipient };
    this.events.push(swept);
    return true;
  }
}
