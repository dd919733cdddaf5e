import { newId } from '../../domain/ids.ts';
import { inboxOf } from '../../domain/inbox.ts';
import { isMailable, type Language } from '../../domain/mail.ts';
import type { Quota } from '../../domain/quota.ts';
import type { Belonging, RefundLimit, Role } from '../../domain/role.ts';
import { hashToken, LINK_MS, secretToken, TOKEN_BYTES } from '../../domain/session.ts';
import { ApiError } from '../../errors.ts';
import type { Secrets } from '../../runtime/secrets.ts';
import { countLinkMails, endPendingLinks } from '../../store/mail/mails.ts';
import { findPartner } from '../../store/parties/partners.ts';
import { deletePasskey, lockPasskeys } from '../../store/people/passkeys.ts';
import { countPeople, insertPerson, lockPerson, type Person } from '../../store/people/people.ts';
import { putLink } from '../../store/people/sign-in-links.ts';
import { appendAudit } from '../../store/plumbing/audit-log.ts';
import type { Tx } from '../../store/plumbing/database.ts';
import { lockName } from '../../store/plumbing/locks.ts';
import { type CommandDeps, command } from '../command.ts';
import { queueLink } from '../mail/queue-mail.ts';
import { lockLivingMerchant } from '../parties/change-merchant.ts';
import { partnerNotFound } from '../parties/change-partner.ts';
import type { RowKeyDeps } from '../row-keys.ts';
import { personNotFound } from './change-person.ts';
import { withLinkMac, withPersonMac } from './person-rows.ts';
import { onSteadyTime } from './steady-time.ts';

export interface InviteInput {
  readonly actor: string;
  readonly belonging: Belonging;
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  readonly refundLimits: readonly RefundLimit[] | null;
  readonly mail?: LinkMail | undefined;
  /** The maximum number of people of the partner or merchant. Undefined for operators, who have no limit. */
  readonly maxPeople?: number;
}

/** The data for a mail with the link. Without this data no mail is sent. */
export interface LinkMail {
  readonly publicUrl: string;
  readonly language: Language;
  readonly secrets: Secrets;
}

export interface Linked {
  readonly person: Person;
  readonly link: NewLink;
  readonly isMailed: boolean;
}

/** A new link for a person who was invited before. `link` is null if only the person may see it: it is then mailed. */
export interface Relinked extends Omit<Linked, 'link'> {
  readonly link: NewLink | null;
  readonly expiresAt: Date;
}

/** A new link. Its token is known only now, because the database stores only a hash. */
export interface NewLink {
  readonly token: string;
  readonly expiresAt: Date;
}

export function invitePerson(
  deps: CommandDeps & RowKeyDeps,
  { mail, maxPeople, ...input }: InviteInput,
): Promise<Linked> {
  return command(onSteadyTime(deps), async (tx, now) => {
    const { actor, belonging, ...fields } = input;
    await checkPlace(tx, belonging);
    if (maxPeople !== undefined) await refuseCrowd(tx, belonging, maxPeople);
    const person = {
      ...belonging,
      ...fields,
      id: newId('psn_', now.getTime(), deps.world.random.bytes(10)),
      version: 1,
      createdAt: now,
      joinedAt: null,
      removedAt: null,
    };
    if (!(await insertPerson(tx, withPersonMac(deps, person)))) {
      throw new ApiError('invalid_state', 'Somebody with this e-mail address is there already.', { status: 409 });
    }
    const link = await makeLink(tx, deps, { personId: person.id, now });
    const detail = { before: null, after: { ...belonging, ...fields } };
    await appendAudit(tx, { at: now, actor, action: 'person.invited', subject: person.id, detail, place: belonging });
    const isMailed =
      mail !== undefined && (await mailLink(tx, deps, { ...mail, kind: 'invitation', person, link, now }));
    return { person, link, isMailed };
  });
}

export interface RelinkInput {
  readonly actor: string;
  readonly personId: string;
  readonly isSeen: (person: Person) => boolean;
  readonly mail?: LinkMail | undefined;
  /**
   * True if the person has lost every passkey: all are deleted, and the next one counts as the first. Without a mail, the link is
   * then shown. For operators.
   */
  readonly forgetsPasskeys?: boolean;
}

/**
 * Creates a new link and ends unused ones. The link of a person with a passkey is mailed to that person alone, because anybody else
 * with the link would have the person's rights.
 */
export function relinkPerson(deps: CommandDeps & RowKeyDeps, input: RelinkInput): Promise<Relinked> {
  const { actor, personId, mail, forgetsPasskeys = false } = input;
  return command(onSteadyTime(deps), async (tx, now) => {
    const person = await lockPerson(tx, personId);
    if (person === undefined || !input.isSeen(person)) throw personNotFound();
    const passkeys = await lockPasskeys(tx, personId);
    if (forgetsPasskeys) for (const { id } of passkeys) await deletePasskey(tx, id);
    const link = await makeLink(tx, deps, { personId, now });
    const { expiresAt } = link;
    const detail = { expiresAt, ...(forgetsPasskeys && { passkeysRemoved: passkeys.length }) };
    await appendAudit(tx, { at: now, actor, action: 'person.linked', subject: personId, detail, place: person });
    const isMailed =
      mail !== undefined && (await mailLink(tx, deps, { ...mail, kind: 'sign_in_link', person, link, now }));
    const isShown = passkeys.length === 0 || (forgetsPasskeys && !isMailed);
    if (!isShown && !isMailed) throw cannotMail();
    return { person, link: isShown ? link : null, expiresAt, isMailed };
  });
}

