import type { ConnectedChain } from '../../../chains/chains.ts';
import type { Screening } from '../../../screening/screening.ts';
import { findPayersOf } from '../../../store/chain/chain-events.ts';
import { listPlacesOf } from '../../../store/chain/deposit-places.ts';
import { markPositionsOutdated } from '../../../store/money/positions.ts';
import { type CommandDeps, command } from '../../command.ts';
import { movementOf, storeMovements } from '../../watch/deposits/read-movements.ts';

const PAGE = 500;

/**
 * Reads the transfers to deposit addresses again and stores them as movements, page by page. The watcher proves them like new ones.
 * Existing rows stay unchanged.
 */
export async function restoreMovements(
  deps: CommandDeps & { readonly screening: Screening },
  { chain }: ConnectedChain,
  { from, to, commitments }: { readonly from: number; readonly to: number; readonly commitments: readonly string[] },
): Promise<void> {
  const network = chain.network.chainId;
  const places = await listPlacesOf(deps.db.sql, network, [...new Set(commitments)]);
  if (places.length === 0) return;
  const byAddress = new Map(places.map((place) => [place.address, place]));
  for (let start = from; start <= to; start += PAGE) {
    const found = await chain.reader.incoming(byAddress, start, Math.min(start + PAGE - 1, to));
    const numbers = [...new Set(found.map(({ block }) => block.number))];
    const blocks = new Map(
      await Promise.all(numbers.map(async (each) => [each, await chain.reader.block(each)] as const)),
    );
    const payers = await findPayersOf(deps.db.sql, network, [...new Set(found.map((each) => each.transactionHash))]);
    const movements = found.flatMap((transfer) => {
      const place = byAddress.get(transfer.to);
      const header = blocks.get(transfer.block.number);
      // The chain does not show which senders were on the screening list before, so the present list decides.
      return place === undefined || header?.hash !== transfer.block.hash
        ? []
        : [movementOf(deps, transfer, { network, place, header, payers })];
    });
    await command(deps, async (tx, at) => {
      const added = await storeMovements(tx, { network, movements }, at);
      const isNew = new Set(added.map(({ commitment }) => commitment));
      const payments = places.filter(({ commitment }) => isNew.has(commitment)).map(({ paymentId }) => paymentId);
      await markPositionsOutdated(tx, payments, at);
    });
  }
}
