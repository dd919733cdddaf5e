import type { ChainReader } from '../../../chains/chain-reader.ts';
import { familyOf } from '../../../chains/families.ts';
import type { Registry } from '../../../chains/registry.ts';
import { canonicalAddress, isSameAddress } from '../../../domain/addresses/families.ts';
import { type AuthorizedMethod, type Item, itemKeyOf } from '../../../domain/item.ts';
import { visibleStatus } from '../../../domain/payment.ts';
import { isShortLived, misfitOf, WRONG_END, type X402Payment } from '../../../domain/x402.ts';
import { ApiError } from '../../../errors.ts';
import { findDepositCursor, sumSweeps } from '../../../store/chain/deposit-places.ts';
import { findTransferOf } from '../../../store/chain/deposit-progress.ts';
import { findItemsOf, itemOf, type StoredItem } from '../../../store/chain/items.ts';
import { type Payment, stateOf } from '../../../store/payments/payments.ts';
import { askWitnesses } from '../../evidence.ts';
import { findOwnDeposit, type OpenDepositDeps, type OpenedDeposit } from '../open-deposit.ts';
import { balanceUnderWay, merchantStopped, noExecutor, payerBusy, refuseScreened } from '../option-refusals.ts';
import type { PaymentMover } from '../payment-mover.ts';
import { openNetworks } from '../served-networks.ts';
import { readTerms } from '../terms-in-force.ts';
import { type BadVerdict, reasonOf } from '../verdict-refusals.ts';
import { AGENT } from './list-requirements.ts';

export type AcceptDeps = OpenDepositDeps & { readonly movePayment: PaymentMover };

interface AcceptInput {
  readonly payment: Payment;
  readonly paying: X402Payment;
  /** Called before the chain is asked about a signature that is not proved: see `PayerSide.judge`. It may throw. */
  readonly onUnproved: () => void;
}

/** An accepted authorization: the payer and the deposit address. */
export interface Authorized {
  readonly deposit: OpenedDeposit;
  readonly payer: string;
}

export type Acceptance =
  /** The authorization is stored, now or by an earlier request. From here on the workers continue from its row. */
  | { readonly is: 'accepted'; readonly authorized: Authorized }
  /** The authorization is not stored, and never sent by us. The reason is an error code of x402. */
  | { readonly is: 'unfit'; readonly reason: string }
  /**
   * The payment is being paid, or has ended, and nothing was stored. The authorization may have paid it all the same, if a stranger
   * submitted it to the token.
   */
  | { readonly is: 'settled'; readonly authorized: Authorized }
  /** The token reports the nonce as used, but the transfer that used it is not known yet. Nothing was stored. */
  | { readonly is: 'unclear' };

/**
 * Accepts a payer's authorization for a payment. A payment accepts one authorization at a time, and repetitions of it. The authorization
 * becomes a due item in the database transaction that moves the payment, and nothing is sent before that. So every sent authorization is
 * known, and its payer is not asked for another one while it may still be carried out.
 */
