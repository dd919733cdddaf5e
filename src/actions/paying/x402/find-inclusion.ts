import { ChainUnavailableError } from '../../../chains/chain.ts';
import type { Chains } from '../../../chains/chains.ts';
import { isSmall } from '../../../chains/finality.ts';
import { listMovements } from '../../../store/chain/movements.ts';
import type { Database } from '../../../store/plumbing/database.ts';
import { hearTransfers } from '../../evidence.ts';
import type { Authorized } from './accept-authorization.ts';

/** More transfers to one address than these are not looked at. */
const MAX_TRANSFERS = 50;

/**
 * The transaction that brought the money of an accepted authorization to its address, in a block that two endpoints show. A
 * single endpoint is believed as everywhere: for small amounts, at its own depth. Undefined while it is not shown.
 */
export async function findInclusion(
  { db, chains }: { readonly db: Database; readonly chains: Chains },
  { deposit, payer }: Authorized,
): Promise<string | undefined> {
  const { commitment, network, asset, address, item } = deposit;
  const chain = chains.find(network)?.chain;
  const transfers = await listMovements(db.sql, { network, commitment, asset, limit: MAX_TRANSFERS });
  const seen = transfers.findLast((each) => each.sender === payer && each.amount === item.amount && !each.isScreened);
  if (chain === undefined || seen === undefined) return undefined;
  const { transactionHash: hash } = seen;
  const shown = await hearTransfers(chain, hash).catch((error: unknown) => {
    if (error instanceof ChainUnavailableError) return undefined;
    throw error;
  });
  const isShown = shown?.transfers.some(
    ({ to, from, asset: of, amount }) =>
      to === address && from === payer && of === asset && amount === BigInt(item.amount),
  );
  if (shown === undefined || !isShown) return undefined;
  const isEnough = !shown.isAlone || (shown.isFinal && isSmall(chain.network, item));
  return isEnough ? hash : undefined;
}
