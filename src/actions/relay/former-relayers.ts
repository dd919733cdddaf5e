import type { Chains } from '../../chains/chains.ts';
import { unshifted } from '../../runtime/shifted-clock.ts';
import type { Clock } from '../../runtime/world.ts';
import { listOpenSenders, type OpenSender } from '../../store/chain/former-sends.ts';
import type { Database } from '../../store/plumbing/database.ts';
import { isHeld, listLeases } from '../../store/plumbing/leases.ts';
import { relayLeaseName } from './relayer.ts';

/**
 * Signers with stored transactions that are not mined, whose key this node does not have and whose lease no node holds: their keys
 * were removed from the settings.
 */
export async function findFormerRelayers(deps: { chains: Chains; db: Database; clock: Clock }): Promise<OpenSender[]> {
  const [senders, leases] = await Promise.all([listOpenSenders(deps.db.sql), listLeases(deps.db.sql)]);
  const nowMs = unshifted(deps.clock).nowMs();
  return senders.filter((sender) => {
    const connected = deps.chains.find(sender.network);
    const own = [
      ...(connected?.relayers ?? []),
      ...(connected?.otherIntermediates ?? []),
      connected?.intermediateSigner,
    ].map((signer) => signer?.address);
    return !own.includes(sender.signer) && !isHeld(leases, relayLeaseName(sender), nowMs);
  });
}
