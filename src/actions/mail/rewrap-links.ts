import { type Secrets, WrongSecretError } from '../../runtime/secrets.ts';
import { deleteMail, lockWaitingLinks, updateWaitingLink } from '../../store/mail/mails.ts';
import type { Tx } from '../../store/plumbing/database.ts';
import { purposeOf } from './queue-mail.ts';

/**
 * Wraps the links of waiting mails with the newest master secret, and returns their number. If the older master secret is
 * lost, mails whose links cannot be opened are removed: an owner makes a new link.
 */
export async function rewrapMailLinks(
  tx: Tx,
  { secrets }: { readonly secrets: Secrets },
  { isLost }: { readonly isLost: boolean },
): Promise<number> {
  const links = await lockWaitingLinks(tx);
  for (const link of links) {
    const purpose = purposeOf(link);
    try {
      const wrappedLink = secrets.wrap(purpose, secrets.unwrap(purpose, link.wrappedLink));
      await updateWaitingLink(tx, { id: link.id, wrappedLink });
    } catch (error) {
      if (!isLost || !(error instanceof WrongSecretError)) throw error;
      await deleteMail(tx, link.id);
    }
  }
  return links.length;
}
