import type { ConnectedChain } from '../../chains/chains.ts';
import { coinOf } from '../../chains/coin.ts';
import { assetsOf } from '../../chains/networks.ts';
import { ACCOUNTS } from '../../domain/books.ts';
import { heldAt, intermediateAt } from '../../store/book-comparison.ts';
import { positionsOf } from '../../store/books.ts';
import type { Reader } from '../../store/database.ts';
import { listSendsToFinish } from '../../store/sends.ts';
import type { Difference } from './compare-events.ts';

/** Nobody has that many in flight. */
const MAX_SENDS = 500;

/** Holds what lies on the intermediate account against the books, asset by asset, at a block that is final. */
export async function compareIntermediate(
  db: Reader,
  { chain, intermediateAccount, feeAccount }: ConnectedChain,
  block: number,
): Promise<Difference[]> {
  const network = chain.network.chainId;
  const hasFees = feeAccount.toLowerCase() === intermediateAccount.toLowerCase();
  const rows = await intermediateAt(db, { network, address: intermediateAccount, block, hasFees });
  const booked = new Map(rows.map((row) => [row.asset, row]));
  const assets = assetsOf(network).flatMap(({ id, pay }) => (pay === undefined ? [] : [id]));
  const found = await Promise.all(
    assets.map(async (asset): Promise<Difference[]> => {
      const { units, fees } = booked.get(asset) ?? { units: 0n, fees: 0n };
      const held = await chain.holding(intermediateAccount, asset, block).catch((error: unknown) => {
        // A token that nothing of ours lies in need not be there at all.
        if (booked.has(asset)) throw error;
        return 0n;
      });
      // Coin beyond what is booked is there to pay for the gas of payouts in coin.
      if (asset === coinOf(network) && held >= units) return [];
      // Fees are the operator's: what he took of them is no concern of the books.
      if (held <= units && held >= units - fees) return [];
      const message = `The intermediate account holds ${held} of ${asset}; by the books it should be ${units}.`;
      return [{ subject: intermediateAccount, block, transaction: null, message }];
    }),
  );
  return found.flat();
}

/** How much coin a relayer has beyond what the books say it has; below zero is coin that nobody accounts for. */
export interface RelayerSurplus {
  readonly signer: string;
  readonly surplus: bigint;
}

/** A relayer one of whose sends became final in the very moment is left out: it is compared next time. */
export async function relayerSurpluses(
  db: Reader,
  { chain, relayers }: ConnectedChain,
  block: number,
): Promise<RelayerSurplus[]> {
  const network = chain.network.chainId;
  const open = await listSendsToFinish(db, network, MAX_SENDS);
  const surpluses = await Promise.all(
    relayers.map(async ({ address: signer }) => {
      const hashes = open.flatMap((send) => (send.signer === signer ? send.hashes : []));
      const states = await Promise.all(hashes.map((hash) => chain.findTransaction(hash)));
      const burnt = states.flatMap((state) =>
        state.is === 'mined' && state.block.number <= block ? [state.coinSpent] : [],
      );
      const positions = await positionsOf(db, hashes);
      const bookedOf = hashes.map(
        (hash) => positions.get(hash)?.find(({ account }) => account === ACCOUNTS.gas(signer))?.units ?? 0n,
      );
      const pending = sum(burnt) - sum(bookedOf);
      const rows = await heldAt(db, { network, accounts: ACCOUNTS.relayer(signer), block });
      const booked = rows.find(({ asset }) => asset === coinOf(network))?.units ?? 0n;
      return { signer, hashes, surplus: (await chain.balance(signer, block)) - (booked - pending) };
    }),
  );
  const still = new Set((await listSendsToFinish(db, network, MAX_SENDS)).flatMap(({ hashes }) => hashes));
  return surpluses.filter(({ hashes }) => hashes.every((hash) => still.has(hash)));
}

export function relayerShortages(surpluses: readonly RelayerSurplus[], block: number): Difference[] {
  return surpluses
    .filter(({ surplus }) => surplus < 0n)
    .map(({ signer, surplus }) => ({
      subject: signer,
      block,
      transaction: null,
      message: `Relayer ${signer} has ${-surplus} less coin than the books say: it was spent on something they do not know.`,
    }));
}

function sum(numbers: readonly bigint[]): bigint {
  return numbers.reduce((total, each) => total + each, 0n);
}
