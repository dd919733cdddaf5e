/**
 * An entry of the books. Every unit of money is in exactly one account. An entry moves units of one asset from account to
 * account, so its lines add up to zero. Accounts of the outside world have a negative balance: the amount that has come from
 * there.
 */
export interface Entry {
  /** A CAIP-2 id. */
  readonly network: string;
  /** A CAIP-19 id. */
  readonly asset: string;
  readonly kind: EntryKind;
  /** The object that the entry is about: the id of a payment, payout, refund or float, or a relayer's address. */
  readonly subject: string;
  /** The source of the entry: the commitment of an item, or the hash of a transaction on chain. */
  readonly reference: string;
  readonly merchantId: string | null;
  readonly transaction: string | null;
  /** The block that proves the entry. Null for an entry that only moves money between accounts of the books. */
  readonly block: number | null;
  readonly note: string | null;
  readonly lines: readonly Line[];
}

export interface Line {
  readonly account: string;
  readonly units: bigint;
}

export type EntryKind =
  | 'accepted'
  | 'unpaid'
  | 'paid'
  | 'reverted'
  | 'rebuilt'
  | 'payout_rebuilt'
  | 'refund_rebuilt'
  | 'return_rebuilt'
  | 'payout_sent'
  | 'payout_done'
  | 'payout_failed'
  | 'refund_covered'
  | 'refund_sent'
  | 'refund_done'
  | 'refund_failed'
  | 'refund_uncovered'
  | 'refund_fee_returned'
  | 'held_to_float'
  | 'float_added'
  | 'departed'
  | 'float_return_sent'
  | 'float_returned'
  | 'float_return_failed'
  | 'stray_received'
  | 'stray_covered'
  | 'stray_return_sent'
  | 'stray_returned'
  | 'stray_return_failed'
  | 'relayer_funded'
  | 'gas'
  | 'deposited'
  | 'swept'
  | 'unswept'
  /** Written once by a migration, to move entries from a wrong SLIP-44 number of a coin to the right one. */
  | 'coin_renamed';

/** Accounts of the books whose money is on the operator's intermediate account, regardless of its owner. */
export const INTERMEDIATE = 'intermediate/';

export const ACCOUNTS = {
  /** The payers, outside the gateway. The balance is negative: the amount that payers have brought in and not got back. */
  payer: 'payer',
  /** Wallets of merchants and of the operator, outside the gateway. */
  outside: 'outside',
  /** Money that payers have authorised and that is not yet final on chain. */
  inFlight: 'in_flight',
  /** Money that has arrived at deposit addresses and is not swept yet. */
  deposits: 'deposits',
  /** Fees that have reached the operator's fee account. */
  fees: 'fees',
  /** Money that has reached the merchant's own account. */
  settled: (merchantId: string) => `settled/${merchantId}`,
  /** Money of a merchant that is held on the intermediate account. */
  payable: (merchantId: string) => `${INTERMEDIATE}payable/${merchantId}`,
  /** Money that is set aside for refunds. */
  refunds: `${INTERMEDIATE}refunds`,
  /** Money in payouts, refunds and returns that are not final yet, so it is still on the intermediate account. */
  outgoing: `${INTERMEDIATE}outgoing`,
  float: (owner: FloatOwner) => `${INTERMEDIATE}float/${owner}`,
  /** Unexpected money: no payment needed it. */
  unexpected: `${INTERMEDIATE}stray`,
  /**
   * Money that an account should have and does not: spent money whose incoming transfer a reorg has removed, and departures that
   * the operator's money did not cover. The balance is the missing amount as a negative number.
   */
  missing: (account: string) => `missing/${account}`,
  /** The coin for gas that a relayer, or the intermediate account, has. */
  relayer: (signer: string) => `relayer/${signer}`,
  /** Coin that a relayer's account is returning to its sender. Until the return is final, the coin is still on the relayer's account. */
  relayerOutgoing: (signer: string) => `relayer/${signer}/outgoing`,
  /** The coin that a relayer has spent on gas. */
  gas: (signer: string) => `gas/${signer}`,
} as const;

