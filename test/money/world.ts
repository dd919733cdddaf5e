import { refundIdOf, refundNumberOf } from '../../src/domain/ids.ts';
import type { Fact } from '../../src/domain/money/fact.ts';
import { beginFold, type Fold, goOn } from '../../src/domain/money/fold.ts';
import { type Holdings, holdingsOf, type Spend } from '../../src/domain/money/holding.ts';
import { judgeFold, lotsOf } from '../../src/domain/money/judge.ts';
import {
  type Carried,
  type Covered,
  choosePayouts,
  chooseSweeps,
  coverRefund,
  coverReturn,
  feeOfReturned,
  payoutKeyOf,
  payoutKeyOfLot,
  returnIdFrom,
  spendsOfPayout,
} from '../../src/domain/money/money-out.ts';
import type { Known } from '../../src/domain/money/owner.ts';
import { type Posting, positionEntries } from '../../src/domain/money/position-entries.ts';
import type { Ending, Lot, PaymentTerms, Way } from '../../src/domain/money/terms.ts';
import { placeOf, type Reading, readMined, type Unowned } from './read-mined.ts';
import { A, B, type Block, EMPTY_CHAIN, FEES, HELD, type Intent, mine, N1, N2, type ToyChain } from './toy-chain.ts';
import { wholePosition } from './whole-position.ts';

/**
 * A world with one payment that everything happens to, and another merchant's payment whose money lies on the same
 * intermediate account. The gateway's part of the world is made of the pure functions alone.
 */

export const DEADLINE_S = 1_000;
const NEVER_S = 1_000_000;
export const ASKED = 100n;
export const FEE = 7n;
/** Refunds are of this amount each, with its part of the fee. */
export const REFUND = 30n;
export const REFUND_FEE = 2n;
export const MINIMUM = 10n;
/** The other merchant's money: it must be there at the end, and nobody else may spend it. */
export const OTHERS = 93n;
export const PAYMENT = 'pay_01J9Z3K8Q0V5N7B2M4X6C8D0F2';
const ADDRESS = {
  ...{ address: 'deposit', commitment: 'D', askedAmount: ASKED, askedFee: FEE, recipient: HELD },
} as const;
const OTHER_ADDRESS = { ...ADDRESS, address: 'other', commitment: 'O' } as const;

const way = { network: N1, asset: A, asked: ASKED, fee: FEE, deadlineS: DEADLINE_S, recipient: HELD, isHeld: true };
const WAYS: readonly Way[] = [
  { ...way, kind: 'deposit', commitment: 'D' },
  { ...way, kind: 'item', commitment: 'I' },
  { ...way, kind: 'item', commitment: 'J', recipient: 'merchant', isHeld: false },
  { ...way, kind: 'item', commitment: 'K', asset: B },
];
export const TERMS: PaymentTerms = {
  ...{ payment: PAYMENT, merchant: 'mrch', ways: WAYS, toleranceBasisPoints: 100 },
  dustBelow: { [A]: 5n, [B]: 5n },
};

/** Orders have their ids in their commitments here, as the MAC of a subject would prove them. */
export const KNOWN: Known = {
  items: { has: (key) => key.includes(' order:') || [' I', ' J', ' K'].some((end) => key.endsWith(end)) },
  orders: { has: (key) => key.includes(' order:') },
  deposits: new Map([
    ['deposit', 'D'],
    ['other', 'O'],
  ]),
  accounts: new Map([[HELD, 'intermediate']]),
};

export interface Order {
  readonly id: string;
  readonly intent: Intent;
  readonly asset: string;
  readonly amount: bigint;
  readonly spends: readonly Spend[];
  /** The part that the merchant's float has paid. */
  readonly merchantFloat: bigint;
}

export interface World {
  readonly chain: ToyChain;
  readonly serial: number;
  readonly ending: Ending | undefined;
  readonly fold: Fold;
  /** The blocks that the fold contains. */
  readonly folded: readonly Block[];
  readonly holdings: Holdings;
  readonly booked: readonly Posting[];
  /** The books as they grew, entry by entry. */
  readonly books: ReadonlyMap<string, bigint>;
  readonly orders: readonly Order[];
  readonly refunds: readonly { readonly number: number; readonly amount: bigint; readonly fee: bigint }[];
  readonly refunded: bigint;
  readonly returns: readonly string[];
  readonly claims: ReadonlyMap<string, bigint>;
  readonly hasDestination: boolean;
  readonly isReleased: boolean;
  /** True once a reorg has dropped a transaction for good, or a rebuild has forgotten what is not on the chain. */
  readonly hasLost: boolean;
  readonly isRebuilt: boolean;
}

