import { ChainUnavailableError } from '../../../chains/chain-errors.ts';
import type { ChainReader } from '../../../chains/chain-reader.ts';
import type { AccountFacts } from '../../../domain/doctor/facts.ts';
import type { Clock } from '../../../runtime/world.ts';
import type { Database } from '../../../store/plumbing/database.ts';
import { surveyNetworks } from '../survey-networks.ts';
import type { ExamineDeps } from './examine-deps.ts';

/** The facts about relayers, including former ones, and about the intermediate accounts. */
export async function examineAccounts(
  { chains, minBalance }: Pick<ExamineDeps, 'chains' | 'minBalance'>,
  { db, clock }: { readonly db: Database; readonly clock: Clock },
): Promise<AccountFacts[]> {
  const networks = await surveyNetworks({ chains, db, clock });
  const own = networks.map(async ({ connected, relayers }): Promise<AccountFacts[]> => {
    const { chain, intermediateAccount } = connected;
    const { chainId: network } = chain.network;
    return [
      ...relayers.map(({ address, balance, spentPerDay, inFlight, isFormer }) => ({
        network,
        address,
        kind: isFormer ? ('former relayer' as const) : ('relayer' as const),
        balance: balance ?? null,
        minBalance: minBalance(network),
        spentPerDay,
        inFlight,
      })),
      {
        network,
        address: intermediateAccount,
        kind: 'intermediate account',
        balance: await balanceOf(chain.reader, intermediateAccount),
        minBalance: null,
        spentPerDay: 0n,
        inFlight: null,
      },
    ];
  });
  return (await Promise.all(own)).flat();
}

async function balanceOf(reader: ChainReader, account: string): Promise<bigint | null> {
  return reader.balance(account).catch((error: unknown) => {
    if (error instanceof ChainUnavailableError) return null;
    throw error;
  });
}
