import { type ConnectedChain, isIntermediate } from '../../chains/chains.ts';
import { LEAST_LEFT_MS } from '../../domain/deposit.ts';
import type { Item } from '../../domain/item.ts';
import { isFinal, visibleStatus } from '../../domain/payment.ts';
import { ApiError, validationError } from '../../errors.ts';
import { findDepositProgress } from '../../store/chain/deposit-progress.ts';
import { type Deposit, depositItemKey, findDeposit, insertDeposit } from '../../store/chain/deposits.ts';
import { insertItems, raiseNativeDeadline, type StoredItem } from '../../store/chain/items.ts';
import { findClosed } from '../../store/parties/freezes.ts';
import { type Payment, stateOf } from '../../store/payments/payments.ts';
import { type CommandDeps, command } from '../command.ts';
import { shareFreezes } from '../parties/freeze-heads.ts';
import type { RowKeyDeps } from '../row-keys.ts';
import { type SubjectKeyDeps, sealItem } from '../subject-keys.ts';
import { type DepositAssetDeps, hasStock, type Unsendable, whyUnsendable } from './deposit-assets.ts';
import { depositMac, isOwnDeposit } from './deposit-rows.ts';
import { belowFees, merchantStopped, noExecutor, refuseUnpayable } from './option-refusals.ts';
import { type PayableAsset, payableAssets } from './payable-assets.ts';
import { openNetworks } from './served-networks.ts';
import { promiseOf, readTerms } from './terms-in-force.ts';

export type OpenDepositDeps = CommandDeps & RowKeyDeps & SubjectKeyDeps & DepositAssetDeps;

export interface OpenDepositInput {
  readonly payment: Payment;
  /** The CAIP-19 id of the asset, in canonical spelling. */
  readonly asset: string;
  readonly buyer: { readonly name: string; readonly icon: string | null };
}

export type OpenedDeposit = Deposit & { readonly item: StoredItem };

/**
 * The deposit address of a payment for an asset. Its terms are stored at the first request, and stay even if the merchant's destination
 * or fee changes. The payer can send money at any time from then on. So the row is stored before the address is returned, and the clock
 * alone no longer expires the payment.
 */
export async function openDeposit(deps: OpenDepositDeps, input: OpenDepositInput): Promise<OpenedDeposit> {
  const { payment, asset } = input;
  const nowMs = deps.world.clock.nowMs();
  const known = await findDeposit(deps.db.sql, { paymentId: payment.id, asset });
  if (known !== undefined && !isOver(payment, nowMs)) {
    const own = ownDeposit(deps, known);
    await refuseClosed(deps, payment, own);
    return own;
  }
  refuseUnpayable(payment, nowMs);
  if (payment.expiresAt.getTime() - nowMs < LEAST_LEFT_MS) {
    throw new ApiError('invalid_state', 'The payment expires too soon for a transfer to its own address.');
  }
  await refuseStock(deps, payment);
  const { connected, payable } = await findPayable(deps, input);
  const contract = connected.chain.payerSide.depositContract();
  if (contract === undefined) throw noExecutor();
  const terms = await readTerms(deps, payment);
  if (terms.isStopped) throw merchantStopped();
  if (terms.isBelowFees) throw belowFees();
  const deadlineS = Math.floor(payment.expiresAt.getTime() / 1000);
  const promised = promiseOf({ payment, terms, connected, payable, payer: contract, deadlineS });
  if (promised === undefined) throw noExecutor();
  const unsealed: Item = { ...promised.item, method: 'deposit', collector: contract };
  const unaddressed = sealItem(deps, connected.chain.payerSide, unsealed, payment.sealedId);
  const address = connected.chain.payerSide.depositAddressOf(unaddressed);
  const item = { ...unaddressed, payer: address };
  const commitment = connected.chain.payerSide.commitmentOf(item);
  const { network } = item;
  const fields = { commitment, network, address, paymentId: payment.id, asset };
  const offered = {
    item,
    account: `${network}:${address}`,
    quote: null,
    isHeld: isIntermediate(connected, item.recipient),
    feeTerms: promised.feeTerms,
    buyerName: input.buyer.name,
    buyerIcon: input.buyer.icon,
    state: 'offered',
    signature: null,
    hasCode: false,
    resultsHash: null,
    hintedHash: null,
  } as const;
  const opened = await command(deps, async (tx, now) => {
    await shareFreezes(tx, deps);
    const stopped = await findClosed(tx, [payment.merchantId, network]);
    if (stopped.has(payment.merchantId)) throw merchantStopped();
    if (stopped.has(network)) throw noExecutor();
    const deadline = new Date(deadlineS * 1000);
    if (!(await raiseNativeDeadline(tx, { paymentId: payment.id, deadline, now }))) return undefined;
    // The payment is locked now. Of two concurrent requests, the second finds the address of the first.
    const first = await findDeposit(tx, { paymentId: payment.id, asset });
    if (first !== undefined) return first;
    const itemKey = await depositItemKey(tx, fields);
    await insertItems(tx, [{ ...offered, key: itemKey }], now);
    await insertDeposit(tx, { ...fields, itemKey, mac: depositMac(deps, fields) }, now);
    return findDeposit(tx, { paymentId: payment.id, asset });
  });
  if (opened === undefined) throw new ApiError('invalid_state', 'The payment cannot be paid any more.');
  deps.world.crashPoint?.('deposit.opened');
  return ownDeposit(deps, opened);
}

