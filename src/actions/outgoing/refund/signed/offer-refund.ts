import type { Chain } from '../../../../chains/chain.ts';
import type { Chains, ConnectedChain } from '../../../../chains/chains.ts';
import type { PayerSide } from '../../../../chains/payer-side.ts';
import { type Item, itemKeyOf, MERCHANT } from '../../../../domain/item.ts';
import { ApiError } from '../../../../errors.ts';
import type { Log } from '../../../../runtime/world.ts';
import type { Screening } from '../../../../screening/screening.ts';
import { findItems, findPayingItem, insertItems, itemOf } from '../../../../store/chain/items.ts';
import { findOutgoing, insertOffered, type Outgoing } from '../../../../store/money/outgoing.ts';
import { lockFreeRefund, lockRefund } from '../../../../store/money/refunds.ts';
import type { Tx } from '../../../../store/plumbing/database.ts';
import { command } from '../../../command.ts';
import type { SecretDeps } from '../../../open-receipt-key.ts';
import { shareFreezes } from '../../../parties/freeze-heads.ts';
import { noExecutor, refuseScreened } from '../../../paying/option-refusals.ts';
import { type WalletRpc, walletRequests } from '../../../paying/wallet-requests.ts';
import { raiseForged } from '../../../row-check.ts';
import type { RowKeyDeps } from '../../../row-keys.ts';
import { type SubjectKeyDeps, sealItem } from '../../../subject-keys.ts';
import { isReadToHead } from '../../begin/read-to-head.ts';
import { outgoingMac } from '../../order/order-outgoing.ts';
import { isOwnRefund } from '../refund-rows.ts';
import { refuseListed } from '../screen-refund.ts';
import { isForgotten } from './forgotten-refund.ts';
import { findSignable, type Signable } from './signable-refund.ts';

export interface OfferDeps extends SecretDeps, RowKeyDeps, SubjectKeyDeps {
  readonly chains: Chains;
  readonly log: Log;
  readonly screening: Screening;
  readonly config: { readonly signedRefundFees: 'keep' | 'return' };
}

export interface SignatureRequest {
  readonly requests: readonly WalletRpc[];
  /** The last moment at which the signature is accepted. */
  readonly expiresAt: Date;
}

/**
 * The validity of a signature request. It is long enough for a person to fetch the wallet, but short, because nothing else can pay the
 * refund until the request expires.
 */
const LIFE_MS = 20 * 60_000;
/** The validity that must be left when a signature comes: the time that a relayer needs to send the item. */
export const LEAST_LEFT_MS = 60_000;
const SURVEY_TIMEOUT_MS = 5_000;

/**
 * Asks the account that received the payment to sign for a refund. The item is stored before the wallet gets it, because a signature can
 * be carried out without being returned here. So no float covers the refund until the chain proves that the item has expired, and every
 * further caller gets the same item.
 */
export async function offerRefund(deps: OfferDeps, id: string): Promise<SignatureRequest> {
  const refund = await findSignable(deps, id);
  const { network, merchantAccount } = refund;
  const connected = deps.chains.find(network);
  const collector = connected?.chain.payerSide.collector();
  if (connected === undefined || collector === undefined || connected.relayers.length === 0) throw noExecutor();
  await refuseForged(deps, refund);
  refuseScreened(deps.screening, [`${network}:${merchantAccount}`]);
  refuseListed(deps.screening, refund);
  const allowance = await refuseUnable(connected.chain.payerSide, refund);
  if (!(await isReadToHead(deps, connected))) throw notReady();
  const terms = itemFor(refund, connected, collector, deps.world.clock.nowMs());
  const fresh = sealItem(deps, connected.chain.payerSide, terms);
  const item = await command(deps, (tx, now) => store(tx, deps, { refund, fresh, chain: connected.chain, now }));
  deps.world.crashPoint?.('refund.offered');
  const expiresAt = new Date(item.deadlineS * 1000 - LEAST_LEFT_MS);
  return { requests: walletRequests(connected.chain.payerSide, item, allowance), expiresAt };
}

/**
 * The item that the merchant's account signs. That account pays the whole amount including the fee, so that the recipient gets everything
 * in one transfer.
 */
function itemFor(refund: Signable, { feeAccount }: ConnectedChain, collector: string, nowMs: number): Item {
  const { id: subject, network, asset, method, merchantAccount: payer, recipient } = refund;
  const amount = BigInt(refund.amount);
  const deadlineS = Math.floor((nowMs + LIFE_MS) / 1000);
  return { network, collector, asset, method, subject, payer, recipient, feeAccount, amount, fee: 0n, deadlineS };
}

interface Storing {
  readonly refund: Signable;
  readonly fresh: Item;
  readonly chain: Chain;
  readonly now: Date;
}