export function firstWorld(): World {
  const fold = beginFold(TERMS, undefined);
  const none = { orders: [], refunds: [], refunded: 0n, returns: [], booked: [], folded: [] };
  const flags = { hasDestination: false, isReleased: false, hasLost: false, isRebuilt: false };
  const empty = { holdings: holdingsOf([], []), books: new Map(), claims: new Map(), ending: undefined };
  const world: World = { chain: EMPTY_CHAIN, serial: 0, fold, ...none, ...flags, ...empty };
  const paid = sent(world, { does: 'transfer', network: N1, asset: A, from: 'buyer', to: 'other', amount: ASKED });
  return sent(paid, { does: 'sweep', network: N1, asset: A, of: OTHER_ADDRESS });
}

/** An intent without its hash. */
type Doing = Intent extends infer Each ? (Each extends Intent ? Omit<Each, 'hash'> : never) : never;

/** Mines a transaction of somebody. A transaction that reverts changes nothing. */
export function sent(world: World, doing: Doing, hash = `0x${world.serial}`): World {
  const chain = mine(world.chain, { ...doing, hash } as Intent);
  return chain === undefined ? world : { ...world, chain, serial: world.serial + 1 };
}

export function swept(world: World, network: string, asset: string): World {
  return sent(world, { does: 'sweep', network, asset, of: ADDRESS });
}

export function pulled(world: World): World {
  return sent(world, { does: 'pull', network: N1, asset: A, of: ADDRESS, from: 'agent' }, '0xagent');
}

export function collected(world: World, commitment: string, kind: 'key' | 'permit2'): World {
  const found = WAYS.find((each) => each.commitment === commitment);
  if (found === undefined) return world;
  const { asset, asked: amount, fee, recipient, deadlineS } = found;
  const terms = { asset, amount, fee, recipient, feeAccount: FEES, deadlineS };
  const item = { ...terms, commitment, subject: PAYMENT, payer: 'wallet' };
  return sent(world, { does: 'collect', network: N1, items: [item], kind }, `${commitment} ${kind}`);
}

/** A stranger copies the subject of the payment: one item to our account, one into the deposit address. */
export function forged(world: World): World {
  const common = { subject: PAYMENT, payer: 'stranger', asset: A, feeAccount: HELD, deadlineS: NEVER_S };
  const items = [
    { ...common, commitment: `F${world.serial}`, amount: 3n, fee: 2n, recipient: HELD },
    { ...common, commitment: `G${world.serial}`, amount: 33n, fee: 3n, recipient: 'deposit' },
  ];
  return sent(world, { does: 'collect', network: N1, items, kind: 'key' });
}

const readings = new WeakMap<Block, Reading>();

export function readingOf(block: Block): Reading {
  const known = readings.get(block);
  if (known !== undefined) return known;
  const reading = readMined(block.mined, KNOWN, (_, sender) => sender === 'listed');
  readings.set(block, reading);
  return reading;
}

/** The gateway reads the chain, judges the payment, books the difference and carries out what was asked for. */
export function readChain(world: World): World {
  return booked(serve(read(world)));
}

export function read(world: World): World {
  let fold = foldOf(world);
  let { ending } = world;
  if (ending === undefined) {
    const { timeS } = world.chain;
    const times = new Map([
      [N1, timeS],
      [N2, timeS],
    ]);
    ending = judgeFold(fold, times);
    if (ending !== undefined) fold = goOn(beginFold(TERMS, ending), factsOf(world.chain.blocks));
  }
  return held({ ...world, ending, fold, folded: world.chain.blocks });
}

/** Goes on from the last fold while the chain only grows. */
function foldOf({ chain, fold, folded, ending }: World): Fold {
  const isGrown = folded.every((block, index) => chain.blocks[index] === block) && fold.ending === ending;
  if (isGrown) return goOn(fold, factsOf(chain.blocks.slice(folded.length)));
  return goOn(beginFold(TERMS, ending), factsOf(chain.blocks));
}

export function factsOf(blocks: readonly Block[]): Fact[] {
  return blocks.flatMap((block) => [...readingOf(block).facts]);
}

function isOnChain({ chain }: World, { intent }: Order): boolean {
  return chain.blocks.some((block) => block.intent.hash === intent.hash);
}

/** The holdings that follow from the fold and the orders. */
function held(world: World): World {
  const spends = world.orders.flatMap((order) => {
    const isDone = isOnChain(world, order);
    return order.spends.map((spend) => (spend.isDone === isDone ? spend : { ...spend, isDone }));
  });
  return { ...world, holdings: holdingsOf(lotsOf(world.fold), spends) };
}

const ABOUT = { subject: TERMS.payment, merchantId: TERMS.merchant };

