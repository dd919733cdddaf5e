import type { Language, MailContent, MailKind } from '../../domain/mail.ts';
import { one, type Reader, type Tx } from '../plumbing/database.ts';
import type { SingleStatement } from '../plumbing/single-statement.ts';

export interface NewMail {
  readonly id: string;
  readonly kind: MailKind;
  readonly recipient: string;
  readonly language: Language;
  readonly subject: string;
  readonly key: string;
  readonly content: MailContent;
  readonly wrappedLink: string | null;
  /** The merchant of the payment, if the mail is a receipt. */
  readonly merchantId?: string | undefined;
  readonly createdAt: Date;
  readonly until: Date;
}

/** Stores a mail. Returns false if a mail with this key is stored already: the key allows one mail for each cause. */
export async function insertMail(tx: Tx, mail: NewMail): Promise<boolean> {
  const { count } = await tx`
    insert into mails (id, kind, recipient, language, subject, key, content, wrapped_link, merchant_id,
      created_at, until, due_at)
    values (${mail.id}, ${mail.kind}, ${mail.recipient}, ${mail.language}, ${mail.subject}, ${mail.key},
      ${tx.json(mail.content as never)}, ${mail.wrappedLink}, ${mail.merchantId ?? null},
      ${mail.createdAt}, ${mail.until}, ${mail.createdAt})
    on conflict (key) do nothing`;
  return count === 1;
}

/** A mail that this node has claimed: only this node may try to send it until the claim ends. */
export interface ClaimedMail
  extends Pick<NewMail, 'id' | 'recipient' | 'language' | 'content' | 'wrappedLink' | 'until'> {
  /** The fencing number of the claim, which grows with each new claim of the mail. */
  readonly claim: number;
  /** The number of failed attempts to send the mail before this one. */
  readonly tries: number;
}

/** Claims the mails that have been due longest. The claim ends at `until`: if this node dies, they are due again then. */
export function claimMails({
  limit,
  now,
  until,
}: {
  limit: number;
  now: Date;
  until: Date;
}): SingleStatement<ClaimedMail[]> {
  return {
    draft: (sql) => sql`
      update mails set due_at = ${until}, is_claimed = true, claim = claim + 1
      where id in (
        select id from mails where status = 'pending' and due_at <= ${now} order by due_at limit ${limit}
        for update skip locked)
      returning id, recipient, language, content, wrapped_link as "wrappedLink", until, claim, tries`,
    read: (rows) => rows as unknown as ClaimedMail[],
    appendsEvents: false,
  };
}

/** The result of an attempt to send a mail. Once a mail is sent or has failed for good, its content and its link are deleted. */
export interface MailResult extends Pick<ClaimedMail, 'id' | 'claim'> {
  readonly status: 'pending' | 'sent' | 'failed';
  /** The time of the next attempt. Null if the mail is no longer pending. */
  readonly dueAt: Date | null;
  readonly isRefused: boolean;
  readonly problem: string | null;
}

/** Stores the result of an attempt, if the node's claim is still in force. */
export function storeMailResult(result: MailResult, now: Date): SingleStatement<void> {
  const { id, claim, status, dueAt, isRefused, problem } = result;
  const isOver = status !== 'pending';
  return {
    draft: (sql) => sql`
      update mails
      set status = ${status}, due_at = ${dueAt}, is_claimed = false, tries = tries + 1, is_refused = ${isRefused},
        problem = ${problem}, ended_at = ${isOver ? now : null}::timestamptz,
        content = case when ${isOver} then null else content end,
        wrapped_link = case when ${isOver} then null else wrapped_link end
      where id = ${id} and claim = ${claim} and is_claimed and status = 'pending'`,
    read: () => {},
    appendsEvents: false,
  };
}

/** Mails of this kind about the subject that were created after `since`, the newest first. */
export function findMailsAbout(
  db: Reader,
  { kind, subject, since }: { kind: MailKind; subject: string; since: Date },
): Promise<{ recipient: string; createdAt: Date; status: MailResult['status'] }[]> {
  return db`
    select recipient, created_at as "createdAt", status from mails
    where subject = ${subject} and kind = ${kind} and created_at > ${since} order by created_at desc`;
}

export async function countMailsTo(
  db: Reader,
  { recipient, kinds, since }: { recipient: string; kinds: readonly MailKind[]; since: Date },
): Promise<number> {
  const [row] = await db<{ mails: number }[]>`
    select count(*)::int as mails from mails
    where lower(recipient) = lower(${recipient}) and created_at > ${since} and kind = any(${kinds as string[]}::text[])`;
  return row?.mails ?? 0;
}

/** The numbers of receipts created after `since`: those to an inbox, in any spelling of its address, and those of a merchant. */
export async function countReceipts(
  db: Reader,
  { inbox, merchantId, since }: { inbox: string; merchantId: string; since: Date },
): Promise<{ readonly toInbox: number; readonly ofMerchant: number }> {
  const rows = await db<{ toInbox: number; ofMerchant: number }[]>`
    select
      (select count(*)::int from mails where kind = 'receipt' and created_at > ${since} and ${inboxColumn(db)} = ${inbox})
        as "toInbox",
      (select count(*)::int from mails
        where kind = 'receipt' and created_at > ${since} and merchant_id = ${merchantId}) as "ofMerchant"`;
  return one(rows);
}

export interface LinkMailCounts {
  /** The number of mails to people of the merchant. If the merchant is null, the number of mails to the partner's own people. */
  readonly own: number;
  readonly ofMerchants: number;
  /** The number of mails to the inbox, for people of the partner or of any of its merchants. */
  readonly toInbox: number;
}

