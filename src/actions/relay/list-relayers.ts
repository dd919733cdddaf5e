import { unlessUnavailable } from '../../chains/chain-errors.ts';
import type { Chains } from '../../chains/chains.ts';
import { unshifted } from '../../runtime/shifted-clock.ts';
import type { Clock } from '../../runtime/world.ts';
import { countOpenSends, lastSlot } from '../../store/chain/sends.ts';
import type { Database } from '../../store/plumbing/database.ts';
import { isHeld, listLeases } from '../../store/plumbing/leases.ts';
import { findFormerRelayers } from './former-relayers.ts';
import { relayLeaseName } from './relayer.ts';

export interface RelayerState {
  readonly network: string;
  readonly address: string;
  /** The balance of native coin in its smallest unit; undefined if the chain cannot be asked. */
  readonly balance: bigint | undefined;
  readonly nextSlot: number | undefined;
  /** Transactions that are stored and not yet mined at final depth. */
  readonly inFlight: number;
  /** True if a node holds the relayer's lease. */
  readonly isLed: boolean;
  /** True if the relayer's key is no longer configured, and some of its transactions are not mined. */
  readonly isFormer: boolean;
}

export async function listRelayers(deps: { chains: Chains; db: Database; clock: Clock }): Promise<RelayerState[]> {
  const former = await findFormerRelayers(deps);
  const asks = [
    ...deps.chains.list().flatMap(({ chain, relayers }) =>
      relayers.map(({ address }) => ({
        chain,
        id: { network: chain.network.chainId, signer: address },
        isFormer: false,
      })),
    ),
    ...former.map(({ network, signer }) => {
      return { chain: deps.chains.find(network)?.chain, id: { network, signer }, isFormer: true };
    }),
  ];
  return Promise.all(
    asks.map(async ({ chain, id, isFormer }) => {
      const { signer: address } = id;
      const [balance, used, last, inFlight, leases] = await Promise.all([
        chain && unlessUnavailable(chain.reader.balance(address)),
        chain && unlessUnavailable(chain.sender.usedSlots(address)),
        lastSlot(deps.db.sql, id),
        countOpenSends(deps.db.sql, id),
        listLeases(deps.db.sql),
      ]);
      const nextSlot = last === undefined ? used : Math.max(used ?? 0, last + 1);
      const isLed = isHeld(leases, relayLeaseName(id), unshifted(deps.clock).nowMs());
      return { network: id.network, address, balance, nextSlot, inFlight, isLed, isFormer };
    }),
  );
}
