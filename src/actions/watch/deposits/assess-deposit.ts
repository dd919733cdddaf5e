import type { Chain, Witness } from '../../../chains/chain.ts';
import { finalityOf, isSmall } from '../../../chains/finality.ts';
import { countedOf } from '../../../domain/deposit.ts';
import { LONE_DEPTH_FACTOR } from '../../../domain/quorum.ts';
import { sumSweeps } from '../../../store/chain/deposit-money.ts';
import { sumDepositTransfers } from '../../../store/chain/deposit-transfers.ts';
import type { OpenDeposit } from '../../../store/chain/deposits.ts';
import type { Reader } from '../../../store/plumbing/database.ts';
import { blockKey, hear, hearHeights, sayings } from '../../evidence.ts';
import type { View, WatchDeps, Watcher } from '../watcher.ts';

/** The money of a deposit address at a block, as enough endpoints show it. */
export interface Assessment {
  readonly block: number;
  readonly blockHash: string;
  /** The time of the block. */
  readonly atMs: number;
  readonly arrived: bigint;
  /** The part that counts for the payment: in time, and not of screened senders. */
  readonly counted: bigint;
  readonly screened: bigint;
}

export type Assessed =
  | ({ readonly is: 'known'; readonly isAlone: boolean } & Assessment)
  /** Too few endpoints have answered, or a sweep is not proved yet. */
  | { readonly is: 'open' }
  | { readonly is: 'disputed'; readonly said: string };

/**
 * The money of a deposit address: the proved sweeps, and the balance at the block, which two endpoints must report alike.
 * The list of transfers came from one endpoint and proves nothing. It only tells which part does not count.
 */
export async function assessAt(
  db: Reader,
  chain: Chain,
  { network, address, asset, commitment, item }: OpenDeposit,
  number: number,
): Promise<Assessed> {
  const { finding, statements } = await hear(
    chain,
    (witness) => stateAt(witness, { address, asset, number }),
    ({ block, balance }) => `${blockKey(block)} ${balance}`,
  );
  if (finding.is === 'open') return finding;
  if (finding.is === 'disputed') {
    const said = sayings(statements, ({ block, balance }) => `${balance} at ${block.hash}`);
    return { is: 'disputed', said: `The balance of ${address} at block ${number}: ${said}.` };
  }
  const { block, balance } = finding.value;
  const [sweeps, { screened, late }] = await Promise.all([
    sumSweeps(db, { network, commitment, asset, upTo: number }),
    sumDepositTransfers(db, { commitment, asset, deadline: item.deadline, upTo: number }),
  ]);
  if (sweeps.isUndecided) return { is: 'open' };
  const arrived = sweeps.total + balance;
  const counted = countedOf({ arrived, screened, late });
  const place = { block: number, blockHash: block.hash, atMs: block.timestampS * 1000 };
  return { is: 'known', isAlone: finding.is === 'alone', ...place, arrived, counted, screened };
}

async function stateAt(witness: Witness, ask: { address: string; asset: string; number: number }) {
  const block = await witness.block(ask.number);
  if (block === undefined) return undefined;
  return { block, balance: await witness.holding(ask.address, ask.asset, ask.number) };
}

/** The same at the highest block that is final for this amount. Undefined while it is not known. */
export async function assessDeposit(
  deps: WatchDeps,
  watcher: Watcher,
  view: View,
  deposit: OpenDeposit,
): Promise<Assessment | undefined> {
  const found = await finalNumberFor(watcher, view, deposit.item);
  if (found === undefined) return undefined;
  const assessed = await assessAt(deps.db.sql, watcher.chain, deposit, found.number);
  if (assessed.is === 'disputed') watcher.memory.disputes.set('deposits', assessed.said);
  if (assessed.is !== 'known' || (assessed.isAlone && !found.isAloneEnough)) return undefined;
  return assessed;
}

async function finalNumberFor(
  { chain }: Watcher,
  { heights, finalNumber }: View,
  item: OpenDeposit['item'],
): Promise<{ number: number; isAloneEnough: boolean } | undefined> {
  const { depth, tag } = finalityOf(chain.network, item);
  const tagged = tag && (await hearHeights(chain, (witness) => witness.block(tag)));
  const agreed = Math.min(
    (heights.agreed ?? -1) - depth + 1,
    tagged === undefined ? finalNumber : (tagged.agreed ?? -1),
  );
  const alone = isSmall(chain.network, item)
    ? Math.min((heights.alone ?? -1) - LONE_DEPTH_FACTOR * depth + 1, tagged?.agreed ?? tagged?.alone ?? finalNumber)
    : -1;
  const number = Math.min(finalNumber, Math.max(agreed, alone));
  return number < 0 ? undefined : { number, isAloneEnough: alone >= number };
}