function cannotMail(): ApiError {
  const message =
    'This person has a passkey, so a link is mailed to them alone, and no mail can be sent to them, or today’s mails are used up. Remove the person and invite them again; or the operator runs people link with --forget-passkeys.';
  return new ApiError('invalid_state', message, { status: 409 });
}

interface MailedLink extends LinkMail {
  readonly kind: 'invitation' | 'sign_in_link';
  readonly person: Person;
  readonly link: NewLink;
  readonly now: Date;
}

/** Queues the mail. Returns false if no mail can be sent to the address, or the mails of the day are used up. */
async function mailLink(tx: Tx, { world }: CommandDeps, mail: MailedLink): Promise<boolean> {
  const { kind, person, link, publicUrl, language, secrets, now } = mail;
  if (!isMailable(person.email) || (await isDayUsedUp(tx, person, now))) return false;
  return queueLink(
    tx,
    { world, secrets },
    {
      recipient: person.email,
      language,
      subject: person.id,
      key: `link ${hashToken(link.token)}`,
      content: { kind, name: person.name, site: publicUrl, until: link.expiresAt.toISOString() },
      link: linkUrl(publicUrl, link),
      now,
    },
  );
}

const DAY_MS = 86_400_000;
/**
 * The most mails with a sign-in link that go out within a day. Without a limit an owner could invite and remove people again and
 * again, and so send mails without end to addresses of strangers. Neither a partner nor a single merchant can use up the mails of
 * another.
 */
const LINK_MAILS: Quota = { ofPartner: 200, ofMerchant: 100, ofMerchants: 400 };
/** The most mails with a sign-in link that one partner sends to one inbox within a day. */
const LINK_MAILS_PER_INBOX = 10;

async function isDayUsedUp(tx: Tx, { partnerId, merchantId, email }: Person, now: Date): Promise<boolean> {
  // Operators have no limit, because only operators invite operators.
  if (partnerId === null) return false;
  // The lock prevents that concurrent requests exceed a limit together.
  await lockName(tx, `mails with links of ${partnerId}`);
  const since = new Date(now.getTime() - DAY_MS);
  const used = await countLinkMails(tx, { partnerId, merchantId, inbox: inboxOf(email), since });
  if (used.toInbox >= LINK_MAILS_PER_INBOX) return true;
  if (merchantId === null) return used.own >= LINK_MAILS.ofPartner;
  return used.own >= LINK_MAILS.ofMerchant || used.ofMerchants >= LINK_MAILS.ofMerchants;
}

/** Creates a link for a person that the caller has found. */
export async function makeLink(
  tx: Tx,
  deps: CommandDeps & RowKeyDeps,
  { personId, now }: { personId: string; now: Date },
): Promise<NewLink> {
  const { random } = deps.world;
  const token = secretToken(random.bytes(TOKEN_BYTES));
  const expiresAt = new Date(now.getTime() + LINK_MS);
  await endPendingLinks(tx, personId, now);
  const id = newId('lnk_', now.getTime(), random.bytes(10));
  await putLink(tx, withLinkMac(deps, { id, personId, hash: hashToken(token), createdAt: now, expiresAt }));
  return { token, expiresAt };
}

/** The page that a link opens. The token follows the `#`, so no server and no proxy sees it. */
export function linkUrl(publicUrl: string, { token }: NewLink): string {
  return `${publicUrl}/dashboard/join#${token}`;
}

/** Throws if there is no room for another person. The lock prevents that concurrent requests exceed the limit together. */
async function refuseCrowd(tx: Tx, belonging: Belonging, maxPeople: number): Promise<void> {
  await lockName(tx, `people ${belonging.partnerId}/${belonging.merchantId}`);
  if ((await countPeople(tx, belonging)) < maxPeople) return;
  const message = `There are ${maxPeople} people, which is the most. Remove somebody first.`;
  throw new ApiError('invalid_state', message, { status: 409 });
}

async function checkPlace(tx: Tx, belonging: Belonging): Promise<void> {
  if (belonging.belongsTo === 'operator') return;
  const { partnerId, merchantId } = belonging;
  if ((await findPartner(tx, partnerId)) === undefined) throw partnerNotFound(partnerId);
  if (belonging.belongsTo === 'partner' || merchantId === null) return;
  // The lock prevents an invitation to a merchant that is being deleted.
  await lockLivingMerchant(tx, { partnerId, mode: belonging.mode }, merchantId);
}
