import type { Chains, ConnectedChain } from '../../chains/chains.ts';
import type { Clock } from '../../runtime/world.ts';
import { type ChainCursor, findCursors } from '../../store/chain/chain-cursors.ts';
import { costByRelayer, type RelayerCost } from '../../store/chain/cost-figures.ts';
import { findAuditedBlock } from '../../store/money/book-comparison.ts';
import type { Database } from '../../store/plumbing/database.ts';
import { listRelayers, type RelayerState } from '../relay/list-relayers.ts';

const DAY_MS = 24 * 3_600_000;

export interface SurveyedRelayer extends RelayerState {
  /** The cost of the relayer's transactions of the last 24 hours, in the smallest unit of the coin. */
  readonly spentPerDay: bigint;
  readonly itemsPerDay: number;
}

export interface SurveyedNetwork {
  readonly connected: ConnectedChain;
  readonly cursor: ChainCursor | undefined;
  readonly relayers: readonly SurveyedRelayer[];
  /** The block up to which the books agreed with the chain. */
  readonly auditedBlock: number | undefined;
}

/** Asks the chains for the balances of relayers, and the database for everything else. */
export async function surveyNetworks(deps: {
  readonly chains: Chains;
  readonly db: Database;
  readonly clock: Clock;
}): Promise<SurveyedNetwork[]> {
  const { sql } = deps.db;
  const all = deps.chains.list();
  const networks = all.map(({ chain }) => chain.network.chainId);
  const since = new Date(deps.clock.nowMs() - DAY_MS);
  const [relayers, cursors, costs, audited] = await Promise.all([
    listRelayers(deps),
    findCursors(sql),
    costByRelayer(sql, { networks, since }),
    Promise.all(networks.map((network) => findAuditedBlock(sql, network))),
  ]);
  return all.map((connected, index) => {
    const { chainId } = connected.chain.network;
    return {
      connected,
      cursor: cursors.find(({ network }) => network === chainId),
      relayers: relayers.filter(({ network }) => network === chainId).map((relayer) => withCost(relayer, costs)),
      auditedBlock: audited[index],
    };
  });
}

function withCost(relayer: RelayerState, costs: readonly RelayerCost[]): SurveyedRelayer {
  const own = costs.find(({ network, signer }) => network === relayer.network && signer === relayer.address);
  return { ...relayer, spentPerDay: own?.coin ?? 0n, itemsPerDay: own?.items ?? 0 };
}
