import { amountText, tokenText } from '../../chains/amount-text.ts';
import { coinOf } from '../../chains/registry.ts';
import { slotWord } from '../../domain/addresses/families.ts';
import { hasPassed } from '../../domain/has-passed.ts';
import type { OpenSend } from '../../store/chain/sends.ts';
import type { Duty } from './duty.ts';
import type { RelayDeps, Relayer } from './relayer.ts';

const BALANCE_EVERY_MS = 30_000;
const STUCK_EVERY_MS = 10_000;
/** The age at which an unmined transaction raises an alert. On every network a transaction at the market price is mined long before. */
const STUCK_AFTER_MS = 5 * 60_000;

export async function checkBalance(
  deps: RelayDeps,
  { chain, signer, id, alarms, memory, isCoinOnly: isOwnCoinOnly = false }: Relayer,
  { isCoinOnly }: Pick<Duty, 'isCoinOnly'>,
): Promise<void> {
  // No minimum applies to the intermediate account, whose coin is not meant for its own transactions, or to a retired relayer, which
  // needs none.
  const minBalance = isCoinOnly ? undefined : deps.settings.minBalance?.(id.network);
  const nowMs = deps.world.clock.nowMs();
  if (isCoinOnly && !isOwnCoinOnly) await alarms.lowBalance.set(alarmSubject(id), undefined);
  if (minBalance === undefined || !isTime(memory.balanceCheckedAtMs, nowMs, BALANCE_EVERY_MS)) return;
  const balance = await chain.reader.balance(signer.address);
  memory.balanceCheckedAtMs = nowMs;
  const coin = coinOf(deps.registry, id.network);
  const message = `The relayer holds ${amountText(deps.registry, coin, balance)}, less than ${tokenText(deps.registry, coin, minBalance)}. Send coin to it.`;
  await alarms.lowBalance.set(alarmSubject(id), balance < minBalance ? message : undefined);
}

export async function checkStuck(
  deps: RelayDeps,
  { id, alarms, memory }: Relayer,
  [oldest]: readonly OpenSend[],
): Promise<void> {
  const nowMs = deps.world.clock.nowMs();
  if (!isTime(memory.stuckCheckedAtMs, nowMs, STUCK_EVERY_MS)) return;
  memory.stuckCheckedAtMs = nowMs;
  const isStuck = oldest !== undefined && nowMs - oldest.createdAt.getTime() >= STUCK_AFTER_MS;
  const message = `The transaction with ${slotWord(id.network)} ${oldest?.slot} has not been mined for minutes.`;
  await alarms.stuckSend.set(alarmSubject(id), isStuck ? message : undefined);
}

export function alarmSubject({ network, signer }: Relayer['id']): string {
  return `${network}:${signer}`;
}

function isTime(lastMs: number | undefined, nowMs: number, everyMs: number): boolean {
  return lastMs === undefined || hasPassed(lastMs, nowMs, everyMs);
}