/** The owner of a float: a merchant's id, or `operator`. */
export type FloatOwner = string;
export const OPERATOR_FLOAT: FloatOwner = 'operator';

export type EntrySubject = Pick<Entry, 'network' | 'asset' | 'subject' | 'reference' | 'merchantId'>;

export interface Proof {
  readonly transaction: string;
  readonly block: number;
}

export interface BookedItem extends EntrySubject {
  readonly merchantId: string;
  readonly amount: bigint;
  readonly fee: bigint;
  /** True if the net amount goes to the intermediate account. */
  readonly isHeld: boolean;
}

export function acceptedEntry(item: BookedItem): Entry {
  return transfer('accepted', item, item.amount, ACCOUNTS.payer, ACCOUNTS.inFlight);
}

/** The entry for an authorization that ended unused: the money in flight never left the payer. */
export function unpaidEntry(item: BookedItem, note: string | null): Entry {
  return transfer('unpaid', item, item.amount, ACCOUNTS.inFlight, ACCOUNTS.payer, { note });
}

export interface PaidTerms {
  /** True if the item was booked as in flight. False for coin that is first seen on chain: it is booked from the payer directly. */
  readonly wasInFlight: boolean;
  /** True if the item was paid after the payment had ended. */
  readonly isExtra: boolean;
}

export function paidEntry(item: BookedItem, { wasInFlight, isExtra }: PaidTerms, proof: Proof | undefined): Entry {
  const from = wasInFlight ? ACCOUNTS.inFlight : ACCOUNTS.payer;
  const note = isExtra ? 'paid_after_end' : null;
  return entry('paid', item, [{ account: from, units: -item.amount }, ...gains(item, false)], { ...proof, note });
}

/** The entry for a paid item whose final transaction a reorg has removed. The money is in flight again, or back with its payer. */
export function revertedEntry(
  item: BookedItem,
  { isInFlight, isUnexpected }: { isInFlight: boolean; isUnexpected: boolean },
): Entry {
  const to = isInFlight ? ACCOUNTS.inFlight : ACCOUNTS.payer;
  const losses = gains(item, isUnexpected).map(({ account, units }) => ({ account, units: -units }));
  return entry('reverted', item, [...losses, { account: to, units: item.amount }]);
}

/** The lines that all entries of a paid item together must add up to, whatever entries it has. */
export function paidPosition(item: BookedItem, isUnexpected: boolean): Line[] {
  return withoutZeros([{ account: ACCOUNTS.payer, units: -item.amount }, ...gains(item, isUnexpected)]);
}

/** The entry that corrects the total `is` of a subject to `shouldBe`. Undefined if the total is right. */
export function correctingEntry(
  kind: Extract<EntryKind, `${string}rebuilt`>,
  about: EntrySubject,
  { is, shouldBe, proof }: { is: readonly Line[]; shouldBe: readonly Line[]; proof: Proof },
): Entry | undefined {
  const lines = difference(shouldBe, is);
  return lines.length === 0 ? undefined : entry(kind, about, lines, proof);
}

export function difference(shouldBe: readonly Line[], is: readonly Line[]): Line[] {
  return addUp([...shouldBe, ...is.map(({ account, units }) => ({ account, units: -units }))]);
}

/**
 * The lines that book an item's fee and net amount. Only this function splits a payment into both. `isUnexpected` is true for
 * late money, as older versions booked it.
 */
function gains(item: BookedItem, isUnexpected: boolean): Line[] {
  const held = isUnexpected ? ACCOUNTS.unexpected : ACCOUNTS.payable(item.merchantId);
  return [
    { account: ACCOUNTS.fees, units: item.fee },
    { account: item.isHeld ? held : ACCOUNTS.settled(item.merchantId), units: item.amount - item.fee },
  ];
}

/**
 * The entry for a step of a payout. A payout leaves the payable account when it is sent, and counts as settled when its
 * transaction is final.
 */
