import type { Incoming } from '../../../chains/chain-reader.ts';
import type { ConnectedChain } from '../../../chains/chains.ts';
import { lockFloatsOn, moveFloats } from '../../../store/money/floats.ts';
import { appendAudit } from '../../../store/plumbing/audit-log.ts';
import type { Reader, Tx } from '../../../store/plumbing/database.ts';
import { intermediateAccounts, intermediateInForce } from '../../own-accounts.ts';
import type { RowKeyDeps } from '../../row-keys.ts';

/**
 * Selects the transfers from an earlier intermediate account to the current one: the operator has moved money with the earlier
 * account's key. The current account is read from the database, because the settings of this node may be outdated.
 */
export async function movedByHand(
  deps: RowKeyDeps & { readonly db: { readonly sql: Reader } },
  connected: ConnectedChain,
  found: readonly Incoming[],
): Promise<Incoming[]> {
  const { chainId: network } = connected.chain.network;
  const present = (await intermediateInForce(deps.db.sql, deps, network)) ?? connected.intermediateAccount;
  const arrived = found.filter(({ to }) => to === present);
  if (arrived.length === 0) return [];
  const earlier = new Set(await intermediateAccounts(deps, connected));
  earlier.delete(present);
  return arrived.filter(({ from }) => earlier.has(from));
}

type Moved = Pick<Incoming, 'asset' | 'from' | 'to' | 'amount' | 'transactionHash'>;

/**
 * Moves floats to the account that their money was transferred to: each float as a whole, as far as the transfers suffice. A float whose
 * money was not transferred stays on its account. It cannot pay from the present account, because the money there belongs to other
 * owners.
 */
export async function followFloats(tx: Tx, transfers: readonly Moved[], at: Date): Promise<void> {
  for (const { asset, from, to, amount, transactionHash } of transfers) {
    let left = amount;
    const owners: string[] = [];
    for (const { owner, units } of await lockFloatsOn(tx, { asset, account: from })) {
      if (BigInt(units) > left) continue;
      left -= BigInt(units);
      owners.push(owner);
    }
    if (owners.length === 0) continue;
    await moveFloats(tx, { asset, owners, account: to });
    for (const owner of owners) {
      const detail = { asset, before: from, after: to, transactionHash };
      await appendAudit(tx, { at, actor: 'watcher', action: 'float.moved', subject: owner, detail });
    }
  }
}
