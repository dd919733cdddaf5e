import { ChainUnavailableError } from '../../chains/chain-errors.ts';
import { hasPassed } from '../../domain/has-passed.ts';
import { listFormerVersions, releaseStranded } from '../../store/chain/former-sends.ts';
import { takeBytes } from '../../store/chain/sends.ts';
import { command } from '../command.ts';
import { commandOfLeader } from '../lease.ts';
import { findFormerRelayers } from '../relay/former-relayers.ts';
import type { WatchDeps, Watcher } from './watcher.ts';

const MAINTAIN_EVERY_MS = 20_000;
/** A transaction with the usual price of gas is mined long before this. After it, the items of an unmined one are due again. */
const STRANDED_AFTER_MS = 3 * 60_000;
const MAX_BROADCASTS = 64;

/**
 * Tends transactions of relayers whose keys are gone. Their stored bytes can be broadcast again without the key. If they are still
 * not mined, because nobody can raise their fee or the account is empty, other relayers send their items.
 */
export async function maintainFormerSends(deps: WatchDeps, { chain, network, lease, memory }: Watcher): Promise<void> {
  const nowMs = deps.world.clock.nowMs();
  if (!hasPassed(memory.formerMaintainedAtMs, nowMs, MAINTAIN_EVERY_MS)) return;
  memory.formerMaintainedAtMs = nowMs;
  const former = await findFormerRelayers({ ...deps, clock: deps.world.clock });
  const signers = former.filter((each) => each.network === network).map(({ signer }) => signer);
  if (signers.length === 0) return;
  for (const { hash } of await listFormerVersions(deps.db.sql, { network, signers, limit: MAX_BROADCASTS })) {
    const bytes = await command(deps, (tx, now) => takeBytes(tx, hash, now));
    if (bytes === undefined) continue;
    try {
      const outcome = await chain.sender.broadcast(bytes, { isRepeated: true });
      deps.log.debug({ network, hash, outcome }, 'broadcast for a former relayer');
    } catch (error) {
      if (!(error instanceof ChainUnavailableError)) throw error;
    }
  }
  const before = new Date(nowMs - STRANDED_AFTER_MS);
  const released = await commandOfLeader(deps, lease, (tx) => releaseStranded(tx, { network, signers, before }));
  if (released > 0) deps.log.warn({ network, signers, released }, 'items of former relayers are due again');
}
