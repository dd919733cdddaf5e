import { amountText, tokenText } from '../../chains/amount-text.ts';
import { coinOf } from '../../chains/registry.ts';
import { workWord } from '../../domain/addresses/families.ts';
import { hasPassed } from '../../domain/has-passed.ts';
import type { Offer } from '../../domain/offer.ts';
import { type DueItem, deferItems } from '../../store/chain/due-items.ts';
import { costSince, findExhaustedItems, findPayersAbove } from '../../store/chain/spending.ts';
import { command } from '../command.ts';
import { alarmSubject } from './check-relayer.ts';
import { limitsOf, type RelayDeps, type Relayer } from './relayer.ts';

const HOUR_MS = 3_600_000;
const CHECK_EVERY_MS = 10_000;
/**
 * Isolated items (see `relay-once.ts`) may use the network's budget divided by this number, so that they cannot use up the budget of all
 * other items.
 */
const ISOLATED_SHARE = 4n;
/** The pause of the items of a payer whose budget is spent. */
const DEFER_MS = 30_000;

/** The spent budgets. Items that need them wait, and an alert names the budget. */
export interface SpentBudgets {
  /** True if the budget of the network is spent: nothing new is sent. */
  readonly isSpent: boolean;
  /** True if isolated items (see `relay-once.ts`) have spent their part of the network's budget. */
  readonly isIsolatedSpent: boolean;
  /** The payers whose budget is spent. */
  readonly payers: ReadonlySet<string>;
}

/** Reads the budgets, and raises and clears their alerts. */
export async function readBudgets(deps: RelayDeps, { id, alarms, memory }: Relayer): Promise<SpentBudgets> {
  const { network } = id;
  const { settings, db } = deps;
  const nowMs = deps.world.clock.nowMs();
  memory.budgetsReadAtMs = nowMs;
  const since = new Date(nowMs - HOUR_MS);
  const [budget, perPayer] = [settings.costPerHour?.(network), settings.workPerPayerHour?.(network)];
  const [cost, payers, exhausted] = await Promise.all([
    budget === undefined ? NO_COST : costSince(db.sql, { network, since }),
    perPayer === undefined ? [] : findPayersAbove(db.sql, { network, since, work: perPayer }),
    findExhaustedItems(db.sql, { network, limits: limitsOf(deps, network) }),
  ]);
  const isSpent = budget !== undefined && cost.all >= budget;
  const isIsolatedSpent = budget !== undefined && cost.isolated * ISOLATED_SHARE >= budget;
  const setAlarm = (subject: string, isRaised: boolean, message: string) =>
    alarms.budget.set(subject, isRaised ? message : undefined);
  const coin = coinOf(deps.registry, network);
  const unit = workWord(network);
  const limit = tokenText(deps.registry, coin, budget ?? 0n);
  await setAlarm(
    network,
    isSpent,
    `Transactions have cost ${amountText(deps.registry, coin, cost.all)} within the hour. The budget is ${limit}: nothing new is sent.`,
  );
  await setAlarm(
    `${network}:apart`,
    isIsolatedSpent,
    `Payments of accounts with code, or of accounts whose payments failed, have cost ${amountText(deps.registry, coin, cost.isolated)} within the hour. They may use a quarter of ${limit}, and wait.`,
  );
  const [payer] = payers;
  await setAlarm(
    `${network}:payers`,
    payer !== undefined,
    `Payers that wait: ${payers.length}. ${payer?.payer} has used ${count(payer?.work)} ${unit} within the hour. The budget of a payer is ${count(perPayer)} ${unit}.`,
  );
  await setAlarm(
    `${network}:items`,
    exhausted !== undefined,
    `Payments or transfers that wait for their deadline: ${exhausted?.count}. ${exhausted?.subject} has failed ${exhausted?.failures} times on the chain and has used ${count(exhausted?.work)} ${unit}.`,
  );
  return { isSpent, isIsolatedSpent, payers: new Set(payers.map((each) => each.payer)) };
}

const NO_COST = { all: 0n, isolated: 0n };

/** Reads the budgets at intervals, so that their alerts are cleared even while there is nothing to send. */
export async function checkBudgets(deps: RelayDeps, relayer: Relayer): Promise<void> {
  if (relayer.isCoinOnly) return;
  const { memory } = relayer;
  if (hasPassed(memory.budgetsReadAtMs, deps.world.clock.nowMs(), CHECK_EVERY_MS)) await readBudgets(deps, relayer);
}

/** The current offer. Undefined while its price is above the operator's cap: then nothing new is sent. */
export async function affordableOffer(deps: RelayDeps, { chain, id, alarms }: Relayer): Promise<Offer | undefined> {
  const offer = await chain.sender.suggestOffer();
  const cap = deps.settings.feeCap?.(id.network);
  const isAbove = cap !== undefined && offer.price > cap;
  const message = `A transaction on ${chain.network.name} costs up to ${chain.sender.priceText(offer.price)}. The cap is ${chain.sender.priceText(cap ?? 0n)}: nothing new is sent.`;
  await alarms.price.set(alarmSubject(id), isAbove ? message : undefined);
  return isAbove ? undefined : offer;
}

/** Returns the due items of payers whose budget is not spent, and defers all other due items. */
export async function withinBudgets(
  deps: RelayDeps,
  due: readonly DueItem[],
  { payers }: SpentBudgets,
): Promise<readonly DueItem[]> {
  const isOver = ({ purpose, payer }: DueItem) => purpose === 'payment' && payers.has(payer);
  const over = due.filter(isOver).map(({ key }) => key);
  if (over.length === 0) return due;
  const until = new Date(deps.world.clock.nowMs() + DEFER_MS);
  await command(deps, (tx) => deferItems(tx, over, until));
  return due.filter((item) => !isOver(item));
}

const count = (units = 0n) => units.toLocaleString('en-US');