export async function acceptAuthorization(
  deps: AcceptDeps,
  { payment, paying, onUnproved }: AcceptInput,
): Promise<Acceptance> {
  const asset = `${paying.network}/erc20:${canonicalAddress(paying.network, paying.asset)}`;
  const deposit = await findOwnDeposit(deps, { paymentId: payment.id, asset });
  const chain = deps.chains.find(paying.network)?.chain;
  const method = methodFor(deps.registry, asset);
  if (
    deposit === undefined ||
    chain === undefined ||
    method === undefined ||
    !familyOf(paying.network).takesAuthorizations(deposit.item.collector)
  ) {
    return { is: 'unfit', reason: 'invalid_payment_requirements' };
  }
  const payer = canonicalAddress(paying.network, paying.from);
  const authorized = { deposit, payer };
  const nowMs = deps.world.clock.nowMs();
  const misfit = misfitOf(paying, { ...askedOf(deposit), expiresAtMs: payment.expiresAt.getTime() }, nowMs);
  const item = authorizedItem(deposit, paying, { method, payer });
  const commitment = item && chain.payerSide.commitmentOf(item);
  const known = await findKnown(deps, payment, { paying, commitment });
  if (known === 'same') return { is: 'accepted', authorized };
  if (known === 'conflict') throw identifierTaken();
  if (visibleStatus(stateOf(payment), nowMs) !== 'requires_action') return { is: 'settled', authorized };
  if (misfit !== undefined || item === undefined || commitment === undefined) {
    return { is: 'unfit', reason: misfit ?? WRONG_END };
  }

  const relayer = await refuseStopped(deps, payment, paying.network);
  const script = await deps.rehearsal.scriptOf(payment);
  await script.onConfirm?.();
  const { list } = refuseScreened(script.screening ?? deps.screening, [`${item.network}:${payer}`]);
  const verdict = await chain.payerSide.judge(item, paying.signature, relayer, onUnproved);
  // A stranger may have submitted the authorization to the token. If its transfer is known, the authorization is accepted like any other.
  const use = verdict.is === 'used' ? await useOf(deps, chain.reader, { deposit, item, commitment }) : undefined;
  if (use === 'unclear') return { is: 'unclear' };
  const isTaken = use === 'arrived';
  if (!isTaken && isShortLived(paying, nowMs)) return { is: 'unfit', reason: WRONG_END };
  if (verdict.is !== 'good' && !isTaken) return { is: 'unfit', reason: wordFor(verdict) };

  deps.world.crashPoint?.('confirm.judged');
  const account = `${item.network}:${payer}`;
  const accepted = {
    key: itemKeyOf({ network: item.network, commitment }),
    item,
    account,
    quote: null,
    isHeld: deposit.item.isHeld,
    ...(deposit.item.feeTerms && { feeTerms: deposit.item.feeTerms }),
    buyerName: AGENT.name,
    buyerIcon: AGENT.icon,
    state: 'due',
    signature: paying.signature,
    hasCode: verdict.is === 'good' && verdict.hasCode,
    resultsHash: null,
    hintedHash: null,
    identifier: paying.identifier,
    ...(script.holdMs && { sendAfter: new Date(nowMs + script.holdMs) }),
  } as const;
  const outcome = await deps.movePayment({
    paymentId: payment.id,
    event: {
      type: 'confirmed',
      buyer: { account, ...AGENT },
      token: { asset, value: item.amount },
      isNative: false,
    },
    actor: 'x402',
    evidence: { commitment, screening: list },
    items: { accepted: [accepted] },
    balance: verdict.is === 'good' ? verdict.balance : undefined,
  });
  deps.world.crashPoint?.('confirm.accepted');
  if (outcome.ok) return { is: 'accepted', authorized };
  if (outcome.refusal === 'merchant_stopped') throw merchantStopped();
  if (outcome.refusal === 'network_stopped') throw noExecutor();
  if (outcome.refusal === 'payer_busy') throw payerBusy();
  if (outcome.refusal === 'balance_under_way') throw balanceUnderWay();
  if (outcome.refusal === 'attempt_over') return { is: 'unfit', reason: 'invalid_exact_evm_nonce_already_used' };
  // Another request moved the payment first. It may have brought the same authorization.
  const isSame = (await findKnown(deps, payment, { paying, commitment })) === 'same';
  return isSame ? { is: 'accepted', authorized } : { is: 'settled', authorized };
}

/** The form of EIP-3009 that the token supports. */
function methodFor(registry: Registry, asset: string): AuthorizedMethod | undefined {
  const method = registry.asset(asset)?.pay?.method;
  if (method === 'eip3009-vrs') return 'deposit-vrs';
  return method === 'eip3009-bytes' ? 'deposit-bytes' : undefined;
}

function askedOf({ address, item }: OpenedDeposit) {
  return { payTo: address, amount: BigInt(item.amount) };
}

/** The bound of the times in an authorization. Times that do not fit into five bytes are refused anyway. */
const MAX_TIME = 2n ** 40n;

function authorizedItem(
  { item }: OpenedDeposit,
  { validAfter, validBefore, nonce }: X402Payment,
  { method, payer }: { readonly method: AuthorizedMethod; readonly payer: string },
): Item | undefined {
  if (validAfter >= MAX_TIME || validBefore >= MAX_TIME) return undefined;
  const authorization = { nonce, validAfterS: Number(validAfter) };
  return { ...itemOf(item), method, payer, deadlineS: Number(validBefore), authorization };
}