/** Stores the item. Returns the earlier item instead if a wallet got one before. */
async function store(tx: Tx, deps: OfferDeps, { refund, fresh, chain, now }: Storing): Promise<Item> {
  await shareFreezes(tx, deps);
  // Floats cover the refund under the same lock, so only the floats or only the merchant's account pays.
  await lockRefund(tx, refund.id);
  const locked = await lockFreeRefund(tx, { id: refund.id, now });
  if (locked?.state !== 'awaiting_funds') throw changedMeanwhile();
  const before = await findOutgoing(tx, refund.id);
  if (before !== undefined) return offeredBefore(tx, before, now);
  if (await isForgotten(tx, deps, locked, now)) throw paidBefore();
  const { id, network, asset, method, merchantId } = locked;
  const { collector, payer, recipient, feeAccount, amount, deadlineS } = fresh;
  const commitment = chain.payerSide.commitmentOf(fresh);
  const terms = { id, network, asset, method, payer, recipient, amount, merchantId };
  const mac = outgoingMac(deps, { ...terms, purpose: 'refund', floatOwner: null });
  const attempt = { commitment, seal: fresh.seal ?? null, collector, feeAccount, deadline: new Date(deadlineS * 1000) };
  const feeReturn = deps.config.signedRefundFees === 'return' ? BigInt(locked.fee) : 0n;
  if (!(await insertOffered(tx, { ...terms, ...attempt, mac, feeReturn }, now))) throw changedMeanwhile();
  const account = `${network}:${payer}`;
  const unsigned = { signature: null, hasCode: false, resultsHash: null, hintedHash: null, quote: null };
  const key = itemKeyOf({ network, commitment });
  const offered = { ...unsigned, key, item: fresh, account, buyerName: MERCHANT, buyerIcon: null } as const;
  await insertItems(tx, [{ ...offered, purpose: 'refund', state: 'offered' }], now);
  return fresh;
}

async function offeredBefore(tx: Tx, outgoing: Outgoing, now: Date): Promise<Item> {
  const { signer, network, commitment, deadline } = outgoing;
  const [item] = commitment === null ? [] : await findItems(tx, [itemKeyOf({ network, commitment })]);
  if (signer !== 'merchant' || item?.state !== 'offered' || deadline === null) throw changedMeanwhile();
  if (deadline.getTime() - now.getTime() < LEAST_LEFT_MS) throw runningOut(deadline);
  return itemOf(item);
}

/**
 * Throws if the gateway did not write the refund's row. An attacker with write access to the database must not be able to make a merchant
 * sign a refund to the attacker's account.
 */
async function refuseForged(deps: OfferDeps, refund: Signable): Promise<void> {
  if (isOwnRefund(deps, refund)) return;
  const { id, mac, recipient, paymentId } = refund;
  // Rows of older versions have no MAC. Such a row is accepted if it returns the money to its payer.
  const paid = await findPayingItem(deps.db.sql, paymentId);
  if (mac === null && paid?.payer === recipient && BigInt(refund.amount) <= BigInt(paid.amount)) return;
  deps.log.error({ id }, 'a refund is not offered to its merchant: its row was changed');
  const message = `The merchant is not asked to sign for ${id}: its row was not written by this gateway, or was changed. Find out who has written to the database.`;
  await raiseForged(deps, { name: 'outgoing_refused', subject: id, message });
  throw new ApiError('invalid_state', 'The refund is checked by the operator.');
}

/** Returns the Permit2 allowance of the merchant's account. Throws if that account could not pay, or the recipient could not receive. */
async function refuseUnable(
  payerSide: PayerSide,
  { merchantAccount, asset, recipient, amount }: Signable,
): Promise<bigint> {
  const ask = { payers: [merchantAccount], assets: [{ asset, recipient }], timeoutMs: SURVEY_TIMEOUT_MS };
  const { holdings, unreceivable, faults } = await payerSide.survey(ask);
  if (unreceivable.includes(asset)) throw new ApiError('invalid_state', 'The recipient cannot receive the refund now.');
  const [holding] = holdings;
  if (faults.length > 0 || holding === undefined || holding.isRefused) {
    throw new ApiError('invalid_state', 'The token refuses transfers of this account now.');
  }
  if (holding.balance < BigInt(amount)) throw new ApiError('invalid_state', 'The account has insufficient funds.');
  return holding.allowance;
}

function changedMeanwhile(): ApiError {
  return new ApiError('invalid_state', 'The refund has just changed. Read it again.');
}

function paidBefore(): ApiError {
  return new ApiError(
    'invalid_state',
    'The chain shows that the account has paid this refund. The operator checks it.',
  );
}

function runningOut(deadline: Date): ApiError {
  const message = `An earlier request to sign runs out at ${deadline.toISOString()}. Try again a minute later.`;
  return new ApiError('invalid_state', message, {
    details: { what: 'earlier_request', until: deadline.toISOString() },
  });
}

function notReady(): ApiError {
  return new ApiError('internal_error', 'The chain is being read. Try again in a moment.', {
    status: 503,
    retryAfterS: 10,
  });
}
