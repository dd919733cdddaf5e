export const ID_PREFIXES = [
  'pay_',
  'pout_',
  'rfnd_',
  'stry_',
  'flot_',
  'mrch_',
  'crypto_',
  'fiat_',
  'prtn_',
  'key_',
  'app_',
  'evt_',
  'whe_',
  'psn_',
  'pky_',
  'ses_',
  'lnk_',
  'mail_',
  'plk_',
] as const;
export type IdPrefix = (typeof ID_PREFIXES)[number];

/**
 * A new id: 48 bits of time, then 80 random bits. Time comes first so that new rows go to the end of an index, and ids sort by
 * age. 80 random bits keep an id unguessable even if its time is known, because a wallet needs only the id to pay a payment.
 */
export function newId(prefix: IdPrefix, nowMs: number, random10: Uint8Array): string {
  if (!Number.isInteger(nowMs) || nowMs < 0 || nowMs >= 2 ** 48) throw new RangeError('the time of an id has 48 bits');
  if (random10.length !== 10) throw new RangeError('an id takes 10 random bytes');
  const bytes = new Uint8Array(BYTE_LENGTH);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, Math.floor(nowMs / 2 ** 32));
  view.setUint32(2, nowMs % 2 ** 32);
  bytes.set(random10, 6);
  return idFromBytes(prefix, bytes);
}

/**
 * The smallest possible id of a millisecond. Ids made earlier are smaller, and ids made later are larger, so a bound on the time
 * of creation is a bound on the id. Times before 1970 count as 1970.
 */
export function firstIdAt(prefix: IdPrefix, atMs: number): string {
  return newId(prefix, Math.max(atMs, 0), new Uint8Array(10));
}

/** The time in an id, in milliseconds. The id of a refund has the time of its payment. */
export function timeOfId(id: string): number {
  const bytes = idBytes(id);
  const view = new DataView(bytes.buffer);
  // The first four bits are a mark and no part of the time: see `MARKS`.
  return (view.getUint16(0) & 0x0fff) * 2 ** 32 + view.getUint32(2);
}

/**
 * True if the text is an id with this prefix. Each id has one spelling: Crockford's aliases and lower case are refused, as ids
 * are compared as plain text.
 */
export function isId(prefix: IdPrefix, text: string): boolean {
  return text.length === prefix.length + TEXT_LENGTH && text.startsWith(prefix) && FORM.test(text.slice(prefix.length));
}

/** The 16 bytes of an id, which contracts and their events carry. Throws if the text is not an id: callers check it with `isId` first. */
export function idBytes(id: string): Uint8Array<ArrayBuffer> {
  const prefix = ID_PREFIXES.find((candidate) => isId(candidate, id));
  if (prefix === undefined) throw new TypeError('not an id');
  const bytes = new Uint8Array(BYTE_LENGTH);
  let pending = 0;
  let pendingBits = -PADDING_BITS;
  let next = 0;
  for (const character of id.slice(prefix.length)) {
    pending = ((pending << 5) | ALPHABET.indexOf(character)) & 0xfff;
    pendingBits += 5;
    if (pendingBits < 8) continue;
    pendingBits -= 8;
    bytes[next] = pending >> pendingBits;
    next += 1;
  }
  return bytes;
}

export function idFromBytes(prefix: IdPrefix, bytes: Uint8Array): string {
  if (bytes.length !== BYTE_LENGTH) throw new RangeError('an id has 16 bytes');
  let id: string = prefix;
  let pending = 0;
  let pendingBits = PADDING_BITS;
  for (const byte of bytes) {
    pending = ((pending << 8) | byte) & 0xfff;
    pendingBits += 8;
    while (pendingBits >= 5) {
      pendingBits -= 5;
      id += ALPHABET.charAt((pending >> pendingBits) & 31);
    }
  }
  return id;
}

/**
 * The marks: the first four bits of an id. They distinguish a payment (0 until the year 2527) from a transfer out of the
 * intermediate account. The other bits of a refund's id are those of its payment; in older versions this was also true of
 * payouts. So a database that has lost its refunds makes the same ids again, and the id in an event of the chain leads to the
 * payment.
 */
const MARKS = { pout_: 1, rfnd_: 2, stry_: 3, flot_: 4 } as const;
export type OutgoingPrefix = keyof typeof MARKS;

/** The maximum number of refunds of a payment. The first has the mark 2, the others have 5 to 15. Four bits have no further marks. */
export const MAX_REFUNDS = 12;
const SECOND_REFUND_MARK = 5;

export function payoutIdOf(paymentId: string): string {
  return markedId('pout_', idBytes(paymentId));
}

/** The id of a refund. `number` counts the refunds of the payment from 1. */
export function refundIdOf(paymentId: string, number: number): string {
  if (!Number.isInteger(number) || number < 1 || number > MAX_REFUNDS) {
    throw new RangeError(`a payment has no refund ${number}`);
  }
  const mark = number === 1 ? MARKS.rfnd_ : SECOND_REFUND_MARK + number - 2;
  return withMark('rfnd_', idBytes(paymentId), mark);
}

/** The ids of all refunds that a payment can have. The id of the payment can be computed from each of them. */
export function refundIdsOf(paymentId: string): string[] {
  return Array.from({ length: MAX_REFUNDS }, (_, index) => refundIdOf(paymentId, index + 1));
}

export function refundNumberOf(id: string): number {
  const mark = markOf(idBytes(id));
  return mark === MARKS.rfnd_ ? 1 : mark - SECOND_REFUND_MARK + 2;
}

/** An id with the mark of its prefix, made from any 16 bytes, such as a hash. */
export function markedId(prefix: OutgoingPrefix, bytes: Uint8Array): string {
  return withMark(prefix, bytes, MARKS[prefix]);
}

/** The id of a payment, payout, refund or return, from the bytes that the chain records. */
export function subjectFromBytes(bytes: Uint8Array): string {
  const mark = markOf(bytes);
  const prefixes = Object.keys(MARKS) as OutgoingPrefix[];
  const prefix = mark >= SECOND_REFUND_MARK ? 'rfnd_' : (prefixes.find((each) => MARKS[each] === mark) ?? 'pay_');
  return idFromBytes(prefix, bytes);
}

/** The id of the payment, from the id of a refund or of a payout of an older version. */
export function paymentIdOf(outgoing: string): string {
  return withMark('pay_', idBytes(outgoing), 0);
}

function markOf(bytes: Uint8Array): number {
  return (bytes[0] ?? 0) >> 4;
}

function withMark(prefix: IdPrefix, bytes: Uint8Array, mark: number): string {
  const marked = Uint8Array.from(bytes);
  marked[0] = ((marked[0] ?? 0) & 0x0f) | (mark << 4);
  return idFromBytes(prefix, marked);
}

/** Crockford's base32 has no I, L, O and U, and it is in ASCII order, so ids sort as their bytes do. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const BYTE_LENGTH = 16;
const TEXT_LENGTH = 26;

/** The number of zero bits before an id: its text has 26 characters, so 130 bits. The first character is therefore at most 7. */
const PADDING_BITS = 2;
const FORM = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
