import { ChainUnavailableError, ContractFaultError } from '../../../chains/chain-errors.ts';
import type { ChainReader } from '../../../chains/chain-reader.ts';
import { type Chains, type ConnectedChain, isIntermediate } from '../../../chains/chains.ts';
import { coinOf } from '../../../chains/registry.ts';
import { fullWeightOf } from '../../../chains/weight.ts';
import { type HeldLot, holdingsOf } from '../../../domain/money/holding.ts';
import { isFinal, type PaymentStatus } from '../../../domain/payment.ts';
import { ApiError } from '../../../errors.ts';
import { searchPlace } from '../../../store/chain/deposit-places.ts';
import { listDepositsOf, type OpenDeposit } from '../../../store/chain/deposits.ts';
import { findLotsOf, findSpendsOf } from '../../../store/money/lots.ts';
import { findPayments, lockPayments } from '../../../store/payments/payments.ts';
import { appendAudit } from '../../../store/plumbing/audit-log.ts';
import { type CommandDeps, command } from '../../command.ts';
import { releaseMac, stoppedLots } from '../../released-places.ts';
import type { RowKeyDeps } from '../../row-keys.ts';

interface MoneyPlace {
  readonly commitment: string;
  readonly network: string;
  readonly asset: string;
  /** True if the payment did not request this asset on this network. */
  readonly isUnexpected: boolean;
}

/** The present money at a deposit address, as one endpoint reports it. */
export interface FoundMoney extends MoneyPlace {
  readonly address: string;
  readonly units: string;
  readonly recipient: string;
  readonly fate: Fate;
}

export type Fate =
  /** The money can be swept. */
  | 'sweepable'
  /** The money will count for its payment, which is still open. */
  | 'counts'
  /** The money is worth less than the smallest amount that is swept. */
  | 'too_little'
  /** Senders on the screening list have sent a part of the money, and no person has decided about it. */
  | 'listed'
  /** The money was swept to an account of ours, and comes from a sender on the screening list. It waits for a person's decision. */
  | 'held'
  /** Native coin, which is not swept. */
  | 'coin'
  /** The network has no contract that can sweep the address. */
  | 'no_contract'
  | 'no_relayer'
  /** The sweep would send the money to an account that is not an intermediate account of ours on this network. */
  | 'not_our_account';

export interface SearchReport {
  readonly paymentId: string;
  readonly addresses: number;
  readonly found: readonly FoundMoney[];
  /** Networks that could not be searched completely, because an endpoint or a contract failed. */
  readonly unsearched: readonly string[];
  /** True if the sweepable money was marked to be swept. */
  readonly isOrdered: boolean;
}

export interface SearchInput {
  readonly paymentId: string;
  /** The network to search, in the form of CAIP-2. Undefined for all connected networks. */
  readonly network: string | undefined;
  readonly isSweep: boolean;
  /** True to sweep also money that senders on the screening list have sent. */
  readonly isListed?: boolean;
  readonly actor: string;
}

type SearchDeps = CommandDeps &
  RowKeyDeps & { readonly chains: Chains; sweepFrom(network: string): bigint | undefined };

/**
 * Searches networks for money at the deposit addresses of a payment: the addresses are the same on all networks. Watchers do not read
 * an address on networks where no payment to it was requested. With `isSweep` the money is only marked: the watcher of its network
 * proves it, books it, and orders the sweep.
 */
export async function searchUnexpected(deps: SearchDeps, input: SearchInput): Promise<SearchReport> {
  const { paymentId, network } = input;
  const [payment] = await findPayments(deps.db.sql, [paymentId]);
  if (payment === undefined) throw new ApiError('payment_not_found', 'There is no such payment.');
  const chains = deps.chains.list().filter(({ chain }) => network === undefined || chain.network.chainId === network);
  if (chains.length === 0) throw new ApiError('invalid_params', 'RPC_URLS does not contain that network.');
  const deposits = await listDepositsOf(deps.db.sql, paymentId);
  const stopped = await stoppedMoney(deps, paymentId);
  const listed = listedPlaces(deps, stopped);
  const unsearched = new Set<string>();
  const found: FoundMoney[] = [];
  for (const connected of chains) {
    for (const deposit of deposits) {
      const money = await searchAddress(connected.chain.reader, deposit, () =>
        unsearched.add(connected.chain.network.chainId),
      );
      for (const each of money) {
        const sweepable = await fateOf(deps, connected, deposit, { ...each, status: payment.status });
        const isListed = sweepable === 'sweepable' && input.isListed !== true && listed.has(placeKey(each));
        const fate = isListed ? 'listed' : sweepable;
        const { recipient } = deposit.item;
        found.push({ ...each, address: deposit.address, units: each.units.toString(), recipient, fate });
      }
    }
  }
  for (const lot of stopped) {
    const { address, remainder, commitment, asset, account: recipient } = lot;
    const isSought = chains.some(({ chain }) => chain.network.chainId === lot.network);
    if (address === null || remainder === 0n || !isSought) continue;
    const isUnexpected = deposits.every((deposit) => deposit.commitment !== commitment || deposit.asset !== asset);
    const place = { commitment, network: lot.network, asset, isUnexpected, address };
    found.push({ ...place, units: remainder.toString(), recipient, fate: 'held' });
  }
  const isWanted = ({ fate }: FoundMoney) => fate === 'sweepable' || (fate === 'held' && input.isListed === true);
  const ordered = input.isSweep ? found.filter(isWanted) : [];
  if (ordered.length > 0) await order(deps, input, ordered);
  return {
    paymentId,
    addresses: deposits.length,
    found,
    unsearched: [...unsearched],
    isOrdered: ordered.length > 0,
  };
}

