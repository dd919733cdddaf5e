import { hash } from 'node:crypto';
import { type ReceiptKey, type ReceiptSignature, signText, verifyText } from './receipt.ts';

/**
 * The head of the books and of the audit log: the last hash of each of their hash chains at one moment. A copy that is kept
 * elsewhere proves all earlier entries, even against an attacker who rewrites the database with all hashes. Every value is text,
 * as in a receipt.
 */
export interface Head {
  readonly form: typeof HEAD_FORM | typeof FIRST_HEAD_FORM;
  readonly at: string;
  /** The last chained entry of each network, ordered by network. */
  readonly books: readonly { readonly network: string; readonly sequence: string; readonly hash: string }[];
  readonly auditLog: AuditHead;
  /**
   * Keys of seals under replaced master secrets, encrypted with the current one. With these keys and the master secret, `till
   * rebuild` restores an empty database from the chain. Heads of the first form have no such keys.
   */
  readonly subjectKeys?: readonly { readonly id: string; readonly wrapped: string }[];
}

export interface AuditHead {
  /** The id of the last entry, 0 for an empty log. */
  readonly lastId: string;
  readonly entries: string;
  readonly hash: string;
}

export interface SignedHead {
  readonly head: Head;
  readonly signature: ReceiptSignature;
}

/** The form of a head. Heads and receipts are signed with the same key, and the form makes a signature of one invalid for the other. */
export const HEAD_FORM = 'till-head/2';
const FIRST_HEAD_FORM = 'till-head/1';

/** The signed bytes of a head: JSON without white space, with the members in this order. */
function headText({ form, at, books, auditLog, subjectKeys }: Head): string {
  return JSON.stringify({
    form,
    at,
    books: books.map(({ network, sequence, hash: value }) => ({ network, sequence, hash: value })),
    auditLog: { lastId: auditLog.lastId, entries: auditLog.entries, hash: auditLog.hash },
    ...(subjectKeys && { subjectKeys: subjectKeys.map(({ id, wrapped }) => ({ id, wrapped })) }),
  });
}

export function signHead(key: ReceiptKey, head: Head): SignedHead {
  return { head, signature: signText(key, headText(head)) };
}

/** True if the head has a valid signature by this public key, which is in base64url. */
export function isSignedBy(publicKey: string, { head, signature }: SignedHead): boolean {
  return verifyText(publicKey, headText(head), signature.value);
}

/** Reads a signed head from its JSON. Undefined if the text is not a signed head. */
export function readSignedHead(text: string): SignedHead | undefined {
  try {
    const { head, signature } = JSON.parse(text) as SignedHead;
    const links = [head.auditLog.lastId, head.auditLog.entries, ...head.books.map(({ sequence }) => sequence)];
    const hashes = [head.auditLog.hash, ...head.books.map((link) => link.hash)];
    const keys = head.subjectKeys ?? [];
    const isReadable =
      (head.form === HEAD_FORM
        ? Array.isArray(head.subjectKeys)
        : head.form === FIRST_HEAD_FORM && keys.length === 0) &&
      keys.every(({ id, wrapped }) => isText(id) && isText(wrapped)) &&
      [head.at, signature.keyId, signature.value, ...head.books.map(({ network }) => network)].every(isText) &&
      links.every((link) => isText(link) && /^\d{1,18}$/.test(link)) &&
      hashes.every((value) => isText(value) && /^[0-9a-f]{64}$/.test(value));
    return isReadable ? { head, signature } : undefined;
  } catch {
    return undefined;
  }
}

const isText = (value: unknown): value is string => typeof value === 'string';

/** An entry of the audit log. Each value is the text to which the database converts it, because these texts are hashed. */
export interface AuditRow {
  readonly id: string;
  /** The time in seconds since 1970, with all digits. */
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly subject: string;
  /** The canonical text of the `jsonb` value. `origin` has the same form. */
  readonly detail: string;
  readonly origin: string;
  readonly databaseUser: string | null;
  readonly databaseClient: string | null;
}

export const FIRST_AUDIT_HASH = hash('sha256', 'till audit log', 'hex');

/** The hash of an entry. It changes when anything in the entry, or in an entry before it, changes. */
export function auditHash(previous: string, row: AuditRow): string {
  const { id, at, actor, action, subject, detail, origin, databaseUser, databaseClient } = row;
  const content = [previous, id, at, actor, action, subject, detail, origin, databaseUser, databaseClient];
  return hash('sha256', JSON.stringify(content), 'hex');
}
