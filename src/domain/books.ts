/**
 * The books. Every unit is in exactly one account; an entry moves units of one asset from account to account, so its
 * lines add up to zero. Accounts of the outside world are negative by the amount that has come from there.
 */
export interface Entry {
  /** CAIP-2. */
  readonly network: string;
  /** CAIP-19. */
  readonly asset: string;
  readonly kind: EntryKind;
  /** The owner of the money: the id of a payment, payout, refund or float, or a relayer's address. */
  readonly subject: string;
  /** The source document: the commitment of an item, or the hash of a transaction. */
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
  /** Written once by a migration: moves entries from a wrong SLIP-44 number of a coin to the right one. */
  | 'coin_renamed';

/** Accounts of the books whose money is on the operator's intermediate account, regardless of its owner. */
export const INTERMEDIATE = 'intermediate/';

export const ACCOUNTS = {
  /** Outside: payers. Negative by the amount that payers have brought in and not got back. */
  payer: 'payer',
  /** Outside: wallets of merchants and of the operator. */
  outside: 'outside',
  /** Authorised by payers, not yet final on chain. */
  inFlight: 'in_flight',
  /** Money at deposit addresses: arrived, and not swept yet. */
  deposits: 'deposits',
  /** Fees that have reached the operator's fee account. */
  fees: 'fees',
  /** Money that has reached the merchant's own account. */
  settled: (merchantId: string) => `settled/${merchantId}`,
  /** Money of a merchant that is held on the intermediate account. */
  payable: (merchantId: string) => `${INTERMEDIATE}payable/${merchantId}`,
  /** Set aside for refunds. */
  refunds: `${INTERMEDIATE}refunds`,
  /** Money in payouts, refunds and returns that are not final yet, so it is still on the intermediate account. */
  outgoing: `${INTERMEDIATE}outgoing`,
  float: (owner: FloatOwner) => `${INTERMEDIATE}float/${owner}`,
  /** Unexpected money: nobody asked for it. */
  unexpected: `${INTERMEDIATE}stray`,
  /**
   * Spent money whose incoming transfer a reorg has removed, and departures that operator money did not cover. The balance is the
   * negative missing amount.
   */
  missing: (account: string) => `missing/${account}`,
  /** The coin that a relayer, or the intermediate account, has for gas. */
  relayer: (signer: string) => `relayer/${signer}`,
  /** Coin on its way from that account back to its sender. Until the return is final the coin is still on the account. */
  relayerOutgoing: (signer: string) => `relayer/${signer}/outgoing`,
  /** The coin a relayer has burnt. */
  gas: (signer: string) => `gas/${signer}`,
} as const;

/** A merchant's id, or the operator. */
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

/** An authorization ended unused: the money in flight never left the payer. */
export function unpaidEntry(item: BookedItem, note: string | null): Entry {
  return transfer('unpaid', item, item.amount, ACCOUNTS.inFlight, ACCOUNTS.payer, { note });
}

export interface PaidTerms {
  /** True if the item was booked as in flight. Coin that is first seen on the chain is booked from the payer directly. */
  readonly wasInFlight: boolean;
  /** True if the item was paid after the payment had ended. */
  readonly isExtra: boolean;
}

export function paidEntry(item: BookedItem, { wasInFlight, isExtra }: PaidTerms, proof: Proof | undefined): Entry {
  const from = wasInFlight ? ACCOUNTS.inFlight : ACCOUNTS.payer;
  const note = isExtra ? 'paid_after_end' : null;
  return entry('paid', item, [{ account: from, units: -item.amount }, ...gains(item, false)], { ...proof, note });
}

/** A reorg removed a final payment. The money is in flight again, or back with its payer. */
export function revertedEntry(
  item: BookedItem,
  { isInFlight, isUnexpected }: { isInFlight: boolean; isUnexpected: boolean },
): Entry {
  const to = isInFlight ? ACCOUNTS.inFlight : ACCOUNTS.payer;
  const losses = gains(item, isUnexpected).map(({ account, units }) => ({ account, units: -units }));
  return entry('reverted', item, [...losses, { account: to, units: item.amount }]);
}

/** The final position of a paid item, independent of its earlier entries. */
export function paidPosition(item: BookedItem, isUnexpected: boolean): Line[] {
  return withoutZeros([{ account: ACCOUNTS.payer, units: -item.amount }, ...gains(item, isUnexpected)]);
}

/** Undefined if the position is right. */
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

/** The only code that splits a payment into fee and net amount. `isUnexpected`: late money, as older versions booked it. */
function gains(item: BookedItem, isUnexpected: boolean): Line[] {
  const held = isUnexpected ? ACCOUNTS.unexpected : ACCOUNTS.payable(item.merchantId);
  return [
    { account: ACCOUNTS.fees, units: item.fee },
    { account: item.isHeld ? held : ACCOUNTS.settled(item.merchantId), units: item.amount - item.fee },
  ];
}

/** A payout leaves the payable account when it is sent, and counts as settled when its transaction is final. */
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

/** The sources that cover a refund, in the order they are used. */
export interface Cover {
  readonly payable: bigint;
  readonly merchantFloat: bigint;
  readonly operatorFloat: bigint;
}

type Refund = EntrySubject & { readonly merchantId: string };

export function refundCoveredEntry(about: Refund, cover: Cover): Entry {
  return entry('refund_covered', about, coverLines(about, cover));
}

/** Returns the cover of a refund to its sources, because the refund will not be made. */
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

/** The rest of a held amount becomes a float of its merchant if it can no longer be paid out. */
export function heldToFloatEntry(about: Refund, units: bigint): Entry {
  const { payable, float } = ACCOUNTS;
  return transfer('held_to_float', about, units, payable(about.merchantId), float(about.merchantId));
}

export function refundEntry(step: 'sent' | 'done' | 'failed', about: Refund, units: bigint, proof?: Proof): Entry {
  const { refunds: source, payer: target } = ACCOUNTS;
  return outgoingEntry(`refund_${step}`, step, about, units, { source, target, proof });
}

/** A refund that the merchant's own account has paid. A deep reorg reverses it with negative units. */
export function signedRefundEntry(about: Refund, units: bigint, proof?: Proof): Entry {
  return transfer('refund_done', about, units, ACCOUNTS.settled(about.merchantId), ACCOUNTS.payer, proof);
}

/** Returns the fee of a refund that the merchant's account paid: from the operator's float to the merchant's float. */
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

/** The cover for the return of a late payment: its own lot if that is still held, and floats for its fee and the rest. */
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

/** Gas money of a relayer. The asset is the coin of the network. */
export interface RelayerSubject {
  readonly network: string;
  readonly asset: string;
  readonly signer: string;
}

/** Coin that reached a relayer. The reference names the block at which the coin was found. */
export function relayerFundedEntry({ network, asset, signer }: RelayerSubject, units: bigint, block: number): Entry {
  const about = { network, asset, subject: signer, reference: `${network}:${signer}:${block}`, merchantId: null };
  return transfer('relayer_funded', about, units, ACCOUNTS.outside, ACCOUNTS.relayer(signer), { block });
}

/** Coin sent to one of our accounts. It counts as gas money until an operator assigns it. */
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
  /** The account that has the money until the transfer is final. */
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