/** The numbers of mails with a link, created after `since`, to people of a partner and of its merchants. */
export async function countLinkMails(
  db: Reader,
  { partnerId, merchantId, inbox, since }: { partnerId: string; merchantId: string | null; inbox: string; since: Date },
): Promise<LinkMailCounts> {
  const rows = await db<LinkMailCounts[]>`
    select count(*) filter (where p.merchant_id is not distinct from ${merchantId})::int as own,
      count(*) filter (where p.merchant_id is not null)::int as "ofMerchants",
      count(*) filter (where ${inboxColumn(db)} = ${inbox})::int as "toInbox"
    from people p join mails m on m.subject = p.id
    where p.partner_id = ${partnerId} and (p.removed_at is null or p.removed_at > ${since})
      and m.kind in ('invitation', 'sign_in_link') and m.created_at > ${since}`;
  return one(rows);
}

/** The SQL form of `inboxOf`. The index `mails_by_inbox` has the same expression. */
function inboxColumn(db: Reader) {
  return db`(
    replace(split_part(split_part(lower(recipient), '@', 1), '+', 1), '.', '') || '@' || split_part(lower(recipient), '@', 2)
  )`;
}

/**
 * Ends the pending mails that contain an older link of the person. A mail that a node is sending just now is marked as sent, because its
 * link has ended. It is not deleted, because then it would not count for the limits of mails.
 */
export async function endPendingLinks(tx: Tx, personId: string, now: Date): Promise<void> {
  await tx`delete from mails where subject = ${personId} and wrapped_link is not null and not is_claimed`;
  await tx`
    update mails set status = 'sent', due_at = null, is_claimed = false, content = null, wrapped_link = null, ended_at = ${now}
    where subject = ${personId} and wrapped_link is not null`;
}

/** The wrapped link of a mail that is still pending. */
export type WaitingLink = Pick<NewMail, 'id' | 'recipient'> & { readonly wrappedLink: string };

export function lockWaitingLinks(
  tx: Tx,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<WaitingLink[]> {
  return tx<WaitingLink[]>`
    select id, recipient, wrapped_link as "wrappedLink" from mails
    where status = 'pending' and wrapped_link is not null and id > ${after} order by id limit ${limit} for update`;
}

export async function updateWaitingLink(tx: Tx, { id, wrappedLink }: Omit<WaitingLink, 'recipient'>): Promise<void> {
  await tx`update mails set wrapped_link = ${wrappedLink} where id = ${id}`;
}

export async function deleteMail(tx: Tx, id: string): Promise<void> {
  await tx`delete from mails where id = ${id}`;
}

/**
 * Mails that failed for good after `since`, by kind. Receipts to refused addresses are left out, because only the payer can correct the
 * address.
 */
export function countGivenUp(db: Reader, since: Date): Promise<{ kind: MailKind; mails: number; problem: string }[]> {
  return db`
    select kind, count(*)::int as mails, max(problem) as problem from mails
    where status = 'failed' and ended_at > ${since} and not (kind = 'receipt' and is_refused) group by kind`;
}

/** The numbers of pending mails, and of mails that failed after `since`, for metrics. Receipts to refused addresses count, too. */
export async function countOpenMails(db: Reader, since: Date): Promise<{ waiting: number; failed: number }> {
  return one(
    await db<{ waiting: number; failed: number }[]>`
      select (select count(*)::int from mails where status = 'pending') as waiting,
        (select count(*)::int from mails where status <> 'pending' and status = 'failed' and ended_at > ${since}) as failed`,
  );
}

/** The mails that were created by `before` and are still pending. Undefined if there are none. */
export async function findStuckMails(
  db: Reader,
  before: Date,
): Promise<{ readonly count: number; readonly since: Date; readonly problem: string | null } | undefined> {
  const [row] = await db<{ count: number; since: Date | null; problem: string | null }[]>`
    select count(*)::int as count, min(created_at) as since, max(problem) as problem from mails
    where status = 'pending' and created_at <= ${before}`;
  return row === undefined || row.since === null ? undefined : { ...row, since: row.since };
}

/** Marks mails as failed that no node has sent in time. Returns their number. */
export async function endLateMails(tx: Tx, { now, limit }: { now: Date; limit: number }): Promise<number> {
  const { count } = await tx`
    update mails
    set status = 'failed', due_at = null, is_claimed = false, content = null, wrapped_link = null, ended_at = ${now},
      problem = coalesce(problem, 'No node sends mail.')
    where id in (
      select id from mails where status = 'pending' and until < ${now} and due_at < ${now}
      limit ${limit} for update skip locked)`;
  return count;
}

/** Deletes at most `limit` mails that were sent or failed before `before`. Returns their number. */
export async function pruneMails(tx: Tx, { before, limit }: { before: Date; limit: number }): Promise<number> {
  const { count } = await tx`
    delete from mails where id in (
      select id from mails where status <> 'pending' and ended_at < ${before}
      order by ended_at limit ${limit} for update skip locked)`;
  return count;
}

/** Deletes all receipts to an address, whether sent or not. Returns their number. */
export async function deleteReceiptsTo(tx: Tx, recipient: string): Promise<number> {
  const { count } = await tx`delete from mails where lower(recipient) = lower(${recipient}) and kind = 'receipt'`;
  return count;
}

/** Deletes all receipts of these payments, whether sent or not. Returns their number. */
export async function deleteReceiptsOf(tx: Tx, paymentIds: readonly string[]): Promise<number> {
  const { count } =
    await tx`delete from mails where subject = any(${paymentIds as string[]}::text[]) and kind = 'receipt'`;
  return count;
}
