import { createHash } from 'node:crypto';

/**
 * The books. Every unit is in exactly one account; an entry moves units of one asset from account to account, so its lines
 * add up to zero. Accounts that stand for the world outside go below zero by what has come from there.
 */
export interface Entry {
  /** CAIP-2. */
  readonly network: string;
  /** CAIP-19. */
  readonly asset: string;
  readonly kind: EntryKind;
  /** Whose money: the id of a payment, payout, refund or float, or a relayer's address. */
  readonly subject: string;
  /** What it stands on: the commitment of an item, or the hash of a transaction. */
  readonly reference: string;
  readonly merchantId: string | null;
  readonly transaction: string | null;
  /** The block that proves it; null for what only moves money within the books. */
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
  | 'float_added'
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
  /** Written once by a migration: what was booked under the wrong number of a coin is booked under the right one. */
  | 'coin_renamed';

/** What lies on the operator's intermediate account, whoever it belongs to. */
export const INTERMEDIATE = 'intermediate/';

export const ACCOUNTS = {
  /** Outside: who pays. Below zero by what payers have brought in and not got back. */
  payer: 'payer',
  /** Outside: the pockets of merchants and of the operator. */
  outside: 'outside',
  /** Authorised by payers, and not final on chain. */
  inFlight: 'in_flight',
  /** Reached the operator's fee account. */
  fees: 'fees',
  /** Reached the merchant's own account. */
  settled: (merchantId: string) => `settled/${merchantId}`,
  /** Lies on the intermediate account and belongs to the merchant. */
  payable: (merchantId: string) => `${INTERMEDIATE}payable/${merchantId}`,
  /** Set aside for refunds. */
  refunds: `${INTERMEDIATE}refunds`,
  /** In payouts, refunds and returns that are on their way and not final: until then it lies there still. */
  outgoing: `${INTERMEDIATE}outgoing`,
  float: (owner: FloatOwner) => `${INTERMEDIATE}float/${owner}`,
  /** Came without being asked for. */
  stray: `${INTERMEDIATE}stray`,
  /** The coin that a relayer, or the intermediate account, has for gas. */
  relayer: (signer: string) => `relayer/${signer}`,
  /** Of that, what is on its way back to whoever sent it: until that is final it lies there still. */
  relayerOutgoing: (signer: string) => `relayer/${signer}/outgoing`,
  /** The coin a relayer has burnt. */
  gas: (signer: string) => `gas/${signer}`,
} as const;

/** A merchant's id, or the operator. */
export type FloatOwner = string;
export const OPERATOR_FLOAT: FloatOwner = 'operator';

/** Where an entry belongs. */
export type EntrySubject = Pick<Entry, 'network' | 'asset' | 'subject' | 'reference' | 'merchantId'>;

/** What proves an entry on chain. */
export interface Proof {
  readonly transaction: string;
  readonly block: number;
}

/** A payment's item as the books see it. */
export interface BookedItem extends EntrySubject {
  readonly merchantId: string;
  readonly amount: bigint;
  readonly fee: bigint;
  /** Whether its net amount goes to the intermediate account. */
  readonly isHeld: boolean;
}

export function acceptedEntry(item: BookedItem): Entry {
  return transfer('accepted', item, item.amount, ACCOUNTS.payer, ACCOUNTS.inFlight);
}

/** An authorization ended unused: what was in flight never left the payer. */
export function unpaidEntry(item: BookedItem, note: string | null): Entry {
  return transfer('unpaid', item, item.amount, ACCOUNTS.inFlight, ACCOUNTS.payer, { note });
}

export interface PaidTerms {
  /** Whether the item was in flight; one the payer carried out unseen comes from the payer at once. */
  readonly wasInFlight: boolean;
  /** Paid although the payment was over: what is held of it belongs to nobody yet. */
  readonly isExtra: boolean;
}

export function paidEntry(item: BookedItem, { wasInFlight, isExtra }: PaidTerms, proof: Proof | undefined): Entry {
  const from = wasInFlight ? ACCOUNTS.inFlight : ACCOUNTS.payer;
  const note = isExtra ? 'paid_after_end' : null;
  return entry('paid', item, [{ account: from, units: -item.amount }, ...gains(item, isExtra)], { ...proof, note });
}

/** A reorganisation took a final payment away. The authorization is in flight again, or with its payer. */
export function revertedEntry(
  item: BookedItem,
  { isInFlight, isExtra }: { isInFlight: boolean; isExtra: boolean },
): Entry {
  const to = isInFlight ? ACCOUNTS.inFlight : ACCOUNTS.payer;
  const losses = gains(item, isExtra).map(({ account, units }) => ({ account, units: -units }));
  return entry('reverted', item, [...losses, { account: to, units: item.amount }]);
}

/** Where everything of a paid item must be, whatever happened on the way. */
export function paidPosition(item: BookedItem, isExtra: boolean): Line[] {
  return withoutZeros([{ account: ACCOUNTS.payer, units: -item.amount }, ...gains(item, isExtra)]);
}

/** Moves what the entries about something say to what they should say; undefined when they do. */
export function correctingEntry(
  kind: Extract<EntryKind, `${string}rebuilt`>,
  about: EntrySubject,
  { is, shouldBe, proof }: { is: readonly Line[]; shouldBe: readonly Line[]; proof: Proof },
): Entry | undefined {
  const lines = difference(shouldBe, is);
  return lines.length === 0 ? undefined : entry(kind, about, lines, proof);
}

/** What has to be added to the second to get the first. */
export function difference(shouldBe: readonly Line[], is: readonly Line[]): Line[] {
  return addUp([...shouldBe, ...is.map(({ account, units }) => ({ account, units: -units }))]);
}

/** What the payment's fee and net amount came to: the one place where a payment is split. */
function gains(item: BookedItem, isExtra: boolean): Line[] {
  const held = isExtra ? ACCOUNTS.stray : ACCOUNTS.payable(item.merchantId);
  return [
    { account: ACCOUNTS.fees, units: item.fee },
    { account: item.isHeld ? held : ACCOUNTS.settled(item.merchantId), units: item.amount - item.fee },
  ];
}

/** Payouts: what is payable leaves with a transaction, and has reached the merchant when that is final. */
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

/** What a refund is covered by, in the order it is taken. */
export interface Cover {
  readonly payable: bigint;
  readonly merchantFloat: bigint;
  readonly operatorFloat: bigint;
}

type Refund = EntrySubject & { readonly merchantId: string };

export function refundCoveredEntry(about: Refund, cover: Cover): Entry {
  return entry('refund_covered', about, coverLines(about, cover));
}

/** Gives back what a refund that will not be made was covered by. */
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

export function strayReceivedEntry(about: EntrySubject, units: bigint, proof: Partial<Proof>): Entry {
  return transfer('stray_received', about, units, ACCOUNTS.outside, ACCOUNTS.stray, proof);
}

/** What floats add to a late payment that is given back: its fee, and its net amount where that went to the merchant. */
export function strayCoveredEntry(about: Refund, cover: Omit<Cover, 'payable'>): Entry {
  const lines = coverLines(about, { ...cover, payable: 0n }).map((line) =>
    line.account === ACCOUNTS.refunds ? { ...line, account: ACCOUNTS.stray } : line,
  );
  return entry('stray_covered', about, lines);
}

export function strayReturnEntry(
  step: 'sent' | 'done' | 'failed',
  about: EntrySubject,
  { units, proof }: { units: bigint; proof?: Proof | undefined },
): Entry {
  const ends = { source: ACCOUNTS.stray, target: ACCOUNTS.outside, proof };
  return outgoingEntry(RETURNS[step][1], step, about, units, ends);
}

/** Coin for gas: what a relayer has, and what its transactions burnt. The asset is the network's own coin. */
export interface RelayerSubject {
  readonly network: string;
  readonly asset: string;
  readonly signer: string;
}

/** Coin that reached a relayer; the reference names the block at which it was found. */
export function relayerFundedEntry({ network, asset, signer }: RelayerSubject, units: bigint, block: number): Entry {
  const about = { network, asset, subject: signer, reference: `${network}:${signer}:${block}`, merchantId: null };
  return transfer('relayer_funded', about, units, ACCOUNTS.outside, ACCOUNTS.relayer(signer), { block });
}

/** Coin that somebody sent to an account of ours: it is there for gas until somebody says what else it is for. */
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
  /** Where it is until it is final. */
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

function entry(kind: EntryKind, about: EntrySubject, lines: readonly Line[], circumstances: Circumstances = {}): Entry {
  const { network, asset, subject, reference, merchantId } = about;
  const { transaction = null, block = null, note = null } = circumstances;
  const kept = withoutZeros(lines);
  if (kept.reduce((sum, { units }) => sum + units, 0n) !== 0n) throw new RangeError('An entry does not balance.');
  return { network, asset, kind, subject, reference, merchantId, transaction, block, note, lines: kept };
}

/** What all these entries come to. */
export function positionOf(entries: readonly Entry[]): Line[] {
  return addUp(entries.flatMap(({ lines }) => lines));
}

/** One line for each account that is left with something. */
export function addUp(lines: readonly Line[]): Line[] {
  const sums = new Map<string, bigint>();
  for (const { account, units } of lines) sums.set(account, (sums.get(account) ?? 0n) + units);
  return withoutZeros([...sums].map(([account, units]) => ({ account, units })));
}

function withoutZeros(lines: readonly Line[]): Line[] {
  return lines.filter(({ units }) => units !== 0n);
}

/** An entry with its place in the order of its network. */
export interface PlacedEntry extends Entry {
  readonly sequence: number;
  readonly at: Date;
}

/** What the first entry of a network builds on. */
export function firstHash(network: string): string {
  return sha256(`till books of ${network}`);
}

/** Changes when anything in the entry, or anything before it, does. */
export function entryHash(previous: string, { sequence, at, lines, ...entry }: PlacedEntry): string {
  const content = [
    previous,
    sequence,
    at.toISOString(),
    entry.network,
    entry.asset,
    entry.kind,
    entry.subject,
    entry.reference,
    entry.merchantId,
    entry.transaction,
    entry.block,
    entry.note,
    lines.map(({ account, units }) => [account, units.toString()]),
  ];
  return sha256(JSON.stringify(content));
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
