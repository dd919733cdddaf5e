import { unlessUnavailable } from '../../../chains/chain-errors.ts';
import type { Chains } from '../../../chains/chains.ts';
import { isSmall } from '../../../chains/finality.ts';
import type { RegistryDeps } from '../../../chains/registry.ts';
import { findTransferOf } from '../../../store/chain/deposit-progress.ts';
import type { Database } from '../../../store/plumbing/database.ts';
import { askTransfers } from '../../evidence.ts';
import type { Authorized } from './accept-authorization.ts';

/**
 * The transaction that brought the money of an accepted authorization to its deposit address, in a block that two endpoints show. For a
 * small amount a single endpoint suffices, at a greater depth. Undefined while no such transaction is shown.
 */
export async function findInclusion(
  deps: RegistryDeps & { readonly db: Database; readonly chains: Chains },
  { deposit, payer }: Authorized,
): Promise<string | undefined> {
  const { db, chains } = deps;
  const { commitment, network, asset, address, item } = deposit;
  const chain = chains.find(network)?.chain;
  const amount = BigInt(item.amount);
  const seen = await findTransferOf(db.sql, { network, commitment, asset, sender: payer, amount });
  if (chain === undefined || seen === undefined) return undefined;
  const { transactionHash: hash } = seen;
  const shown = await unlessUnavailable(askTransfers(chain.reader, hash));
  const isShown = shown?.transfers.some(
    (each) => each.to === address && each.from === payer && each.asset === asset && each.amount === amount,
  );
  if (shown === undefined || !isShown) return undefined;
  const isEnough = !shown.isAlone || (shown.isFinal && isSmall(deps, chain.network, item));
  return isEnough ? hash : undefined;
}
