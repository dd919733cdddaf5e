import { newId } from '../../domain/ids.ts';
import { type Language, MAIL_TRIED_FOR_MS, type MailContent } from '../../domain/mail.ts';
import type { Secrets } from '../../runtime/secrets.ts';
import type { World } from '../../runtime/world.ts';
import { insertMail } from '../../store/mail/mails.ts';
import type { Tx } from '../../store/plumbing/database.ts';

export interface QueuedMail {
  readonly recipient: string;
  readonly language: Language;
  /** The person, the payment, or the name of the alert. */
  readonly subject: string;
  /** Identifies the reason for the mail, so that each reason makes only one mail. */
  readonly key: string;
  readonly content: MailContent;
  /** The merchant of a receipt. Undefined for all other mails. */
  readonly merchantId?: string;
  readonly now: Date;
}

/** Stores a mail. A node with the role `jobs` sends it after the commit. Returns true if no mail with this key was stored before. */
export function queueMail(tx: Tx, deps: { readonly world: World }, mail: QueuedMail): Promise<boolean> {
  return insertMail(tx, { ...rowOf(deps, mail), wrappedLink: null });
}

/**
 * Stores a mail with a one-time link, like `queueMail`. The link is a secret: it is stored encrypted, and erased when the mail was
 * sent or given up.
 */
export function queueLink(
  tx: Tx,
  deps: { readonly world: World; readonly secrets: Secrets },
  { link, ...mail }: QueuedMail & { readonly link: string },
): Promise<boolean> {
  const row = rowOf(deps, mail);
  return insertMail(tx, { ...row, wrappedLink: deps.secrets.wrap(purposeOf(row), Buffer.from(link)) });
}

/**
 * The purpose of a link's encryption. It binds the link to one mail and one recipient: the link cannot be decrypted after somebody
 * changes the recipient in the row.
 */
export function purposeOf({ id, recipient }: { readonly id: string; readonly recipient: string }): string {
  return `mail link ${id} ${recipient}`;
}

function rowOf({ world }: { readonly world: World }, { now, ...mail }: QueuedMail) {
  return {
    ...mail,
    id: newId('mail_', now.getTime(), world.random.bytes(10)),
    kind: mail.content.kind,
    createdAt: now,
    until: new Date(now.getTime() + MAIL_TRIED_FOR_MS),
  };
}