export function payoutEntry(
  step: 'sent' | 'done' | 'failed',
  about: EntrySubject & { readonly merchantId: string },
  units: bigint,
  proof?: Proof,
): Entry {
  const { payable, settled } = ACCOUNTS;
  return outgoingEntry(`payout_${step}`, step, about, units, {
    source: payable(about.merchantId),
    target: settled(about.merchantId),
    proof,
  });
}

/** The sources of the money for a refund, with an amount for each, in the order in which they are used. */
export interface Cover {
  readonly payable: bigint;
  readonly merchantFloat: bigint;
  readonly operatorFloat: bigint;
}

type Refund = EntrySubject & { readonly merchantId: string };

export function refundCoveredEntry(about: Refund, cover: Cover): Entry {
  return entry('refund_covered', about, coverLines(about, cover));
}

/** The entry that returns the cover of a refund to its sources, because the refund will not be made. */
export function refundUncoveredEntry(about: Refund, cover: Cover): Entry {
  const lines = coverLines(about, cover).map(({ account, units }) => ({ account, units: -units }));
  return entry('refund_uncovered', about, lines);
}

function coverLines({ merchantId }: Refund, { payable, merchantFloat, operatorFloat }: Cover): Line[] {
  return [
    { account: ACCOUNTS.payable(merchantId), units: -payable },
    { account: ACCOUNTS.float(merchantId), units: -merchantFloat },
    { account: ACCOUNTS.float(OPERATOR_FLOAT), units: -operatorFloat },
    { account: ACCOUNTS.refunds, units: payable + merchantFloat + operatorFloat },
  ];
}

export function refundEntry(step: 'sent' | 'done' | 'failed', about: Refund, units: bigint, proof?: Proof): Entry {
  const { refunds: source, payer: target } = ACCOUNTS;
  return outgoingEntry(`refund_${step}`, step, about, units, { source, target, proof });
}

/** The entry for a refund that the merchant's own account has paid. To reverse it after a deep reorg, pass negative units. */
export function signedRefundEntry(about: Refund, units: bigint, proof?: Proof): Entry {
  return transfer('refund_done', about, units, ACCOUNTS.settled(about.merchantId), ACCOUNTS.payer, proof);
}

/** The entry that returns the fee of a refund that the merchant's account paid: from the operator's float to the merchant's float. */
export function signedFeeEntry(about: Refund, units: bigint): Entry {
  const { float } = ACCOUNTS;
  return transfer('refund_fee_returned', about, units, float(OPERATOR_FLOAT), float(about.merchantId));
}

export function floatAddedEntry(about: EntrySubject, owner: FloatOwner, units: bigint, proof: Proof): Entry {
  return transfer('float_added', about, units, ACCOUNTS.outside, ACCOUNTS.float(owner), proof);
}

const RETURNS = {
  sent: ['float_return_sent', 'stray_return_sent'],
  done: ['float_returned', 'stray_returned'],
  failed: ['float_return_failed', 'stray_return_failed'],
} as const;

export function floatReturnEntry(
  step: 'sent' | 'done' | 'failed',
  about: EntrySubject,
  { owner, units, proof }: { owner: FloatOwner; units: bigint; proof?: Proof | undefined },
): Entry {
  const ends = { source: ACCOUNTS.float(owner), target: ACCOUNTS.outside, proof };
  return outgoingEntry(RETURNS[step][0], step, about, units, ends);
}

export function unexpectedReceivedEntry(about: EntrySubject, units: bigint, proof: Partial<Proof>): Entry {
  return transfer('stray_received', about, units, ACCOUNTS.outside, ACCOUNTS.unexpected, proof);
}

/**
 * The entry that covers the return of late money. The cover is the part that is still held for the merchant; floats pay the rest
 * and the fee.
 */
export function unexpectedCoveredEntry(about: Refund, cover: Cover): Entry {
  const lines = coverLines(about, cover).map((line) =>
    line.account === ACCOUNTS.refunds ? { ...line, account: ACCOUNTS.unexpected } : line,
  );
  return entry('stray_covered', about, lines);
}

