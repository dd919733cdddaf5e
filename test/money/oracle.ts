import { returnIdFrom } from '../../src/domain/money/money-out.ts';
import type { Lot } from '../../src/domain/money/terms.ts';
import { atTime, toppedUp } from './acts.ts';
import { A, A2, B, type Block, balanceOf, FEES, HELD, type ToyChain } from './toy-chain.ts';
import {
  ASKED,
  booked,
  claimed,
  DEADLINE_S,
  FEE,
  MINIMUM,
  OTHERS,
  paidOut,
  poolOf,
  read,
  serve,
  sweptByUs,
  type World,
} from './world.ts';

/**
 * Counts money on the chains, by asset and account, and compares it with what the gateway says. It knows nothing of lots.
 * It names the first thing that is wrong.
 */
export function faultIn(world: World, before: World | undefined): string | undefined {
  return balancesFault(world) ?? endingFault(world, before) ?? rebuildFault(world, before);
}

/** The remainders of lots, by network, asset and account: an order on the chain names no lot but its first. */
function held({ holdings }: World): string {
  const sums = new Map<string, bigint>();
  for (const { network, asset, account, remainder } of holdings.held) {
    const place = `${network} ${asset} ${account}`;
    sums.set(place, (sums.get(place) ?? 0n) + remainder);
  }
  const some = [...sums].filter(([, sum]) => sum !== 0n).map(([place, sum]) => `${place} ${sum}`);
  return some.sort().join();
}

/**
 * A rebuild finds the money of the live database again, if it also finds the ending and no order was open. If the merchant's float
 * has paid, the chain does not tell whether it was that or a lot of the merchant that came later: only their sum is the same. It does
 * not tell the fee of a lot that has grown since its return either.
 */
function rebuildFault(world: World, before: World | undefined): string | undefined {
  if (!world.isRebuilt || before === undefined || before.hasLost || before.chain !== world.chain) return undefined;
  const isSameEnding = JSON.stringify(world.ending, asText) === JSON.stringify(before.ending, asText);
  if (!isSameEnding || before.orders.length !== world.orders.length) return undefined;
  if (before.orders.some(({ merchantFloat }) => merchantFloat > 0n)) return undefined;
  const hasGrown = ({ id, amount }: Lot) =>
    before.orders.some((order) => order.id === returnIdFrom(id) && order.amount !== amount);
  if (before.holdings.lots.some(hasGrown)) return undefined;
  return held(world) === held(before) ? undefined : 'a rebuild has found other money';
}