/** Money of senders on the screening list that no person has decided about. */
async function stoppedMoney(deps: SearchDeps, paymentId: string): Promise<readonly HeldLot[]> {
  const { sql } = deps.db;
  const lots = await findLotsOf(sql, [paymentId]);
  const stopped = await stoppedLots(deps, sql, paymentId, lots);
  const { held } = holdingsOf(lots, await findSpendsOf(sql, [paymentId]));
  const remainders = new Map(held.map(({ id, remainder }) => [id, remainder]));
  return lots.filter(({ id }) => stopped.has(id)).map((lot) => ({ ...lot, remainder: remainders.get(lot.id) ?? 0n }));
}

/** The keys of money that is not swept, because senders on the screening list have sent a part of it that is worth a sweep. */
function listedPlaces({ registry, sweepFrom }: SearchDeps, stopped: readonly HeldLot[]): ReadonlySet<string> {
  const waiting = stopped.filter(({ waiting: units }) => units > 0n);
  const isStopping = (some: readonly HeldLot[]) => {
    const [first] = some;
    if (first === undefined) return false;
    const units = some.reduce((sum, lot) => sum + lot.waiting, 0n);
    return fullWeightOf(registry.asset(first.asset), units) >= (sweepFrom(first.network) ?? 1n);
  };
  const places = [...Map.groupBy(waiting, placeKey)].filter(([, some]) => isStopping(some));
  return new Set(places.map(([key]) => key));
}

function placeKey({ network, commitment, asset }: Pick<MoneyPlace, 'network' | 'commitment' | 'asset'>): string {
  return `${network} ${commitment} ${asset}`;
}

interface Money extends MoneyPlace {
  readonly units: bigint;
}

async function searchAddress(reader: ChainReader, deposit: OpenDeposit, onUnknown: () => void): Promise<Money[]> {
  const network = reader.network.chainId;
  const { commitment, address } = deposit;
  const orUnknown = async (answer: () => Promise<bigint>) => {
    try {
      return await answer();
    } catch (error) {
      if (!(error instanceof ChainUnavailableError || error instanceof ContractFaultError)) throw error;
      onUnknown();
      return 0n;
    }
  };
  const tokens = [...reader.network.assets.values()].filter(({ pay }) => pay !== undefined && pay.method !== 'native');
  const holdings = await Promise.all(
    tokens.map(async ({ id: asset }): Promise<Money> => {
      const units = await orUnknown(async () => reader.holding(address, asset, (await reader.head()).number));
      return { commitment, network, asset, isUnexpected: asset !== deposit.asset, units };
    }),
  );
  const coin = await orUnknown(() => reader.balance(address));
  const inCoin = { commitment, network, asset: reader.network.coin.id, isUnexpected: true, units: coin };
  return [...holdings, inCoin].filter(({ units }) => units > 0n);
}

async function fateOf(
  deps: SearchDeps,
  connected: ConnectedChain,
  { item }: OpenDeposit,
  { network, asset, isUnexpected, units, status }: Money & { readonly status: PaymentStatus },
): Promise<Fate> {
  const { chain, relayers } = connected;
  if (asset === coinOf(deps.registry, network)) return 'coin';
  if (!isUnexpected && !isFinal(status)) return 'counts';
  if (relayers.length === 0) return 'no_relayer';
  if (chain.payerSide.depositContract() === undefined) await chain.check();
  if (chain.payerSide.depositContract() === undefined) return 'no_contract';
  // The recipient is an account on the network of the payment. The gateway may have no key for it on this network.
  if (item.isHeld && !isIntermediate(connected, item.recipient)) return 'not_our_account';
  return fullWeightOf(deps.registry.asset(asset), units) >= (deps.sweepFrom(network) ?? 1n)
    ? 'sweepable'
    : 'too_little';
}

async function order(
  deps: SearchDeps,
  { paymentId, actor, isListed = false }: SearchInput,
  money: readonly FoundMoney[],
): Promise<void> {
  await command(deps, async (tx, at) => {
    await lockPayments(tx, [paymentId]);
    for (const { network, commitment, address } of money) {
      const place = { network, commitment, address, paymentId };
      await searchPlace(tx, { ...place, mac: isListed ? releaseMac(deps, place) : undefined }, at);
    }
    const detail = {
      ...(isListed && { isListed }),
      money: money.map(({ asset, address, units }) => ({ asset, address, units })),
    };
    await appendAudit(tx, { at, actor, action: 'stray.swept', subject: paymentId, detail });
  });
}
