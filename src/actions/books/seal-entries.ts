import { entryHash, firstHash } from '../../domain/book-chain.ts';
import { type ChainHead, findHead, findUnsealed, type Seal, sealEntries } from '../../store/money/books.ts';
import type { Lease } from '../../store/plumbing/leases.ts';
import type { CommandDeps } from '../command.ts';
import { commandOfLeader } from '../lease.ts';

const MAX_ENTRIES = 500;

/**
 * Gives the new book entries of a network their order, and chains them by their hashes. Returns true if there are more. Only the
 * holder of the network's lease can commit, so there is only one order. An entry whose database transaction commits late gets a later
 * number.
 */
export async function sealOnce(deps: CommandDeps, network: string, lease: Lease): Promise<boolean> {
  const unsealed = await findUnsealed(deps.db.sql, network, 1);
  if (unsealed.length === 0) return false;
  return commandOfLeader(deps, lease, async (tx) => {
    const entries = await findUnsealed(tx, network, MAX_ENTRIES);
    let head: ChainHead = (await findHead(tx, network)) ?? { network, sequence: 0, hash: firstHash(network) };
    const seals: Seal[] = [];
    for (const entry of entries) {
      const sequence = head.sequence + 1;
      const hash = entryHash(head.hash, { ...entry, sequence });
      seals.push({ id: entry.id, sequence, hash });
      head = { network, sequence, hash };
    }
    if (seals.length > 0) await sealEntries(tx, head, seals);
    return entries.length === MAX_ENTRIES;
  });
}

export function sealLeaseName(network: string): string {
  return `books ${network}`;
}
