import { hash } from 'node:crypto';
import { type ReceiptKey, type ReceiptSignature, signText, verifyText } from './receipt.ts';

/**
 * The last hash of every hash chain at one moment. A copy that is kept elsewhere proves all earlier entries, even against an
 * attacker who rewrites the database with all hashes. Every value is text, as in a receipt.
 */
export interface Head {
  readonly form: typeof HEAD_FORM | typeof FIRST_HEAD_FORM;
  readonly at: string;
  /** Only sealed entries, ordered by network. */
  readonly books: readonly { readonly network: string; readonly sequence: string; readonly hash: string }[];
  readonly auditLog: AuditHead;
  /**
   * Keys of seals under replaced master secrets, wrapped with the current one. With them and the master secret, `till rebuild`
   * restores an empty database from the chain. Heads of the first form have none.
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

/** Heads and receipts are signed with the same key. The form makes a signature of one invalid for the other. */
export const HEAD_FORM = 'till-head/2';
const FIRST_HEAD_FORM = 'till-head/1';

/** The signed bytes: JSON without white space, with the members in this order. */
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

/** `publicKey` is in base64url. */
export function isSignedBy(publicKey: string, { head, signature }: SignedHead): boolean {
  return verifyText(publicKey, headText(head), signature.value);
}

/** Undefined if the text is not a signed head. */
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

/** An entry of the audit log, with the texts that the database makes of its values. They are hashed. */
export interface AuditRow {
  readonly id: string;
  /** Seconds since 1970, with all digits. */
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly subject: string;
  /** The canonical text of the `jsonb` value. The same for `origin`. */
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
