import { amountText, tokenText } from '../../../chains/amount-text.ts';
import { ContractFaultError, UnreadableAnswerError } from '../../../chains/chain-errors.ts';
import type { ConnectedChain } from '../../../chains/chains.ts';
import { assetsOf, coinOf, type Registry } from '../../../chains/registry.ts';
import { sum } from '../../../domain/money.ts';
import type { Reader } from '../../../store/plumbing/database.ts';
import { allBookedAt, type BookedPlace, type Surplus } from '../account-surplus.ts';
import type { Difference } from './compare-events.ts';

export interface BalancesCompared {
  readonly differences: readonly Difference[];
  /** One sentence for each token whose balance cannot be read. */
  readonly unreadable: readonly string[];
}

/** Compares the token balances of the intermediate accounts with the books, at a final block. */
export async function compareIntermediate(
  db: Reader,
  registry: Registry,
  connected: ConnectedChain,
  { place, block }: { readonly place: BookedPlace; readonly block: number },
): Promise<BalancesCompared> {
  const unreadable: string[] = [];
  const { chain } = connected;
  const { account: intermediateAccount, accounts } = place;
  const network = chain.network.chainId;
  const rows = await allBookedAt(db, connected, { accounts, block });
  const booked = new Map(rows.map((row) => [row.asset, row]));
  const tokens = assetsOf(registry, network).filter(
    ({ id, pay }) => pay !== undefined && id !== coinOf(registry, network),
  );
  const found = await Promise.all(
    tokens.map(async ({ id: asset }): Promise<Difference[]> => {
      const { units, fees } = booked.get(asset) ?? { units: 0n, fees: 0n };
      const holdings = accounts.map((account) => chain.reader.holding(account, asset, block));
      const held = await Promise.all(holdings)
        .then(sum)
        .catch((error: unknown) => {
          if (!(error instanceof UnreadableAnswerError || error instanceof ContractFaultError)) throw error;
          // A configured token without book entries may not exist on the chain, so its balance counts as zero.
          if (!booked.has(asset)) return 0n;
          unreadable.push(`The balance of the intermediate account in ${asset} cannot be read: ${error.message}.`);
          return units;
        });
      // The operator may withdraw fees, so a balance that is lower by at most the fees is no difference.
      if (held <= units && held >= units - fees) return [];
      const who = accounts.length === 1 ? 'The intermediate account holds' : 'The intermediate accounts hold';
      const message = `${who} ${amountText(registry, asset, held)}; by the books it should be ${tokenText(registry, asset, units)}.`;
      return [{ subject: intermediateAccount, block, transaction: null, message }];
    }),
  );
  return { differences: found.flat(), unreadable };
}

export function coinShortages(
  registry: Registry,
  network: string,
  surpluses: readonly Surplus[],
  block: number,
): Difference[] {
  return surpluses
    .filter(({ surplus }) => surplus < 0n)
    .map(({ account, surplus }) => ({
      subject: account,
      block,
      transaction: null,
      message: `Account ${account} has ${amountText(registry, coinOf(registry, network), -surplus)} less than the books say: it was spent for a reason that the books do not have.`,
    }));
}
