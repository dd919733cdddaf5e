import type { Incoming } from '../../chains/chain.ts';
import type { ConnectedChain } from '../../chains/chains.ts';
import type { Log } from '../../deps.ts';
import { strayReceivedEntry } from '../../domain/books.ts';
import { strayId } from '../../domain/stray.ts';
import { upsertAlert } from '../../store/alerts.ts';
import { findCursors } from '../../store/chain-cursors.ts';
import { findStrayCursor, insertStrays, type NewStray, putStrayCursor } from '../../store/strays.ts';
import { recordEntries } from '../books/record.ts';
import { type CommandDeps, command, commandOfOne } from '../command.ts';

const MAX_RANGE = 1_000;

/**
 * Searches the final blocks of a network for money that reached accounts of ours outside of payments; whether there is
 * more to search. It begins where the network is first met. Two nodes may search the same blocks: every transfer has one
 * row, and only who inserts it books it.
 */
export async function recordStrays(deps: CommandDeps & { log: Log }, connected: ConnectedChain): Promise<boolean> {
  const { chain, intermediateAccount, relayers } = connected;
  const network = chain.network.chainId;
  const cursors = await findCursors(deps.db.sql);
  const final = cursors.find((cursor) => cursor.network === network)?.finalNumber;
  if (final === undefined) return false;
  const searched = await findStrayCursor(deps.db.sql, network);
  if (searched === undefined) {
    await commandOfOne(deps, (tx) => putStrayCursor(tx, network, final));
    return false;
  }
  if (final <= searched) return false;
  const to = Math.min(final, searched + MAX_RANGE);
  const accounts = [...new Set([intermediateAccount, ...relayers.map(({ address }) => address)])];
  const found = await chain.incoming(accounts, searched + 1, to);
  const strays = found.map((transfer) => strayOf(connected, transfer, 'unclaimed'));
  await command(deps, async (tx, now) => {
    const isNew = new Set(strays.length === 0 ? [] : await insertStrays(tx, strays, now));
    for (const stray of strays) {
      if (!isNew.has(stray.id)) continue;
      const message = `${stray.amount} of ${stray.asset} came to ${stray.account} from ${stray.sender}, and nobody has said what for.`;
      await upsertAlert(tx, { name: 'stray_money', subject: stray.id, message, lastSeen: now });
    }
    const booked = strays.filter(({ id, isBooked }) => isBooked && isNew.has(id));
    await recordEntries(
      tx,
      booked.map((stray) => strayReceivedEntry(aboutStray(stray), BigInt(stray.amount), proofOf(stray))),
      now,
    );
    await putStrayCursor(tx, network, to);
  });
  if (strays.length > 0) deps.log.warn({ network, from: searched + 1, to, count: strays.length }, 'stray money found');
  return to < final;
}

/** A transfer as it is stored. */
export function strayOf(
  { chain, intermediateAccount }: ConnectedChain,
  transfer: Incoming,
  state: NewStray['state'],
): NewStray {
  const { transactionHash, logIndex, block, asset, from, to, amount } = transfer;
  const place = { network: chain.network.chainId, transactionHash, logIndex, source: 'transfer' } as const;
  return {
    ...place,
    id: strayId(place),
    blockNumber: block.number,
    asset,
    sender: from,
    account: to,
    amount: amount.toString(),
    fee: '0',
    isHeld: true,
    paymentId: null,
    merchantId: null,
    isBooked: to === intermediateAccount,
    state,
  };
}

/** How the books name a stray. */
export function aboutStray({
  id,
  network,
  asset,
  merchantId,
}: Pick<NewStray, 'id' | 'network' | 'asset' | 'merchantId'>) {
  return { network, asset, subject: id, reference: id, merchantId };
}

function proofOf({ transactionHash, blockNumber }: NewStray) {
  return { transaction: transactionHash, block: blockNumber };
}
