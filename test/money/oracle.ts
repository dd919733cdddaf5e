import { atTime, toppedUp } from './acts.ts';
import { A, A2, B, balanceOf, FEES, HELD, type ToyChain } from './toy-chain.ts';
import {
  ASKED,
  claimed,
  DEADLINE_S,
  FEE,
  look,
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

/** A rebuild finds the money of the live database again, if it also finds the ending and no order was open. */
function rebuildFault(world: World, before: World | undefined): string | undefined {
  if (!world.isRebuilt || before === undefined || before.hasLost || before.chain !== world.chain) return undefined;
  const isSameEnding = JSON.stringify(world.ending, asText) === JSON.stringify(before.ending, asText);
  if (!isSameEnding || before.orders.length !== world.orders.length) return undefined;
  const remainders = ({ holdings }: World) => holdings.held.map(({ id, remainder }) => `${id} ${remainder}`).join();
  return remainders(world) === remainders(before) ? undefined : 'a rebuild has found other money';
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
  const { chain, holdings, orders, books } = world;
  for (const asset of assetsIn(world)) {
    const lots = holdings.lots.filter((lot) => lot.asset === asset);
    const others = asset === A ? { held: OTHERS, fees: FEE } : { held: 0n, fees: 0n };
    const isDone = (hash: string) => chain.blocks.some(({ intent }) => intent.hash === hash);
    const own = orders.filter((each) => each.asset === asset);
    const [done, open] = [own.filter(({ intent }) => isDone(intent.hash)), own.filter((o) => !isDone(o.intent.hash))];
    const remainder = sum(holdings.held.filter((lot) => lot.asset === asset).map((lot) => lot.remainder));
    const debt = sum(holdings.debts.filter((each) => each.asset === asset).map(({ amount }) => amount));
    const direct = sum(lots.filter(({ isHeld }) => !isHeld).map(({ net }) => net));
    const payouts = sum(done.filter(({ id }) => id.startsWith('pout_')).map(({ amount }) => amount));
    const back = sum(done.filter(({ id }) => !id.startsWith('pout_')).map(({ amount }) => amount));
    const pool = poolOf(world, asset, false);
    const book = (account: string) => books.get(`${account} ${asset}`) ?? 0n;
    const openSpends = sum(open.flatMap(({ spends }) => spends.map(({ amount }) => amount)));
    const claims: readonly (readonly [what: string, said: bigint, is: bigint])[] = [
      ['arrived', sum(lots.map(({ amount }) => amount)), broughtTo(chain, asset)],
      ['waiting at the address', sum(lots.map(({ waiting }) => waiting)), balanceOf(chain, 'deposit', asset)],
      ['fees', sum(lots.map(({ fee }) => fee)), balanceOf(chain, FEES, asset) - others.fees],
      [
        'on the intermediate account',
        remainder - debt + pool + sum(open.map(({ amount }) => amount)),
        balanceOf(chain, HELD, asset) - others.held,
      ],
      ['with the merchant', direct + payouts, balanceOf(chain, 'merchant', asset)],
      ['given back', back, balanceOf(chain, 'refunded', asset)],
      ['claimed by floats', pool - poolOf(world, asset, true), unclaimed(world, asset)],
      ['booked as deposits', book('deposits'), balanceOf(chain, 'deposit', asset)],
      ['booked as fees', book('fees'), balanceOf(chain, FEES, asset) - others.fees],
      ['booked as held', book('intermediate/payable/mrch'), remainder],
      ['booked as outgoing', book('intermediate/outgoing'), openSpends],
      ['booked as missing', book(`missing/${HELD}`), -debt],
    ];
    const wrong = claims.find(([, said, is]) => said !== is);
    if (wrong !== undefined) return `${asset}, ${wrong[0]}: the gateway says ${wrong[1]}, the chain ${wrong[2]}`;
    if (lots.some((lot) => lot.amount !== lot.waiting + lot.fee + lot.net)) return `${asset}: a lot does not add up`;
    if (holdings.held.some((lot) => lot.remainder < 0n)) return `${asset}: a remainder is below zero`;
    if (!world.hasLost && (debt > 0n || pool < 0n || balanceOf(chain, HELD, asset) < others.held)) {
      return `${asset}: money of another was spent`;
    }
  }
  return undefined;
}

/** What payers have sent for the payment: transfers to its address, and items of its wallets. */
function broughtTo({ blocks }: ToyChain, asset: string): bigint {
  const legs = blocks.flatMap(({ mined }) => mined.legs).filter((leg) => leg.asset === asset);
  return sum(legs.filter(({ from, to }) => to === 'deposit' || from === 'wallet').map(({ amount }) => amount));
}

/** Money of strangers and shops on our account that was not claimed. */
function unclaimed({ chain, claims }: World, asset: string): bigint {
  const legs = chain.blocks.flatMap(({ intent, mined }) => {
    const isForeign =
      intent.does === 'transfer' || (intent.does === 'collect' && intent.items[0]?.payer === 'stranger');
    return isForeign ? mined.legs.filter((leg) => leg.to === HELD && leg.asset === asset) : [];
  });
  const unclaimedIds = [...claims].filter(([id]) => id.includes(`/${asset}/`)).filter(([id]) => isThere(chain, id));
  return sum(legs.map(({ amount }) => amount)) - sum(unclaimedIds.map(([, amount]) => amount));
}

function isThere({ blocks }: ToyChain, id: string): boolean {
  return blocks.some(({ intent }) => id.startsWith(`${intent.network}/${intent.hash}/`));
}

/** A payment is paid if, and only if, enough has come in time when it ends. */
function endingFault({ chain, ending, holdings, hasLost }: World, before: World | undefined): string | undefined {
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
  const isTold = lots.every(({ isPaying, reason }) => isPaying === (reason === null) || ending === undefined);
  return isRight && isTold ? undefined : 'the lots that paid are not the amount that paid';
}

/** Everything that waits gets what it waits for. Afterwards nothing may be left behind. */
export function stuckIn(world: World): string | undefined {
  let last = { ...atTime(world, Math.max(world.chain.timeS, DEADLINE_S) + 1), hasDestination: true, isReleased: true };
  const isAsked = last.refunds.length + last.returns.length > 0;
  if (isAsked) for (const asset of assetsIn(last)) last = toppedUp(last, asset, 1_000n);
  last = serve(read(isAsked ? claimed(last) : last));
  for (let round = 0; round < 2; round += 1) last = serve(read(paidOut(serve(read(sweptByUs(last))))));
  last = look(last);
  const wrong = faultIn(last, world);
  if (wrong !== undefined) return `at the end, ${wrong}`;
  const { chain, holdings, ending } = last;
  for (const asset of assetsIn(last)) {
    const lots = holdings.held.filter((lot) => lot.asset === asset);
    const lying = balanceOf(chain, 'deposit', asset);
    if (lying >= MINIMUM || lots.some((lot) => lot.isPaying && lot.waiting > 0n))
      return `${lying} of ${asset} not swept`;
    const left = sum(lots.map(({ remainder }) => remainder));
    const isOwed = holdings.debts.some((debt) => debt.asset === asset);
    if (!isOwed && (left >= MINIMUM || lots.some((lot) => lot.isPaying && lot.remainder > 0n))) {
      return `${left} of ${asset} held`;
    }
    const isGivenBack = last.orders.some((order) => order.asset === asset && !order.id.startsWith('pout_'));
    const kept = lying + left + balanceOf(chain, FEES, asset) - (asset === A ? FEE : 0n);
    const got = balanceOf(chain, 'merchant', asset);
    // A rebuild cannot tell whose money a payout was, if a reorg has removed that money. The operator's float lacks it.
    const isLost = last.hasLost && last.orders.some(({ id, spends }) => id.startsWith('pout_') && spends.length === 0);
    const isDue = holdings.debts.length > 0 || isGivenBack || isLost;
    if (!isDue && got !== broughtTo(chain, asset) - kept) return `the merchant has ${got} of ${asset}`;
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
