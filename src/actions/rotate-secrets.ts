import { ApiError } from '../errors.ts';
import { appendAudit } from '../store/plumbing/audit-log.ts';
import type { Tx } from '../store/plumbing/database.ts';
import { listNodes } from '../store/plumbing/nodes.ts';
import { NODE_GONE_MS } from './announce-node.ts';
import { command } from './command.ts';
import { renewReceiptKey, type SecretDeps } from './open-receipt-key.ts';
import { ownTransactions, type Pages } from './renew-macs.ts';

export interface RotateInput {
  readonly actor: string;
  /** True if the older master secret is lost, so that its receipt key cannot be opened. */
  readonly isLost: boolean;
  /** Writes the MACs of rows under the newest master secret, and returns the number by table. */
  renewRows(pages: Pages, now: Date): Promise<Readonly<Record<string, number>>>;
  /** The same for the head of the freezes, which is locked for one short transaction. */
  renewFreezes(tx: Tx): Promise<number>;
}

/**
 * Makes a new key for receipts, wrapped with the newest master secret, and authenticates rows with it. Afterwards an older
 * master secret is needed for nothing that is stored, and may be removed from the settings.
 *
 * Rows are written in pages, each a short transaction: nodes have both master secrets meanwhile, so rows of both are right for
 * them, and no payment waits for the rotation. The receipt key comes last. A rotation that was interrupted is not in the audit
 * log, and the same command does all of it again.
 */
export async function rotateSecrets(deps: SecretDeps, { actor, isLost, renewRows, renewFreezes }: RotateInput) {
  await command(deps, (tx, now) => refuseUninformed(tx, deps, now));
  const pages = ownTransactions(deps);
  const freezes = await pages(renewFreezes);
  const rows = { freezes, ...(await renewRows(pages, new Date(deps.world.clock.nowMs()))) };
  return command(deps, async (tx, now) => {
    await refuseUninformed(tx, deps, now);
    const { before, after } = await renewReceiptKey(tx, deps, { isLost, now });
    const detail = { receiptKey: { before, after }, rows, isLost };
    await appendAudit(tx, { at: now, actor, action: 'secret.rotated', subject: 'secrets', detail });
    return { receiptKeyId: after };
  });
}

/** A running node without the new secret would refuse every key afterwards. */
async function refuseUninformed(tx: Tx, { secrets }: SecretDeps, now: Date): Promise<void> {
  const [newest = ''] = secrets.ids;
  const lacking = (await listNodes(tx)).filter(
    ({ seenAt, secretIds }) => now.getTime() - seenAt.getTime() < NODE_GONE_MS && !secretIds?.includes(newest),
  );
  if (lacking.length === 0) return;
  const hosts = [...new Set(lacking.map(({ host }) => host))].join(', ');
  throw new ApiError(
    'invalid_state',
    `Running nodes lack the first master secret of TILL_SECRET: ${hosts}. Give both secrets to every node, restart it, and rotate then.`,
  );
}
