import { type AssetFacts, assetFacts, type NetworkFacts, networkFacts } from '../../chains/records/record-facts.ts';
import type { Tx } from '../../store/plumbing/database.ts';
import { findKnownRecords, insertKnownRecords, type KnownRecord } from '../../store/plumbing/known-records.ts';
import { lockName } from '../../store/plumbing/locks.ts';
import { type CommandDeps, command } from '../command.ts';
import { type Memory, memoryOf } from './differences.ts';

/**
 * Stores networks and assets before their first use. The row is committed before the asset is offered, or is the price of a payment.
 * So a crash in between may leave an unneeded row, but no row is ever missing. Of two nodes with different files, only the first one
 * gets to use an asset; the other one gets the reason.
 */
export interface RecordMemory {
  /** True if this node has seen that the stored facts of the asset agree with the files. */
  isAdmitted(asset: string): boolean;
  /** Stores the assets. Returns the reasons not to use some of them, by CAIP-19, as sentences. */
  admit(assets: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Stores the network. Returns the reason not to use it, as a sentence. */
  admitNetwork(chainId: string, genesis: string | null): Promise<string | undefined>;
  /** The stored hash of block 0; undefined as long as no endpoint has shown it. */
  genesisOf(chainId: string): string | undefined;
}

/** The name of the database lock of the stored networks and assets. Only first uses and accepted changes take it. */
export const RECORDS = 'known_records';

/**
 * Creates the memory of a node. `read` contains the facts that were stored when the node started: with them, endpoints are compared
 * with the stored block 0 from the first request on.
 */
export function createRecordMemory(deps: CommandDeps, read?: Pick<Memory, 'networks'>): RecordMemory {
  const { registry } = deps;
  const admitted = new Set<string>();
  const genesis = new Map<string, string>();
  for (const [chainId, known] of read?.networks ?? []) if (known.genesis !== null) genesis.set(chainId, known.genesis);

  async function admit(assets: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const news = assets.filter((id) => !admitted.has(id) && registry.asset(id) !== undefined);
    if (news.length === 0) return new Map();
    const chainIds = [...new Set(news.map(chainOf))];
    const known = await command(deps, async (tx, now) => {
      const found = await lockKnown(tx, [...news, ...chainIds]);
      const memory = memoryOf(found);
      const rows = [
        ...chainIds.flatMap((id) => (memory.networks.has(id) ? [] : networkRow(deps, id, null))),
        ...news.flatMap((id) => (memory.assets.has(id) ? [] : assetRow(deps, id))),
      ];
      if (rows.length > 0) await insertKnownRecords(tx, rows, now);
      return memory;
    });
    const refused = new Map<string, string>();
    for (const id of news) {
      const reason = assetReason(deps, id, known.assets.get(id));
      if (reason === undefined) admitted.add(id);
      else refused.set(id, reason);
    }
    return refused;
  }

  async function admitNetwork(chainId: string, shown: string | null): Promise<string | undefined> {
    const remembered = await command(deps, async (tx, now) => {
      const [row] = await lockKnown(tx, [chainId]);
      const was = row?.facts as NetworkFacts | undefined;
      if (was !== undefined && (was.genesis !== null || shown === null)) return was;
      const rows =
        was === undefined
          ? networkRow(deps, chainId, shown)
          : [{ subject: chainId, facts: { ...was, genesis: shown } }];
      if (rows.length > 0) await insertKnownRecords(tx, rows, now);
      return was && { ...was, genesis: shown };
    });
    const before = remembered?.genesis ?? shown;
    if (before !== null) genesis.set(chainId, before);
    return networkReason(deps, chainId, { was: remembered, shown });
  }

  return {
    isAdmitted: (asset) => admitted.has(asset),
    admit,
    admitNetwork,
    genesisOf: (chainId) => genesis.get(chainId),
  };
}

/** Reads stored records and locks them, so that they stay unchanged until the database transaction ends. */
async function lockKnown(tx: Tx, subjects: readonly string[]): Promise<KnownRecord[]> {
  await lockName(tx, RECORDS);
  return findKnownRecords(tx, subjects);
}

export function networkRow({ registry }: Pick<CommandDeps, 'registry'>, chainId: string, genesis: string | null) {
  const network = registry.network(chainId);
  return network === undefined ? [] : [{ subject: chainId, facts: networkFacts(network, genesis) }];
}

export function assetRow({ registry }: Pick<CommandDeps, 'registry'>, id: string) {
  const asset = registry.asset(id);
  return asset === undefined ? [] : [{ subject: id, facts: assetFacts(asset) }];
}

function assetReason({ registry }: CommandDeps, id: string, was: AssetFacts | undefined): string | undefined {
  const asset = registry.asset(id);
  if (asset === undefined || was === undefined) return undefined;
  const now = assetFacts(asset);
  const name = `${asset.symbol} (${id})`;
  if (now.decimals !== was.decimals) {
    return `${name} is switched off: another node uses it with ${was.decimals} decimals, and the file of this node says ${now.decimals}. ${SAME_FILES}`;
  }
  if (now.peg === was.peg) return undefined;
  return `${name} is switched off: another node uses it with the peg ${was.peg ?? 'none'}, and the file of this node says ${now.peg ?? 'none'}. ${SAME_FILES}`;
}

function networkReason(
  { registry }: CommandDeps,
  chainId: string,
  { was, shown }: { readonly was: NetworkFacts | undefined; readonly shown: string | null },
): string | undefined {
  const network = registry.network(chainId);
  if (network === undefined || was === undefined) return undefined;
  const now = networkFacts(network, shown);
  const name = `${network.name} (${chainId})`;
  if (shown !== null && was.genesis !== shown) {
    return `${name} is switched off: its endpoints are on another chain with the same number. Their block 0 is ${shown}, and this database was used with ${was.genesis}. Correct RPC_URLS, or use a new database.`;
  }
  if (now.coin === was.coin && now.coinDecimals === was.coinDecimals && now.mode === was.mode) return undefined;
  return `${name} is switched off: another node uses it in mode ${was.mode} with the coin ${was.coin} of ${was.coinDecimals} decimals, and the file of this node says ${now.mode}, ${now.coin} and ${now.coinDecimals}. ${SAME_FILES}`;
}

const SAME_FILES = 'Give every node the same files, and start it again.';

function chainOf(asset: string): string {
  return asset.split('/', 1)[0] ?? '';
}
