import type { ChainReader } from '../../chains/chain-reader.ts';
import type { ConnectedChain } from '../../chains/chains.ts';
import { isSameAddress } from '../../domain/addresses/families.ts';
import { ACCOUNTS, INTERMEDIATE } from '../../domain/books.ts';
import { listSendsToFinish } from '../../store/chain/sends.ts';
import { heldAt } from '../../store/money/book-comparison.ts';
import { lockBalance, positionsOf } from '../../store/money/books.ts';
import type { Reader, Tx } from '../../store/plumbing/database.ts';
import { askHolding, askReceipt } from '../evidence.ts';

/** The balance of one of our accounts in one asset at a final block, compared with the books. */
export interface Surplus {
  readonly account: string;
  readonly asset: string;
  readonly block: number;
  readonly booked: bigint;
  /** The balance on chain less the balance in the books. Negative if units left for a reason that is not in the books. */
  readonly surplus: bigint;
}

/**
 * Surpluses of native coin on these accounts. Skips an account if one of its sends became final meanwhile; the next call includes
 * it.
 */
export async function coinSurpluses(
  db: Reader,
  connected: ConnectedChain,
  block: number,
  accounts: readonly string[],
): Promise<Surplus[]> {
  const { chain } = connected;
  const network = chain.network.chainId;
  const asset = connected.chain.network.coin.id;
  const surpluses = await Promise.all(
    accounts.map(async (account) => {
      const { hashes, units: pending } = await unbookedGas(db, chain.reader, { account, block });
      const { units: booked, fees } = await bookedAt(db, connected, { account, asset, block });
      const surplus = (await askHolding(chain.reader, { account, asset, block })) - (booked - pending);
      // The operator may withdraw fees at any time, so a lack of at most the fees is no shortage.
      return { account, asset, block, booked, hashes, surplus: surplus < 0n && surplus >= -fees ? 0n : surplus };
    }),
  );
  const still = new Set((await listSendsToFinish(db, network)).flatMap(({ hashes }) => hashes));
  return surpluses.filter(({ hashes }) => hashes.every((hash) => still.has(hash)));
}

/** Gas of an account that is mined up to a block and not booked yet, with the transactions that may have spent it. */
export async function unbookedGas(
  db: Reader,
  reader: ChainReader,
  { account, block }: { readonly account: string; readonly block: number },
): Promise<{ readonly hashes: readonly string[]; readonly units: bigint }> {
  const open = await listSendsToFinish(db, reader.network.chainId);
  const hashes = open.flatMap((send) => (send.signer === account ? send.hashes : []));
  const receipts = await Promise.all(hashes.map((hash) => askReceipt(reader, hash)));
  const burnt = receipts.flatMap((receipt) =>
    receipt !== undefined && receipt.block.number <= block ? [receipt.coinSpent] : [],
  );
  const positions = await positionsOf(db, hashes);
  const booked = hashes.map(
    (hash) => positions.get(hash)?.find((line) => line.account === ACCOUNTS.gas(account))?.units ?? 0n,
  );
  return { hashes, units: sum(burnt) - sum(booked) };
}

/** The surplus of a token on the intermediate account. */
export async function tokenSurplus(
  db: Reader,
  connected: ConnectedChain,
  { asset, block }: { asset: string; block: number },
): Promise<Surplus> {
  const { chain, intermediateAccount: account } = connected;
  const { units: booked } = await bookedAt(db, connected, { account, asset, block });
  const held = await askHolding(chain.reader, { account, asset, block });
  return { account, asset, block, booked, surplus: held - booked };
}

/**
 * True if the books still have the balance that a surplus was computed from. Locks account and asset until the transaction ends, so
 * that two transactions cannot book the same surplus.
 */
export async function isStillBooked(
  tx: Tx,
  connected: ConnectedChain,
  { account, asset, block, booked }: Surplus,
): Promise<boolean> {
  await lockBalance(tx, ACCOUNTS.relayer(account), asset);
  return (await bookedAt(tx, connected, { account, asset, block })).units === booked;
}

/** The balance of an account at a block according to the books, and the part of it that is fees. */
async function bookedAt(
  db: Reader,
  connected: ConnectedChain,
  { asset, ...place }: { account: string; asset: string; block: number },
): Promise<{ units: bigint; fees: bigint }> {
  const rows = await allBookedAt(db, connected, place);
  return rows.find((row) => row.asset === asset) ?? { units: 0n, fees: 0n };
}

/** The balances and fees of every asset that the books have on the account. */
export function allBookedAt(
  db: Reader,
  { chain, intermediateAccount, feeAccount }: ConnectedChain,
  { account, block }: { account: string; block: number },
) {
  const { chainId: network } = chain.network;
  const isAccount = (other: string) => isSameAddress(network, account, other);
  const accounts = [
    ACCOUNTS.relayer(account),
    ...(isAccount(intermediateAccount) ? [INTERMEDIATE] : []),
    ACCOUNTS.missing(account),
  ];
  return heldAt(db, { network, address: account, block, accounts, hasFees: isAccount(feeAccount) });
}

function sum(numbers: readonly bigint[]): bigint {
  return numbers.reduce((total, each) => total + each, 0n);
}
