import { appendAudit } from '../store/plumbing/audit-log.ts';
import { command } from './command.ts';
import { renewReceiptKey, type SecretDeps } from './open-receipt-key.ts';

/**
 * Makes a new key for receipts, wrapped with the newest master secret. Afterwards an older master secret opens nothing
 * that is stored, and may be removed from the settings.
 */
export function rotateSecrets(deps: SecretDeps, { actor }: { readonly actor: string }) {
  return command(deps, async (tx, now) => {
    const { before, after } = await renewReceiptKey(tx, deps, now);
    const detail = { receiptKey: { before, after } };
    await appendAudit(tx, { at: now, actor, action: 'secret.rotated', subject: 'secrets', detail });
    return { receiptKeyId: after };
  });
}