/** Books the difference to the position that was booked last. */
export function booked(world: World): World {
  const next = wholePosition(TERMS.merchant, world.holdings);
  const books = new Map(world.books);
  for (const { asset, lines } of positionEntries(ABOUT, world.booked, next, () => undefined)) {
    for (const { account, units } of lines) {
      books.set(`${account} ${asset}`, (books.get(`${account} ${asset}`) ?? 0n) + units);
    }
  }
  return { ...world, booked: next, books };
}

/** Money at our account that nobody owns. */
function unownedOf({ chain: { blocks } }: World): readonly Unowned[] {
  const known = unowned.get(blocks);
  if (known !== undefined) return known;
  const found = blocks.flatMap((block) => [...readingOf(block).unowned]);
  unowned.set(blocks, found);
  return found;
}

const unowned = new WeakMap<readonly Block[], readonly Unowned[]>();

/** The part of an order that no lot covers came from floats. */
function fromFloats({ amount, spends }: Order): bigint {
  return amount - spends.reduce((sum, spend) => sum + spend.amount, 0n);
}

/** The rest of the money that nobody owns. Only the claimed part of it is a float. */
export function poolOf(world: World, asset: string, isClaimedAlone: boolean): bigint {
  const brought = unownedOf(world)
    .filter((each) => each.asset === asset && (!isClaimedAlone || world.claims.has(each.id)))
    .reduce((sum, { amount }) => sum + amount, 0n);
  const used = world.orders.filter((order) => order.asset === asset).reduce((sum, each) => sum + fromFloats(each), 0n);
  return brought - used;
}

function rulesOf({ holdings, returns, isReleased }: World) {
  const listed = isReleased ? [] : holdings.lots.filter(({ isScreened }) => isScreened).map(({ id }) => id);
  return { stopped: new Set(listed), returning: new Set(returns), minimum: () => MINIMUM };
}

/** Refunds and returns that were asked for begin as soon as they are covered. */
export function serve(world: World): World {
  let next = world;
  for (const refund of world.refunds) {
    if (next.ending?.is !== 'paid') break;
    const { number, ...terms } = refund;
    const order = { ...terms, id: refundIdOf(PAYMENT, number) };
    const cover = coverRefund(next.ending, next.holdings, order, rulesOf(next));
    const asset = assetThatPaid(next.ending);
    const begun = begin(next, { id: order.id, asset, network: N1, cover, to: 'refunded' });
    if (begun !== undefined) next = { ...begun, refunds: begun.refunds.filter((each) => each !== refund) };
  }
  for (const id of next.returns) {
    const lot = next.holdings.lots.find((each) => each.id === id);
    if (lot === undefined) continue;
    const { asset, network } = lot;
    const cover = coverReturn(next.holdings, lot);
    const begun = begin(next, { id: returnIdFrom(id), asset, network, cover, to: 'refunded' });
    if (begun !== undefined) next = { ...begun, returns: begun.returns.filter((each) => each !== id) };
  }
  return next;
}

function assetThatPaid(ending: Ending): string {
  return ending.is === 'paid' && ending.commitment === 'K' ? B : A;
}

interface Beginning {
  readonly id: string;
  readonly asset: string;
  readonly network: string;
  readonly cover: Covered;
  readonly to: string;
}

/** Orders a transfer and sends it. Undefined if it has to wait. */
function begin(world: World, { id, asset, network, cover, to }: Beginning): World | undefined {
  if (cover.is === 'waiting' || placeOf(KNOWN, to) !== null) return undefined;
  const floats = cover.merchantFloat + cover.operatorFloat;
  if (floats > 0n && poolOf(world, asset, true) < floats) return undefined;
  const amount = floats + cover.spends.reduce((sum, spend) => sum + spend.amount, 0n);
  return order(world, { id, asset, network, to, amount, spends: cover.spends, merchantFloat: cover.merchantFloat });
}

function order(
  world: World,
  { id, asset, network, to, amount, spends, merchantFloat }: Omit<Order, 'intent'> & { network: string; to: string },
): World {
  const terms = { payer: HELD, asset, amount, fee: 0n, recipient: to, feeAccount: FEES, deadlineS: NEVER_S };
  const items = [{ ...terms, subject: id, commitment: `order:${id}` }];
  const intent: Intent = { does: 'collect', hash: `order ${id}`, network, kind: 'key', items };
  if (world.orders.some((each) => each.id === id)) throw new Error(`The order ${id} exists.`);
  const chain = mine(world.chain, intent) ?? world.chain;
  return held({ ...world, chain, orders: [...world.orders, { id, intent, asset, amount, spends, merchantFloat }] });
}

