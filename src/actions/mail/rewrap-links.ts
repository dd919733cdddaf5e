import { type Secrets, WrongSecretError } from '../../runtime/secrets.ts';
import { deleteMail, lockWaitingLinks, updateWaitingLink } from '../../store/mail/mails.ts';
import { eachPage, type Pages } from '../renew-macs.ts';
import { purposeOf } from './queue-mail.ts';

/**
 * Wraps the links of waiting mails with the newest master secret, and returns their number. If the older master secret is lost,
 * mails whose links cannot be opened are deleted; an owner can create a new link.
 */
export function rewrapMailLinks(
  pages: Pages,
  { secrets }: { readonly secrets: Secrets },
  { isLost }: { readonly isLost: boolean },
): Promise<number> {
  return eachPage(pages, lockWaitingLinks, async (tx, links) => {
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
  });
}
