import type { ReceiptKey } from '../../domain/receipt.ts';
import {
  type AuditHead,
  auditHash,
  FIRST_AUDIT_HASH,
  HEAD_FORM,
  isSignedBy,
  type SignedHead,
  signHead,
} from '../../domain/signed-head.ts';
import { findHead, listBookNetworks, listSealed } from '../../store/money/books.ts';
import { findLastAuditId, listAuditRows } from '../../store/plumbing/audit-log.ts';
import type { Reader } from '../../store/plumbing/database.ts';
import { listReceiptKeys } from '../../store/plumbing/receipt-keys.ts';
import { listSubjectKeys } from '../../store/plumbing/subject-keys.ts';

const PAGE = 1_000;
/** The smallest `bigint`: an entry inserted by an attacker may have a negative id. */
const BEFORE_ALL = '-9223372036854775808';
/**
 * A head omits entries of the audit log that are younger than this. An entry gets its id before its database transaction commits, so
 * an entry with a lower id may still appear while that transaction is open.
 */
const SETTLED_AFTER_MS = 2 * 60_000;

/** Signs the heads of the books of each network and of the audit log, together with the stored keys of older seals (`subject-keys.ts`). */
export async function signHeads(
  db: Reader,
  { key, nowMs }: { readonly key: ReceiptKey; readonly nowMs: number },
): Promise<SignedHead> {
  const books = [];
  for (const network of await listBookNetworks(db)) {
    const head = await findHead(db, network);
    if (head !== undefined) books.push({ network, sequence: String(head.sequence), hash: head.hash });
  }
  const lastId = await findLastAuditId(db, new Date(nowMs - SETTLED_AFTER_MS));
  const auditLog = await hashAuditLog(db, lastId);
  const subjectKeys = await listSubjectKeys(db);
  return signHead(key, { form: HEAD_FORM, at: new Date(nowMs).toISOString(), books, auditLog, subjectKeys });
}

/**
 * Compares the books and the audit log with a head that was exported earlier. Returns the differences. `verifyBooks` proves that
 * the entries before a head lead to its hash.
 */
export async function compareWithHead(db: Reader, signed: SignedHead): Promise<string[]> {
  const { head, signature } = signed;
  const problems: string[] = [];
  const key = (await listReceiptKeys(db)).find(({ id }) => id === signature.keyId);
  if (key === undefined)
    problems.push(`The head was signed with the key ${signature.keyId}, which is not stored here.`);
  else if (!isSignedBy(key.publicKey, signed))
    problems.push('The signature of the head is wrong: the file was changed.');
  for (const { network, sequence, hash } of head.books) {
    const [entry] = await listSealed(db, network, Number(sequence) - 1, 1);
    if (entry?.sequence !== Number(sequence)) problems.push(`${network}: entry ${sequence} of the head is missing.`);
    else if (entry.hash !== hash) {
      problems.push(`${network}: entry ${sequence} has another hash than in the head: history was rewritten.`);
    }
  }
  const { lastId, entries, hash } = head.auditLog;
  const now = await hashAuditLog(db, lastId);
  if (now.entries !== entries) {
    problems.push(`The audit log has ${now.entries} entries up to ${lastId}, and the head has ${entries}.`);
  } else if (now.hash !== hash) {
    problems.push(`An entry of the audit log up to ${lastId} was changed since the head was made.`);
  }
  return problems;
}

async function hashAuditLog(db: Reader, lastId: string): Promise<AuditHead> {
  let hash = FIRST_AUDIT_HASH;
  let entries = 0;
  let after = BEFORE_ALL;
  for (;;) {
    const page = await listAuditRows(db, { after, upTo: lastId, limit: PAGE });
    for (const row of page) hash = auditHash(hash, row);
    entries += page.length;
    after = page.at(-1)?.id ?? after;
    if (page.length < PAGE) return { lastId, entries: String(entries), hash };
  }
}
