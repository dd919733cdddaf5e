import { newId } from '../../domain/ids.ts';
import type { Mode } from '../../domain/mode.ts';
import { ApiError } from '../../errors.ts';
import { insertWalletApp, removeWalletApp, type WalletApp } from '../../store/parties/wallet-apps.ts';
import { appendAudit } from '../../store/plumbing/audit-log.ts';
import { type CommandDeps, command } from '../command.ts';

export function registerApp(
  deps: CommandDeps,
  input: { actor: string; mode: Mode; name: string; iconUrl: string | null },
): Promise<WalletApp> {
  return command(deps, async (tx, now) => {
    const { actor, ...fields } = input;
    const id = newId('app_', now.getTime(), deps.world.random.bytes(10));
    const app: WalletApp = { ...fields, id, createdAt: now, removedAt: null };
    await insertWalletApp(tx, app);
    await appendAudit(tx, { at: now, actor, action: 'app.registered', subject: id, detail: fields });
    return app;
  });
}

export function unregisterApp(deps: CommandDeps, input: { actor: string; appId: string }): Promise<void> {
  return command(deps, async (tx, now) => {
    if (!(await removeWalletApp(tx, { id: input.appId, at: now }))) {
      throw new ApiError('invalid_app_id', `There is no wallet app ${input.appId}.`);
    }
    const detail = { before: { removedAt: null }, after: { removedAt: now } };
    await appendAudit(tx, { at: now, actor: input.actor, action: 'app.removed', subject: input.appId, detail });
  });
}
