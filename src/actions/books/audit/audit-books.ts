import type { ConnectedChain } from '../../../chains/chains.ts';
import type { WaitingKey } from '../../../store/chain/deposit-places.ts';
import { findAuditedBlock, putAuditedBlock } from '../../../store/money/book-comparison.ts';
import type { Lease } from '../../../store/plumbing/leases.ts';
import type { Alarms } from '../../alarms.ts';
import { commandOfLeader, type LeaseDeps } from '../../lease.ts';
import type { RowKeyDeps } from '../../row-keys.ts';
import type { SubjectKeyDeps } from '../../subject-keys.ts';
import { reconcile } from './reconcile.ts';
import { recordCoin } from './record-coin.ts';

/** The number of blocks that are compared again, in case an endpoint omitted an event the first time. */
const OVERLAP_BLOCKS = 50;
const MAX_BLOCKS = 5_000;

export interface Audited {
  readonly connected: ConnectedChain;
  readonly lease: Lease;
  readonly alarms: Alarms;
  /** The alert for parts of the chain that cannot be compared. */
  readonly unread: Alarms;
  /** The subjects of all differences that the last run found. A difference of a balance is reported only if the last run found it, too. */
  readonly doubted: Set<string>;
  /** The page of deposit addresses that the next run compares. */
  addresses: { readonly after?: WaitingKey | undefined; readonly pageSize?: number };
}

/**
 * Compares the blocks since the last run with the books. Returns true if more blocks are left. A difference stops the cursor: the
 * same blocks are compared at every run, and the alert stays until they agree. Each run also compares one page of deposit addresses.
 * The next run continues with the next page, unless this one has a difference.
 */
export async function auditBooks(deps: LeaseDeps & SubjectKeyDeps & RowKeyDeps, audited: Audited): Promise<boolean> {
  const { connected, lease, alarms, unread, doubted, addresses } = audited;
  const network = connected.chain.network.chainId;
  await recordCoin(deps, { connected, lease });
  const last = await findAuditedBlock(deps.db.sql, network);
  const from = last === undefined ? undefined : Math.max(0, last + 1 - OVERLAP_BLOCKS);
  const report = await reconcile(deps, connected, {
    from,
    maxBlocks: MAX_BLOCKS,
    addresses: { ...addresses, maxPages: 1 },
  });
  if (report === undefined) return false;
  if (!report.hasAddressDifference) audited.addresses = { ...addresses, after: report.lastAddress };
  // Money that has just arrived may not be booked yet. So a difference without a transaction, which is one of a balance, is reported only
  // if the last run found it, too.
  const sure = report.differences.filter(({ transaction, subject }) => transaction !== null || doubted.has(subject));
  doubted.clear();
  for (const { subject } of report.differences) doubted.add(subject);
  const [first] = sure;
  const more = sure.length > 1 ? ` There are ${sure.length - 1} more: run reconcile.` : '';
  await alarms.set(network, first && `${first.message}${more}`);
  const [gap] = report.unreadable;
  await unread.set(network, gap && `The books were compared without the unreadable parts. ${gap}`);
  if (report.differences.length > 0 || report.waiting > 0) return false;
  await commandOfLeader(deps, lease, (tx) => putAuditedBlock(tx, network, report.to));
  return report.to - report.from + 1 >= MAX_BLOCKS;
}

export function auditLeaseName(network: string): string {
  return `audit ${network}`;
}