/** The deposit address of a payment for an asset, if it was created. */
export async function findOwnDeposit(
  deps: CommandDeps & RowKeyDeps,
  ask: { readonly paymentId: string; readonly asset: string },
): Promise<OpenedDeposit | undefined> {
  const known = await findDeposit(deps.db.sql, ask);
  return known && ownDeposit(deps, known);
}

function isOver(payment: Payment, nowMs: number): boolean {
  const status = visibleStatus(stateOf(payment), nowMs);
  return isFinal(status) && status !== 'succeeded';
}

/**
 * Throws while the merchant or the network is stopped, because nobody should send money to the address then. If money has arrived there,
 * its payer still sees the address and the progress.
 */
async function refuseClosed(deps: OpenDepositDeps, payment: Payment, opened: OpenedDeposit): Promise<void> {
  if (visibleStatus(stateOf(payment), deps.world.clock.nowMs()) !== 'requires_action') return;
  const { commitment, network, asset, item } = opened;
  const [terms, stop] = await Promise.all([readTerms(deps, payment), deps.networkStops.get(network)]);
  if (!terms.isStopped && !stop?.isFrozen) return;
  const { deadline, amount: asked } = item;
  const { arrived } = await findDepositProgress(deps.db.sql, { commitment, network, asset, deadline, asked });
  if (arrived === 0n) throw terms.isStopped ? merchantStopped() : noExecutor();
}

async function refuseStock(deps: CommandDeps, payment: Payment): Promise<void> {
  if (!(await hasStock(deps, payment))) return;
  throw new ApiError(
    'invalid_state',
    'Its link has a stock, so the payment has no address of its own. Pay it with a wallet.',
  );
}

/** Throws if the gateway did not write the row: an address that somebody else wrote into the database is never shown. */
function ownDeposit(deps: RowKeyDeps, deposit: OpenedDeposit): OpenedDeposit {
  if (isOwnDeposit(deps, deposit)) return deposit;
  throw new Error(`The deposit address of ${deposit.paymentId} was not written by this gateway.`);
}

/** The asset with its quote. Throws if it cannot be sent to a deposit address. */
async function findPayable(
  deps: OpenDepositDeps,
  { payment, asset }: OpenDepositInput,
): Promise<{ connected: ConnectedChain; payable: PayableAsset }> {
  for (const connected of await openNetworks(deps, payment.mode)) {
    const payable = payableAssets(deps, payment, connected).find((each) => each.asset.id === asset);
    if (payable === undefined) continue;
    const reason = whyUnsendable(deps, connected, payable);
    if (reason === undefined) return { connected, payable };
    throw reason.is === 'no_addresses' ? noExecutor() : wrongAsset(unsendableText(reason, connected));
  }
  throw wrongAsset('is not an asset that this payment can be paid with');
}

function unsendableText(reason: Exclude<Unsendable, { is: 'no_addresses' }>, { chain }: ConnectedChain): string {
  if (reason.is === 'too_little') {
    return `can be sent to an address on ${chain.network.name} from ${reason.minimum} tokens on`;
  }
  return reason.is === 'too_much'
    ? 'cannot be sent in such an amount'
    : 'must be a token at par with the price, or the token of the price';
}

function wrongAsset(message: string): ApiError {
  return validationError([{ field: 'asset', message }]);
}