export function unexpectedReturnEntry(
  step: 'sent' | 'done' | 'failed',
  about: EntrySubject,
  { units, proof }: { units: bigint; proof?: Proof | undefined },
): Entry {
  const ends = { source: ACCOUNTS.unexpected, target: ACCOUNTS.outside, proof };
  return outgoingEntry(RETURNS[step][1], step, about, units, ends);
}

/** The account whose gas money an entry is about. The asset is the native coin of the network. */
export interface RelayerSubject {
  readonly network: string;
  readonly asset: string;
  readonly signer: string;
}

/** The entry for coin that reached a relayer. Its reference names the block at which the coin was found. */
export function relayerFundedEntry({ network, asset, signer }: RelayerSubject, units: bigint, block: number): Entry {
  const about = { network, asset, subject: signer, reference: `${network}:${signer}:${block}`, merchantId: null };
  return transfer('relayer_funded', about, units, ACCOUNTS.outside, ACCOUNTS.relayer(signer), { block });
}

/** The entry for coin that was sent to one of our accounts. The coin counts as gas money until an operator assigns it. */
export function coinReceivedEntry(about: EntrySubject, signer: string, units: bigint, proof: Partial<Proof>): Entry {
  return transfer('relayer_funded', about, units, ACCOUNTS.outside, ACCOUNTS.relayer(signer), proof);
}

export function coinReturnEntry(
  step: 'sent' | 'done' | 'failed',
  about: EntrySubject,
  { signer, units, proof }: { signer: string; units: bigint; proof?: Proof | undefined },
): Entry {
  const ends = { source: ACCOUNTS.relayer(signer), target: ACCOUNTS.outside, proof };
  return outgoingEntry(RETURNS[step][1], step, about, units, { ...ends, way: ACCOUNTS.relayerOutgoing(signer) });
}

export function gasEntry({ network, asset, signer }: RelayerSubject, units: bigint, proof: Proof): Entry {
  const about = { network, asset, subject: signer, reference: proof.transaction, merchantId: null };
  return transfer('gas', about, units, ACCOUNTS.relayer(signer), ACCOUNTS.gas(signer), proof);
}

interface Ends {
  readonly source: string;
  readonly target: string;
  /** The account of the books that has the money until the transfer is final. */
  readonly way?: string;
  readonly proof: Proof | undefined;
}

function outgoingEntry(
  kind: EntryKind,
  step: 'sent' | 'done' | 'failed',
  about: EntrySubject,
  units: bigint,
  { source, target, way = ACCOUNTS.outgoing, proof }: Ends,
): Entry {
  if (step === 'sent') return transfer(kind, about, units, source, way);
  return transfer(kind, about, units, way, step === 'done' ? target : source, proof);
}

type Circumstances = Partial<Proof & { readonly note: string | null }>;

function transfer(
  kind: EntryKind,
  about: EntrySubject,
  units: bigint,
  from: string,
  to: string,
  circumstances: Circumstances = {},
): Entry {
  const lines = [
    { account: from, units: -units },
    { account: to, units },
  ];
  return entry(kind, about, lines, circumstances);
}

export function entry(
  kind: EntryKind,
  about: EntrySubject,
  lines: readonly Line[],
  circumstances: Circumstances = {},
): Entry {
  const { network, asset, subject, reference, merchantId } = about;
  const { transaction = null, block = null, note = null } = circumstances;
  const kept = withoutZeros(lines);
  if (kept.reduce((sum, { units }) => sum + units, 0n) !== 0n) throw new RangeError('An entry does not balance.');
  return { network, asset, kind, subject, reference, merchantId, transaction, block, note, lines: kept };
}

export function positionOf(entries: readonly Entry[]): Line[] {
  return addUp(entries.flatMap(({ lines }) => lines));
}

/** One line for each account whose sum is not zero. */
export function addUp(lines: readonly Line[]): Line[] {
  const sums = new Map<string, bigint>();
  for (const { account, units } of lines) sums.set(account, (sums.get(account) ?? 0n) + units);
  return withoutZeros([...sums].map(([account, units]) => ({ account, units })));
}

function withoutZeros(lines: readonly Line[]): Line[] {
  return lines.filter(({ units }) => units !== 0n);
}
