import type { ConnectedChain } from '../../../chains/chains.ts';
import type { PayerSide } from '../../../chains/payer-side.ts';
import { isSameAddress } from '../../../domain/addresses/families.ts';
import type { Item } from '../../../domain/item.ts';
import { isFinal } from '../../../domain/payment.ts';
import { addEvents, reconsiderSweeps } from '../../../store/chain/chain-events.ts';
import { depositItemKey, insertDeposit } from '../../../store/chain/deposits.ts';
import { findItemsOfEvents, insertItems } from '../../../store/chain/items.ts';
import { markPlacesToCheck } from '../../../store/chain/movements.ts';
import { findDestinationOwners } from '../../../store/money/book-comparison.ts';
import { listFeeAccounts } from '../../../store/money/restored-outgoing.ts';
import { lockPayments } from '../../../store/payments/payments.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { type CommandDeps, command } from '../../command.ts';
import { termsOfEvent } from '../../event-subject.ts';
import { askBlock } from '../../evidence.ts';
import { intermediateAccounts } from '../../own-accounts.ts';
import { depositMac } from '../../paying/deposit-rows.ts';
import { moveLocked } from '../../paying/move-locked.ts';
import type { RowKeyDeps } from '../../row-keys.ts';
import { storedEvent } from '../../watch/read-events.ts';
import { hasOwnSeal, type SweptEvent } from '../audit/paid-event.ts';
import { makePayment, NO_MERCHANT } from './restore-payment.ts';
import { NOT_OURS, type Outcome, Unplaced } from './restoring.ts';

/**
 * Restores a payment to a deposit address from the sweeps of the address: the payment as `processing`, its item, and the address. The
 * sweeps stay undecided, and the watcher handles them like new ones. An address that was never swept cannot be restored, because the
 * chain does not show its terms.
 */
export async function restoreSweeps(
  deps: CommandDeps & RowKeyDeps,
  connected: ConnectedChain,
  events: readonly SweptEvent[],
  fallback: string | undefined,
): Promise<Outcome> {
  const [first] = events;
  if (first === undefined) return 'intact';
  const { commitment, recipient } = first;
  const known = await findItemsOfEvents(deps.db.sql, connected.chain.network.chainId, [commitment]);
  if (known.length > 0) return 'intact';
  const item = await recoverDeposit(deps, connected, events);
  const { asset } = item;
  const { block } = await askBlock(connected.chain.reader, first.block.number);
  const paidAt = new Date(block.timestampS * 1000);
  const intermediates = await intermediateAccounts(deps, connected);
  return command(deps, async (tx, now) => {
    const { subject: id, network } = item;
    const [payment] = await lockPayments(tx, [id]);
    if (payment !== undefined && hasOwnSeal(first) !== true) throw new Unplaced(NOT_OURS);
    const isHeld = intermediates.some((account) => isSameAddress(network, recipient, account));
    const merchantId = payment?.merchantId ?? (await merchantAt(tx, `${network}:${recipient}`, asset)) ?? fallback;
    if (merchantId === undefined) throw new Unplaced(NO_MERCHANT);
    const restored = payment ?? (await makePayment(tx, deps.registry, item, { id, merchantId, paidAt, now }));
    const address = connected.chain.payerSide.depositAddressOf(item);
    const stored = {
      item: { ...item, payer: address, deadlineS: Math.floor(paidAt.getTime() / 1000) },
      account: `${network}:${address}`,
      quote: null,
      isHeld,
      buyerName: 'Wallet',
      buyerIcon: null,
      state: 'offered',
      signature: null,
      hasCode: false,
      resultsHash: null,
      hintedHash: null,
    } as const;
    const fields = { commitment, network, address, paymentId: id, asset };
    const itemKey = await depositItemKey(tx, fields);
    await insertItems(tx, [{ ...stored, key: itemKey }], now);
    await insertDeposit(tx, { ...fields, itemKey, mac: depositMac(deps, fields) }, now);
    await markPlacesToCheck(tx, network, [commitment]);
    if (!isFinal(restored.status)) {
      const buyer = { account: stored.account, name: 'Wallet', icon: null };
      const event = { type: 'confirmed', buyer, token: { asset, value: item.amount }, isNative: true } as const;
      await moveLocked(tx, [restored], [{ paymentId: id, event, actor: 'operator', evidence: { rebuilt: true } }], now);
    }
    await addEvents(tx, network, events.map(storedEvent), now);
    await reconsiderSweeps(tx, network, commitment);
    return 'rebuilt' as const;
  });
}

