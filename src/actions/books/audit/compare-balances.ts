import { UnreadableAnswerError } from '../../../chains/chain.ts';
import type { ConnectedChain } from '../../../chains/chains.ts';
import { coinOf } from '../../../chains/coin.ts';
import { assetsOf } from '../../../chains/networks.ts';
import { ACCOUNTS, INTERMEDIATE } from '../../../domain/books.ts';
import { listSendsToFinish } from '../../../store/chain/sends.ts';
import { heldAt } from '../../../store/money/book-comparison.ts';
import { positionsOf } from '../../../store/money/books.ts';
import type { Reader } from '../../../store/plumbing/database.ts';
import { ownAccounts } from '../../outgoing/stray/record-strays.ts';
import type { Difference } from './compare-events.ts';
import { isSame } from './paid-event.ts';

/** Nobody has that many in flight. */
const MAX_SENDS = 500;

export interface BalancesCompared {
  readonly differences: readonly Difference[];
  /** Tokens whose balance cannot be read, in sentences. */
  readonly unreadable: readonly string[];
}

/** Holds the tokens that lie on the intermediate account against the books, at a block that is final. */
export async function compareIntermediate(
  db: Reader,
  connected: ConnectedChain,
  block: number,
): Promise<BalancesCompared> {
  const unreadable: string[] = [];
  const { chain, intermediateAccount } = connected;
  const network = chain.network.chainId;
  const rows = await bookedAt(db, connected, { account: intermediateAccount, block });
  const booked = new Map(rows.map((row) => [row.asset, row]));
  const tokens = assetsOf(network).filter(({ id, pay }) => pay !== undefined && id !== coinOf(network));
  const found = await Promise.all(
    tokens.map(async ({ id: asset }): Promise<Difference[]> => {
      const { units, fees } = booked.get(asset) ?? { units: 0n, fees: 0n };
      const held = await chain.holding(intermediateAccount, asset, block).catch((error: unknown) => {
        // A token that nothing of ours lies in need not be there at all.
        if (!booked.has(asset)) return 0n;
        if (!(error instanceof UnreadableAnswerError)) throw error;
        unreadable.push(`What the intermediate account holds of ${asset} cannot be read: ${error.message}.`);
        return units;
      });
      // Fees are the operator's: what he took of them is no concern of the books.
      if (held <= units && held >= units - fees) return [];
      const message = `The intermediate account holds ${held} of ${asset}; by the books it should be ${units}.`;
      return [{ subject: intermediateAccount, block, transaction: null, message }];
    }),
  );
  return { differences: found.flat(), unreadable };
}

/** How much coin an account of ours has beyond what the books say; below zero is coin that nobody accounts for. */
export interface CoinSurplus {
  readonly account: string;
  readonly surplus: bigint;
}

/** An account one of whose sends became final in the very moment is left out: it is compared next time. */
export async function coinSurpluses(
  db: Reader,
  connected: ConnectedChain,
  block: number,
  accounts: readonly string[] = ownAccounts(connected),
): Promise<CoinSurplus[]> {
  const { chain } = connected;
  const network = chain.network.chainId;
  const open = await listSendsToFinish(db, network, MAX_SENDS);
  const surpluses = await Promise.all(
    accounts.map(async (account) => {
      const hashes = open.flatMap((send) => (send.signer === account ? send.hashes : []));
      const states = await Promise.all(hashes.map((hash) => chain.findTransaction(hash)));
      const burnt = states.flatMap((state) =>
        state.is === 'mined' && state.block.number <= block ? [state.coinSpent] : [],
      );
      const positions = await positionsOf(db, hashes);
      const bookedOf = hashes.map(
        (hash) => positions.get(hash)?.find((line) => line.account === ACCOUNTS.gas(account))?.units ?? 0n,
      );
      const pending = sum(burnt) - sum(bookedOf);
      const rows = await bookedAt(db, connected, { account, block });
      const { units, fees } = rows.find(({ asset }) => asset === coinOf(network)) ?? { units: 0n, fees: 0n };
      const surplus = (await chain.balance(account, block)) - (units - pending);
      // Fees are the operator's to take.
      return { account, hashes, surplus: surplus < 0n && surplus >= -fees ? 0n : surplus };
    }),
  );
  const still = new Set((await listSendsToFinish(db, network, MAX_SENDS)).flatMap(({ hashes }) => hashes));
  return surpluses.filter(({ hashes }) => hashes.every((hash) => still.has(hash)));
}

export function coinShortages(surpluses: readonly CoinSurplus[], block: number): Difference[] {
  return surpluses
    .filter(({ surplus }) => surplus < 0n)
    .map(({ account, surplus }) => ({
      subject: account,
      block,
      transaction: null,
      message: `Account ${account} has ${-surplus} less coin than the books say: it was spent on something they do not know.`,
    }));
}

function bookedAt(
  db: Reader,
  { chain, intermediateAccount, feeAccount }: ConnectedChain,
  { account, block }: { account: string; block: number },
) {
  const { chainId: network } = chain.network;
  const accounts = [ACCOUNTS.relayer(account), ...(isSame(account, intermediateAccount) ? [INTERMEDIATE] : [])];
  return heldAt(db, { network, address: account, block, accounts, hasFees: isSame(account, feeAccount) });
}

function sum(numbers: readonly bigint[]): bigint {
  return numbers.reduce((total, each) => total + each, 0n);
}