function asText(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}` : value;
}

const ASSETS = [A, B, A2];
const TOUCHED = ASSETS.map((asset) => [asset, ['deposit', HELD, 'wallet'].map((name) => `${name} ${asset}`)] as const);

/** The assets that have moved, or of which the gateway knows something. */
function assetsIn({ chain, holdings }: World): string[] {
  return TOUCHED.filter(
    ([asset, keys]) => keys.some((key) => chain.balances.has(key)) || holdings.lots.some((lot) => lot.asset === asset),
  ).map(([asset]) => asset);
}

function balancesFault(world: World): string | undefined {
  const { chain, books } = world;
  const counted = countOn(chain);
  for (const asset of assetsIn(world)) {
    const others = asset === A ? { held: OTHERS, fees: FEE } : { held: 0n, fees: 0n };
    const stated = statedOf(world, asset);
    const { brought, foreign } = counted.get(asset) ?? NOTHING;
    const held = balanceOf(chain, HELD, asset) - others.held;
    const fees = balanceOf(chain, FEES, asset) - others.fees;
    const waiting = balanceOf(chain, 'deposit', asset);
    const pool = poolOf(world, asset, false);
    const unclaimed = foreign - claimedOf(world, asset);
    const book = (account: string) => books.get(`${account} ${asset}`) ?? 0n;
    const wrong =
      differ('arrived', stated.amount, brought) ??
      differ('waiting at the address', stated.waiting, waiting) ??
      differ('fees', stated.fee, fees) ??
      differ('on the intermediate account', stated.remainder - stated.debt + pool + stated.open, held) ??
      differ('with the merchant', stated.direct + stated.payouts, balanceOf(chain, 'merchant', asset)) ??
      differ('given back', stated.back, balanceOf(chain, 'refunded', asset)) ??
      differ('not claimed by floats', pool - poolOf(world, asset, true), unclaimed) ??
      differ('booked as deposits', book('deposits'), waiting) ??
      differ('booked as fees', book('fees'), fees) ??
      differ('booked as held', book('intermediate/payable/mrch'), stated.remainder) ??
      differ('booked as outgoing', book('intermediate/outgoing'), stated.openSpends) ??
      differ('booked as missing', book(`missing/${HELD}`), -stated.debt);
    if (wrong !== undefined) return `${asset}, ${wrong}`;
    if (!stated.isSound) return `${asset}: a lot does not add up, or is below zero`;
    if (!world.hasLost && (stated.debt > 0n || pool < 0n || held < 0n)) return `${asset}: money of another was spent`;
  }
  return undefined;
}

function differ(what: string, stated: bigint, is: bigint): string | undefined {
  return stated === is ? undefined : `${what}: the gateway says ${stated}, the chain ${is}`;
}

/** The gateway's own figures about an asset, summed up. */
function statedOf({ chain, holdings, orders }: World, asset: string) {
  const stated = { amount: 0n, waiting: 0n, fee: 0n, direct: 0n, remainder: 0n, debt: 0n, isSound: true };
  for (const lot of holdings.lots) {
    if (lot.asset !== asset) continue;
    stated.amount += lot.amount;
    stated.waiting += lot.waiting;
    stated.fee += lot.fee;
    if (!lot.isHeld) stated.direct += lot.net;
    stated.isSound &&= lot.amount === lot.waiting + lot.fee + lot.net && lot.waiting >= 0n && lot.net >= 0n;
  }
  for (const lot of holdings.held) {
    if (lot.asset !== asset) continue;
    stated.remainder += lot.remainder;
    stated.isSound &&= lot.remainder >= 0n;
  }
  for (const debt of holdings.debts) if (debt.asset === asset) stated.debt += debt.amount;
  const sent = { open: 0n, openSpends: 0n, payouts: 0n, back: 0n };
  for (const order of orders) {
    if (order.asset !== asset) continue;
    const isDone = chain.blocks.some(({ intent }) => intent.hash === order.intent.hash);
    if (isDone && order.id.startsWith('pout_')) sent.payouts += order.amount;
    else if (isDone) sent.back += order.amount;
    else {
      sent.open += order.amount;
      for (const spend of order.spends) sent.openSpends += spend.amount;
    }
  }
  return { ...stated, ...sent };
}

interface Counted {
  /** Money that payers have sent for the payment: transfers to its address, and items of its wallets. */
  brought: bigint;
  /** Money of strangers and shops on our account. */
  foreign: bigint;
}
const NOTHING: Counted = { brought: 0n, foreign: 0n };
const counts = new WeakMap<readonly Block[], ReadonlyMap<string, Counted>>();

function countOn({ blocks }: ToyChain): ReadonlyMap<string, Counted> {
  const known = counts.get(blocks);
  if (known !== undefined) return known;
  const counted = new Map<string, Counted>();
  for (const { intent, mined } of blocks) {
    const isForeign =
      intent.does === 'transfer' || (intent.does === 'collect' && intent.items[0]?.payer === 'stranger');
    for (const { asset, from, to, amount } of mined.legs) {
      const sum = counted.get(asset) ?? { ...NOTHING };
      counted.set(asset, sum);
      if (to === 'deposit' || from === 'wallet') sum.brought += amount;
      if (isForeign && to === HELD) sum.foreign += amount;
    }
  }
  counts.set(blocks, counted);
  return counted;
}

/** The claims of floats whose transactions are on the chain. */
function claimedOf({ chain, claims }: World, asset: string): bigint {
  let total = 0n;
  for (const [id, amount] of claims) {
    if (!id.includes(`/${asset}/`)) continue;
    if (chain.blocks.some(({ intent }) => id.startsWith(`${intent.network}/${intent.hash}/`))) total += amount;
  }
  return total;
}

/** A payment is paid if, and only if, enough has come in time when it ends. */
function endingFault(world: World, before: World | undefined): string | undefined {
  const { chain, ending, holdings, hasLost, orders } = world;
  if (!hasLost && ending === undefined && orders.some(({ id }) => id.startsWith('pout_'))) return 'paid out too early';
  if (before !== undefined && ending !== undefined && before.ending === ending) {
    return before.chain === chain || hasLost ? undefined : payingFault(ending, holdings);
  }
  const arrivals = chain.blocks
    .flatMap(({ mined }) => mined.legs)
    .filter((leg) => leg.to === 'deposit' && leg.asset === A && leg.blockTimeS <= DEADLINE_S && leg.from !== 'listed');
  const inTime = sum(arrivals.map(({ amount }) => amount));
  const isByWallet = chain.blocks.some(({ mined }) => mined.legs.some(({ from }) => from === 'wallet'));
  const isOver = chain.timeS > DEADLINE_S;
  const isEnough = isByWallet || inTime >= ASKED || (isOver && inTime >= ASKED - 1n);
  if (ending === undefined) return isEnough || isOver ? 'the payment has no ending' : undefined;
  // A cancellation is no judgement.
  if (ending.is === 'unpaid') return isEnough && ending.untilS === DEADLINE_S ? 'the payment is paid' : undefined;
  if (!isEnough) return 'the payment is not paid';
  return payingFault(ending, holdings);
}

function payingFault(ending: NonNullable<World['ending']>, { lots }: World['holdings']): string | undefined {
  const paying = sum(lots.filter(({ isPaying }) => isPaying).map(({ amount }) => amount));
  const isRight = paying === (ending.is === 'paid' ? ending.amount : 0n);
  const isReported = lots.every(({ isPaying, reason }) => isPaying === (reason === null) || ending === undefined);
  return isRight && isReported ? undefined : 'the lots that paid are not the amount that paid';
}

/** More than enough: a sweep, a payout, a refund, and a sweep of the rest. */
const MAX_ROUNDS = 4;

/** Everything that waits gets what it waits for. Afterwards nothing may be left behind. */
export function stuckIn(world: World): string | undefined {
  let last = { ...atTime(world, Math.max(world.chain.timeS, DEADLINE_S) + 1), hasDestination: true, isReleased: true };
  const isAsked = last.refunds.length + last.returns.length > 0;
  if (isAsked) for (const asset of assetsIn(last)) last = toppedUp(last, asset, 1_000n);
  last = serve(read(isAsked ? claimed(last) : last));
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const before = last;
    for (const act of [sweptByUs, paidOut]) {
      const next = act(last);
      if (next !== last) last = serve(read(next));
    }
    if (last === before) break;
  }
  last = booked(last);
  const wrong = faultIn(last, world);
  if (wrong !== undefined) return `at the end, ${wrong}`;
  const { chain, holdings, ending } = last;
  for (const asset of assetsIn(last)) {
    const lots = holdings.held.filter((lot) => lot.asset === asset);
    const lying = balanceOf(chain, 'deposit', asset);
    if (lying >= MINIMUM || lots.some((lot) => lot.isPaying && lot.waiting > 0n))
      return `${lying} of ${asset} not swept`;
    const left = sum(lots.map(({ remainder }) => remainder));
    // A rebuild cannot tell whose money a payout was, if a reorg has removed that money. The operator's float lacks it.
    const isLost = last.hasLost && last.orders.some(({ id, spends }) => id.startsWith('pout_') && spends.length === 0);
    const isOwed = holdings.debts.some((debt) => debt.asset === asset);
    if (!isOwed && !isLost && (left >= MINIMUM || lots.some((lot) => lot.isPaying && lot.remainder > 0n))) {
      return `${left} of ${asset} held`;
    }
    const isGivenBack = last.orders.some((order) => order.asset === asset && !order.id.startsWith('pout_'));
    const kept = lying + left + balanceOf(chain, FEES, asset) - (asset === A ? FEE : 0n);
    const got = balanceOf(chain, 'merchant', asset);
    const isDue = holdings.debts.length > 0 || isGivenBack || isLost;
    if (!isDue && got !== (countOn(chain).get(asset) ?? NOTHING).brought - kept)
      return `the merchant has ${got} of ${asset}`;
  }
  const paying = sum(holdings.lots.filter(({ isPaying }) => isPaying).map(({ amount }) => amount));
  const isWhole = holdings.debts.length === 0 && (ending?.is !== 'paid' || paying === ending.amount);
  // A reorg may have removed the money that should go back.
  const returns = last.returns.filter((id) => holdings.lots.some((lot) => lot.id === id));
  if (isWhole && last.refunds.length + returns.length > 0) return 'a refund or a return waits for ever';
  return undefined;
}

function sum(units: readonly bigint[]): bigint {
  return units.reduce((total, each) => total + each, 0n);
}
