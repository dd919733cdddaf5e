import { amountText, tokenText } from '../../chains/amount-text.ts';
import { coinOf } from '../../chains/registry.ts';
import type { Fees } from '../../chains/sender.ts';
import { hasPassed } from '../../domain/has-passed.ts';
import { type DueItem, deferItems } from '../../store/chain/due-items.ts';
import { findExhaustedItems, findPayersAbove, gasCostSince } from '../../store/chain/gas-spending.ts';
import { command } from '../command.ts';
import { alarmSubject } from './check-relayer.ts';
import { limitsOf, type RelayDeps, type Relayer } from './relayer.ts';

const HOUR_MS = 3_600_000;
const CHECK_EVERY_MS = 10_000;
/** Isolated items (see `relay-once.ts`) may use a quarter of the network's budget, so that they cannot stop the others. */
const ISOLATED_SHARE = 4n;
/** The pause of items of a payer whose budget is spent. */
const DEFER_MS = 30_000;

/** The spent budgets. Items that need them wait, and an alert names the budget. */
export interface SpentBudgets {
  /** True if the budget of the network is spent: nothing new is sent. */
  readonly isSpent: boolean;
  /** True if the part for isolated items is spent. */
  readonly isIsolatedSpent: boolean;
  readonly payers: ReadonlySet<string>;
}

/** Reads the budgets, and raises and clears their alerts. */
export async function readBudgets(deps: RelayDeps, { id, alarms, memory }: Relayer): Promise<SpentBudgets> {
  const { network } = id;
  const { settings, db } = deps;
  const nowMs = deps.world.clock.nowMs();
  memory.budgetsReadAtMs = nowMs;
  const since = new Date(nowMs - HOUR_MS);
  const [budget, perPayer] = [settings.gasCostPerHour?.(network), settings.gasPerPayerHour?.(network)];
  const [cost, payers, exhausted] = await Promise.all([
    budget === undefined ? NO_COST : gasCostSince(db.sql, { network, since }),
    perPayer === undefined ? [] : findPayersAbove(db.sql, { network, since, gas: perPayer }),
    findExhaustedItems(db.sql, { network, limits: limitsOf(deps, network) }),
  ]);
  const isSpent = budget !== undefined && cost.all >= budget;
  const isIsolatedSpent = budget !== undefined && cost.isolated * ISOLATED_SHARE >= budget;
  const setAlarm = (subject: string, isRaised: boolean, message: string) =>
    alarms.gasBudget.set(subject, isRaised ? message : undefined);
  const coin = coinOf(deps.registry, network);
  const limit = tokenText(deps.registry, coin, budget ?? 0n);
  await setAlarm(
    network,
    isSpent,
    `Gas has cost ${amountText(deps.registry, coin, cost.all)} within the hour. The budget is ${limit}: nothing new is sent.`,
  );
  await setAlarm(
    `${network}:apart`,
    isIsolatedSpent,
    `Payments of accounts with code, or of accounts whose payments failed, have cost ${amountText(deps.registry, coin, cost.isolated)} of gas within the hour. They may use a quarter of ${limit}, and wait.`,
  );
  const [payer] = payers;
  await setAlarm(
    `${network}:payers`,
    payer !== undefined,
    `Payers that wait: ${payers.length}. ${payer?.payer} has used ${count(payer?.gas)} gas within the hour. The budget of a payer is ${count(perPayer)} gas.`,
  );
  await setAlarm(
    `${network}:items`,
    exhausted !== undefined,
    `Payments or transfers that wait for their deadline: ${exhausted?.count}. ${exhausted?.subject} has failed ${exhausted?.failures} times on the chain and has used ${count(exhausted?.gas)} gas.`,
  );
  return { isSpent, isIsolatedSpent, payers: new Set(payers.map((each) => each.payer)) };
}

const NO_COST = { all: 0n, isolated: 0n };

/** Clears the alerts of budgets also while there is nothing to send. */
export async function checkBudgets(deps: RelayDeps, relayer: Relayer): Promise<void> {
  if (relayer.isCoinOnly) return;
  const { memory } = relayer;
  if (hasPassed(memory.budgetsReadAtMs, deps.world.clock.nowMs(), CHECK_EVERY_MS)) await readBudgets(deps, relayer);
}

/** The current fees. Undefined while they exceed the operator's cap: then nothing new is sent. */
export async function affordableFees(deps: RelayDeps, { chain, id, alarms }: Relayer): Promise<Fees | undefined> {
  const fees = await chain.sender.suggestFees();
  const cap = deps.settings.feeCap?.(id.network);
  const isAbove = cap !== undefined && fees.max > cap;
  const message = `A unit of gas costs up to ${gwei(fees.max)} gwei on ${chain.network.name}. The cap is ${gwei(cap ?? 0n)} gwei: nothing new is sent.`;
  await alarms.gasPrice.set(alarmSubject(id), isAbove ? message : undefined);
  return isAbove ? undefined : fees;
}

/** The due items without those of payers whose budget is spent, which are deferred. */
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

const count = (gas = 0n) => gas.toLocaleString('en-US');

/** Gwei with three decimals, rounded down: precise enough to compare a price with its cap. */
const gwei = (wei: bigint) => `${wei / 1_000_000_000n}.${String((wei / 1_000_000n) % 1_000n).padStart(3, '0')}`;
