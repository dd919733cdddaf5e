import type { ItemKey } from '../../domain/item.ts';
import type { Log } from '../../runtime/world.ts';
import type { ListIdentity, Screening } from '../../screening/screening.ts';
import { listOpenPayers, type OpenPayer } from '../../store/payments/open-payers.ts';
import type { CommandDeps } from '../command.ts';
import { declineItem } from './decline-item.ts';
import { alertOfScreenedPayer } from './screen-paid.ts';

export interface RescreenDeps extends CommandDeps {
  readonly log: Log;
  readonly screening: Screening;
}

const PAGE = 500;

/**
 * Creates the job that screens the payers of open payments against a new list, once for each list, page by page. Every node does this,
 * because another node may have accepted a payment by its old list after this node had finished. After a crash the next start repeats it,
 * because a new process remembers no list.
 */
export function createRescreener(deps: RescreenDeps): () => Promise<boolean> {
  let progress: { readonly hash: string; readonly after: ItemKey | undefined } | undefined;
  return async () => {
    const { list } = deps.screening.decide([]);
    if (list === null) return false;
    const after = progress?.hash === list.hash ? progress.after : '';
    if (after === undefined) return false;
    const next = await rescreenPage(deps, after);
    progress = { hash: list.hash, after: next };
    return next !== undefined;
  };
}

/** Screens one page of payers. Returns the last key of the page, or undefined after the last page. */
async function rescreenPage(deps: RescreenDeps, after: ItemKey | ''): Promise<ItemKey | undefined> {
  const payers = await listOpenPayers(deps.db.sql, { after, limit: PAGE });
  const { hits, list } = deps.screening.decide(payers.map(({ account }) => account));
  for (const payer of payers) if (list !== null && hits.includes(payer.account)) await refuse(deps, payer, list);
  return payers.length < PAGE ? undefined : payers.at(-1)?.key;
}

/** Declines the payment of a listed payer, if its item was never sent. The chain decides about a sent item, and an alert is raised. */
async function refuse(deps: RescreenDeps, payer: OpenPayer, list: ListIdentity): Promise<void> {
  const { key, paymentId } = payer;
  const isDeclined = await declineItem(deps, { key, actor: 'screening', evidence: { screening: list } });
  if (isDeclined) deps.log.warn({ paymentId, list }, 'payment declined by a new screening list');
  else await alertOfScreenedPayer(deps, { paymentId, list });
}
