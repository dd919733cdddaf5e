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
  /** Writes the MACs of rows under the newest master secret. Returns the number of rows by table. */
  renewRows(pages: Pages, now: Date): Promise<Readonly<Record<string, number>>>;
  /** Writes a new head of the freezes (`freeze-heads.ts`) under the newest master secret. Returns the number of freezes. */
  renewFreezes(tx: Tx): Promise<number>;
}

/**
 * Creates a new receipt key, wrapped with the newest master secret, and writes the MACs of rows under that secret. Afterwards no stored
 * data needs an older master secret, which may then be removed from the settings.
 *
 * Rows are written in pages, each in a short database transaction, so that no payment waits for the rotation. During the rotation nodes
 * have both master secrets, and accept MACs of both. The receipt key is replaced last. An interrupted rotation has no audit entry, and
 * the same command repeats all of it.
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

/** Throws if a running node lacks the new master secret. After the rotation such a node would refuse every API key. */
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