/** The merchant with this destination (CAIP-10) for the asset, if there is exactly one. */
async function merchantAt(tx: Tx, destination: string, asset: string): Promise<string | undefined> {
  const owners = await findDestinationOwners(tx, [destination]);
  const merchants = new Set(owners.filter((owner) => owner.asset === asset).map(({ merchantId }) => merchantId));
  return merchants.size === 1 ? [...merchants][0] : undefined;
}

/**
 * The terms of the address, from a sweep. Sweeps of the first releases show neither the fee account nor the requested amount, but the
 * commitment is a hash that includes both. If the payer paid exactly, at once or in parts, the sweeps of the requested asset add up to
 * the requested amount. Sweeps of other assets do not show that amount.
 */
async function recoverDeposit(
  { db, registry }: CommandDeps,
  { chain, feeAccount }: ConnectedChain,
  events: readonly SweptEvent[],
): Promise<Item> {
  const [first] = events;
  const shown = first && termsOfEvent(chain.network, first);
  if (shown !== undefined) return { ...shown, subject: first?.id ?? '', seal: first?.subject ?? '' };
  const feeAccounts = [feeAccount, ...(await listFeeAccounts(db.sql, chain.network.chainId))];
  for (const [asset, swept] of Map.groupBy(events, (event) => event.asset)) {
    const item = registry.asset(asset) && termsBy(chain.payerSide, swept, feeAccounts);
    if (item !== undefined) return item;
  }
  throw new Unplaced(NO_TERMS);
}

/** The terms of the address if these sweeps are of the requested asset. Undefined otherwise. */
function termsBy(
  payerSide: PayerSide,
  events: readonly SweptEvent[],
  feeAccounts: readonly string[],
): Item | undefined {
  const [first] = events;
  if (first === undefined) return undefined;
  const { collector, asset, recipient, commitment } = first;
  const network = payerSide.network.chainId;
  const terms = { network, collector, asset, subject: first.id, payer: collector, recipient };
  for (const feeAccount of feeAccounts) {
    for (const { amount, fee, parts } of possibleAmounts(events)) {
      // The fee of each part is rounded down, so the sum of the parts' fees may be too low by one unit per part.
      for (let lost = 0n; lost <= BigInt(parts); lost += 1n) {
        const item: Item = { ...terms, method: 'deposit', feeAccount, amount, fee: fee + lost, deadlineS: 0 };
        if (item.fee <= amount && payerSide.commitmentOf(item) === commitment) return item;
      }
    }
  }
  return undefined;
}

/** The maximum number of sweeps that are tried as parts of the amount. A stranger may have swept single units thousands of times. */
const MAX_PARTS = 100;

/** The amounts that may have been requested: the sum of all sweeps, the sum of the first n sweeps, or the amount of a single sweep. */
function possibleAmounts(events: readonly SweptEvent[]) {
  const sums: { amount: bigint; fee: bigint; parts: number }[] = [];
  let total = { amount: 0n, fee: 0n, parts: 0 };
  for (const { amount, fee } of events) {
    total = { amount: total.amount + amount, fee: total.fee + fee, parts: total.parts + 1 };
    if (total.parts <= MAX_PARTS) sums.push(total);
  }
  const single = events.slice(0, MAX_PARTS).map(({ amount, fee }) => ({ amount, fee, parts: 0 }));
  return [total, ...sums, ...single];
}

const NO_TERMS = 'was swept from a deposit address whose terms are lost: restore a backup that has it';