/**
 * Compares an authorization with those that the payment has accepted. The same signature or the same identifier means the same
 * authorization. The signature of an ended authorization was deleted, so its repetition counts as new.
 */
async function findKnown(
  { db }: AcceptDeps,
  payment: Payment,
  { paying, commitment }: { readonly paying: X402Payment; readonly commitment: string | undefined },
): Promise<'same' | 'conflict' | undefined> {
  const taken = (await findItemsOf(db.sql, payment.id)).filter(isTaken);
  const isRepeated = taken.some((each) => each.commitment === commitment && each.signature === paying.signature);
  if (isRepeated) return 'same';
  const named = taken.find(({ authorization }) => authorization?.identifier === (paying.identifier ?? null));
  if (named === undefined) return undefined;
  return isSameAddress(paying.network, named.payer, paying.from) ? 'same' : 'conflict';
}

function isTaken({ authorization, state }: StoredItem): boolean {
  return authorization !== null && state !== 'unpaid';
}

function identifierTaken(): ApiError {
  return new ApiError('idempotency_conflict', 'The payment-identifier was used by another account.');
}

/** Throws if the network takes no payments, or the merchant is stopped. Returns the network's first relayer, if it has one. */
async function refuseStopped(deps: AcceptDeps, payment: Payment, network: string): Promise<string | undefined> {
  const networks = await openNetworks(deps, payment.mode);
  const connected = networks.find(({ chain }) => chain.network.chainId === network);
  if (connected === undefined) throw noExecutor();
  if ((await readTerms(deps, payment)).isStopped) throw merchantStopped();
  return connected.relayers[0]?.address;
}

/**
 * The use of a nonce that the token reports as used. `arrived`: a transfer of exactly this payer, amount and address is known. A transfer
 * that differs proves nothing, because the payer may have used the nonce before, and anybody can send other money to the address.
 * `elsewhere`: at a final block less than the amount has ever come to the address, so the nonce was used for another transfer. `unclear`:
 * neither is proved yet, so the payer must not be asked for another authorization.
 */
async function useOf(
  { db }: AcceptDeps,
  reader: ChainReader,
  { deposit, item, commitment }: { deposit: OpenedDeposit; item: Item; commitment: string },
): Promise<'arrived' | 'elsewhere' | 'unclear'> {
  const { network, asset, address } = deposit;
  const { payer: sender, amount } = item;
  const place = { network, commitment: deposit.commitment, asset };
  // The cursor is read before the transfer. Otherwise a transfer that is stored between the two reads would be missed, although
  // the cursor has passed it.
  const upTo = (await findDepositCursor(db.sql, network))?.finalNumber ?? -1;
  if ((await findTransferOf(db.sql, { ...place, sender, amount })) !== undefined) return 'arrived';
  if (upTo < 0) return 'unclear';
  const { finding } = await askWitnesses(reader, async (witness) => {
    const [isUsed, held] = await Promise.all([
      witness.isUsed(item, commitment, upTo),
      witness.holding(address, asset, upTo),
    ]);
    return isUsed ? held : undefined;
  });
  if (finding.is !== 'agreed') return 'unclear';
  const { totals } = await sumSweeps(db.sql, { ...place, upTo });
  return finding.value + (totals.get(asset) ?? 0n) < amount ? 'elsewhere' : 'unclear';
}

/** The error code of x402 for a finding of the chain. */
function wordFor(verdict: BadVerdict): string {
  const reason = reasonOf(verdict);
  switch (reason) {
    case 'malformed_signature':
      return 'invalid_exact_evm_failed_to_parse_signature';
    case 'wrong_signature':
      return 'invalid_exact_evm_signature';
    case 'short_balance':
      return 'invalid_exact_evm_insufficient_balance';
    case 'used':
      return 'invalid_exact_evm_nonce_already_used';
    case 'late':
      return WRONG_END;
    default:
      return 'invalid_exact_evm_transaction_simulation_failed';
  }
}
