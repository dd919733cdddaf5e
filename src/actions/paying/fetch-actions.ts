import { isIntermediate } from '../../chains/chains.ts';
import { familyOf } from '../../chains/families.ts';
import { type Item, type ItemKey, itemKeyOf } from '../../domain/item.ts';
import { openOption } from '../../domain/option.ts';
import { ApiError, validationError } from '../../errors.ts';
import { insertItems, listCoinActions, type OpenCoinAction, raiseNativeDeadline } from '../../store/chain/items.ts';
import { findClosed } from '../../store/parties/freezes.ts';
import type { Payment } from '../../store/payments/payments.ts';
import { type CommandDeps, command } from '../command.ts';
import { shareFreezes } from '../parties/freeze-heads.ts';
import type { RowKeyDeps } from '../row-keys.ts';
import { sealItem } from '../subject-keys.ts';
import { findStockFor } from './links/link-stock.ts';
import {
  merchantStopped,
  noExecutor,
  optionNotFound,
  quoteExpired,
  refuseScreened,
  refuseUnpayable,
  tooManyActions,
} from './option-refusals.ts';
import { type OptionDeps, refuseOutdated } from './terms-in-force.ts';
import { buildData, type WalletRpc, walletRequests } from './wallet-requests.ts';

export interface FetchInput {
  readonly payment: Payment;
  readonly optionId: string;
  /** The data of the option's `build` action. */
  readonly data: string;
  readonly buyer: { readonly name: string; readonly icon: string | null };
}

export type FetchDeps = CommandDeps & RowKeyDeps & OptionDeps;

/**
 * The wallet requests behind a `build` action. An action in native coin is stored before it is returned, because the payer can send it at
 * any time from then on, with or without a confirmation.
 */
export async function fetchActions(deps: FetchDeps, input: FetchInput): Promise<readonly WalletRpc[]> {
  const { payment, optionId, data, buyer } = input;
  const nowMs = deps.world.clock.nowMs();
  refuseUnpayable(payment, nowMs);
  const option = openOption(deps.optionKeys, payment.id, optionId);
  if (option === undefined) throw optionNotFound();
  if (familyOf(option.item.network).listsActions(option.item.method)) throw nothingToFetch();
  const connected = await refuseOutdated(deps, payment, option);
  const { chain } = connected;
  const item = sealItem(deps, chain.payerSide, option.item, payment.sealedId);
  const requests = walletRequests(chain.payerSide, item, 0n);
  // A wallet that no longer has the list of options sends no data. The id of the option alone suffices.
  if (data !== '' && data !== buildData(item, requests)) throw otherData();
  if (item.method !== 'native') return requests;

  const script = await deps.rehearsal.scriptOf(payment);
  refuseScreened(script.screening ?? deps.screening, [`${item.network}:${item.payer}`]);
  const offered = {
    key: itemKeyOf({ network: item.network, commitment: chain.payerSide.commitmentOf(item) }),
    item,
    account: option.account,
    quote: option.quote,
    isHeld: isIntermediate(connected, item.recipient),
    feeTerms: option.feeTerms,
    buyerName: buyer.name,
    buyerIcon: buyer.icon,
    state: 'offered',
    signature: null,
    hasCode: false,
    resultsHash: null,
    hintedHash: null,
  } as const;
  const isPayable = await command(deps, async (tx, now) => {
    await shareFreezes(tx, deps);
    const stopped = await findClosed(tx, [payment.merchantId, item.network]);
    if (stopped.has(payment.merchantId)) throw merchantStopped();
    if (stopped.has(item.network)) throw noExecutor();
    // The merchant limited the stock of the payment link after the option was offered. The payer's own transaction cannot be refused
    // once it is on the chain, so the option is withdrawn now.
    if ((await findStockFor(tx, payment)) !== undefined) throw quoteExpired();
    const deadline = new Date(item.deadlineS * 1000);
    if (!(await raiseNativeDeadline(tx, { paymentId: payment.id, deadline, now }))) return false;
    refusePile(await listCoinActions(tx, payment.id), offered, now);
    await insertItems(tx, [offered], now);
    return true;
  });
  if (!isPayable) throw new ApiError('invalid_state', 'The payment cannot be paid any more.');
  await script.onFetched?.();
  return requests;
}

/**
 * The maximum number of open coin actions of an account, and of a payment. An action can be sent until its deadline, so a newer action
 * cannot replace it: each stays stored until the chain has proved that it can no longer be mined. A payer who refreshes the price every
 * half minute needs ten.
 */
const MOST_OPEN = { ofAccount: 12, ofPayment: 48 };
/** The watcher ends an action within this time after its deadline: one block, its finality, and one round. */
const ENDED_AFTER_S = 45;

function refusePile(
  open: readonly OpenCoinAction[],
  { key, item }: { readonly key: ItemKey; readonly item: Item },
  now: Date,
): void {
  if (open.some((each) => each.key === key)) return;
  const own = open.filter(({ network, payer }) => network === item.network && payer === item.payer);
  const full = own.length >= MOST_OPEN.ofAccount ? own : open;
  const [first] = full;
  if (first === undefined || (full === open && open.length < MOST_OPEN.ofPayment)) return;
  const leftS = Math.ceil((first.deadline.getTime() - now.getTime()) / 1000);
  throw tooManyActions(Math.max(0, leftS) + ENDED_AFTER_S);
}

function nothingToFetch(): ApiError {
  return validationError([{ field: 'optionId', message: 'names an option that has its actions already' }]);
}

function otherData(): ApiError {
  return validationError([{ field: 'data', message: "must be the data of the option's build action" }]);
}