/** Sends orders again that a reorg has removed, and begins payouts if the merchant has a destination. */
export function paidOut(world: World): World {
  let next = world;
  for (const each of world.orders) {
    const chain = isOnChain(next, each) ? undefined : mine(next.chain, each.intent);
    if (chain !== undefined) next = held({ ...next, chain });
  }
  if (!world.hasDestination) return next;
  for (const payout of choosePayouts(next.ending, next.holdings, rulesOf(next))) {
    // A rebuild that could not place a payout leaves its money to the operator.
    if (next.orders.some(({ id }) => id === payout.id)) continue;
    next = order(next, { ...payout, to: 'merchant', merchantFloat: 0n });
  }
  return next;
}

export function sweptByUs(world: World): World {
  let next = world;
  for (const { network, asset } of chooseSweeps(world.holdings.lots, rulesOf(world))) {
    next = swept(next, network, asset);
  }
  return next;
}

export function claimed(world: World): World {
  const fresh = unownedOf(world).filter(({ id, amount }) => amount > 0n && !world.claims.has(id));
  if (fresh.length === 0) return world;
  const claims = new Map([...world.claims, ...fresh.map(({ id, amount }) => [id, amount] as const)]);
  return { ...world, claims };
}

/** The first number that no refund has. */
export function nextRefundNumber({ refunds, orders }: World): number {
  const taken = (number: number) =>
    refunds.some((each) => each.number === number) || orders.some(({ id }) => id === refundIdOf(PAYMENT, number));
  let number = 1;
  while (taken(number)) number += 1;
  return number;
}

/** Unexpected money whose return nobody has asked for yet. */
export function returnable(world: World): Lot | undefined {
  const isKnown = (id: string) =>
    world.returns.includes(id) || world.orders.some((each) => each.id === returnIdFrom(id));
  return world.holdings.lots.find(({ id, reason }) => reason !== null && !isKnown(id));
}

/**
 * An empty database is filled from the chain: endings, lots and orders. Claims, requests and cancellations are not there. Orders
 * are restored one after the other, and refunds last, as a rebuild of the gateway does.
 */
export function rebuilt(world: World): World {
  const { chain, serial, hasDestination, isReleased } = world;
  const carried = chain.blocks.flatMap((block) =>
    readingOf(block).sent.map(({ commitment, ...sent }) => {
      return { ...sent, order: commitment.slice('order:'.length), intent: block.intent };
    }),
  );
  const rank = ({ order: id }: Carried) => (id.startsWith('rfnd_') ? refundNumberOf(id) : 0);
  let next = read({ ...firstWorld(), chain, serial, hasDestination, isReleased, hasLost: true, isRebuilt: true });
  for (const each of carried.toSorted((a, b) => rank(a) - rank(b))) {
    const { order: id, intent, asset, amount } = each;
    const spends = spendsBehind(next, each).map((spend) => ({ ...spend, isDone: true }));
    next = held({ ...next, orders: [...next.orders, { id, intent, asset, amount, spends, merchantFloat: 0n }] });
    if (id.startsWith('rfnd_')) next = { ...next, refunded: next.refunded + amount };
  }
  return next;
}

/** The lots behind a transfer. None if the money that it took is not on the chain any more: floats lack it then. */
function spendsBehind({ ending, holdings }: World, carried: Carried): readonly Spend[] {
  const { order: id, network, asset, account, amount } = carried;
  const place = holdings.held.filter(
    (lot) => lot.network === network && lot.asset === asset && lot.account === account,
  );
  if (id.startsWith('pout_')) {
    const isKnown = holdings.lots.some((lot) => payoutKeyOfLot(lot.id) === payoutKeyOf(id));
    const isCovered = place.reduce((sum, { remainder }) => sum + remainder, 0n) >= amount;
    return isKnown && isCovered ? spendsOfPayout(holdings, carried) : [];
  }
  if (id.startsWith('rfnd_')) {
    const refund = { id, amount, fee: REFUND_FEE };
    const rules = { stopped: new Set<string>(), returning: new Set<string>(), minimum: () => MINIMUM };
    // The gateway cannot place the refund of another asset than the one that paid.
    const isSame = ending?.is === 'paid' && assetThatPaid(ending) === asset;
    const cover = isSame ? coverRefund(ending, holdings, refund, rules) : undefined;
    return cover?.is === 'covered' ? cover.spends : [];
  }
  const lot = holdings.lots.find((each) => returnIdFrom(each.id) === id);
  // The gateway cannot place the return of money that paid: a rebuild does not know the cancellation.
  if (lot === undefined || lot.reason === null) return [];
  // Dust may have joined the lot since.
  const fee = feeOfReturned(lot, amount);
  const cover = coverReturn(holdings, { ...lot, fee, net: amount - fee });
  return cover.is === 'covered' ? cover.spends : [];
}
