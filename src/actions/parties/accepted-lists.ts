import { type AcceptedAssets, acceptedByAll, listsText } from '../../domain/accepted-assets.ts';
import type { Mode } from '../../domain/mode.ts';
import { validationError } from '../../errors.ts';
import { groupMerchantLists, type Owner } from '../../store/parties/merchants.ts';
import { shareAccepted } from '../../store/parties/partners.ts';
import type { Tx } from '../../store/plumbing/database.ts';

/** The assets that all lists accept. Throws if there are none. The message names each list by its key in `lists`. */
export function commonAssets(lists: Readonly<Record<string, AcceptedAssets>>): AcceptedAssets {
  const common = acceptedByAll(Object.values(lists));
  if (common?.length !== 0) return common;
  throw validationError([{ field: 'acceptedAssets', message: `leaves nothing to pay with: ${listsText(lists)}` }]);
}

/**
 * Refuses a merchant's list that has nothing in common with the partner's list, and locks the partner. A change of the partner's list
 * locks the partner, too, and then reads the merchants without locking them. So of two concurrent changes the later one sees the
 * earlier one.
 */
export async function refuseOutsidePartner(tx: Tx, owner: Owner, merchant: AcceptedAssets): Promise<void> {
  commonAssets({ partner: await shareAccepted(tx, owner), merchant });
}

const NAMED = 3;

/** Refuses a partner's list that has nothing in common with the list of one of its merchants. The caller has locked the partner. */
export async function refuseEmptiedMerchants(
  tx: Tx,
  partnerId: string,
  accepted: Readonly<Partial<Record<Mode, AcceptedAssets>>>,
): Promise<void> {
  for (const [mode, list] of Object.entries(accepted) as [Mode, AcceptedAssets][]) {
    if (list === null) continue;
    const lists = await groupMerchantLists(tx, { partnerId, mode });
    const emptied = lists.filter(({ acceptedAssets }) => acceptedByAll([list, acceptedAssets])?.length === 0);
    if (emptied.length === 0) continue;
    const shown = emptied.slice(0, NAMED);
    const named = shown.map(({ firstId, acceptedAssets }) => `${firstId} (${listsText({ merchant: acceptedAssets })})`);
    const more = emptied.reduce((sum, { merchants }) => sum + merchants, -shown.length);
    const others = more > 0 ? ` and ${more} more merchants` : '';
    const message = `leaves nothing to pay with for ${named.join(', ')}${others}. Change the lists of these merchants first`;
    throw validationError([{ field: 'acceptedAssets', message }]);
  }
}
