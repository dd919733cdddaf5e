import type { ChainReader } from '../../chains/chain-reader.ts';
import type { ConnectedChain } from '../../chains/chains.ts';
import { isSameAddress } from '../../domain/addresses/families.ts';
import { ACCOUNTS, INTERMEDIATE } from '../../domain/books.ts';
import { sum } from '../../domain/money.ts';
import { listSendsToFinish } from '../../store/chain/sends.ts';
import { heldAt } from '../../store/money/book-comparison.ts';
import { lockBalance, positionsOf } from '../../store/money/books.ts';
import type { Reader, Tx } from '../../store/plumbing/database.ts';
import { askHolding, askReceipt } from '../evidence.ts';
import { intermediateAccounts, ownAccounts } from '../own-accounts.ts';
import type { RowKeyDeps } from '../row-keys.ts';

/**
 * Accounts whose balances are compared with the books as one sum. The intermediate accounts of a network are one place, because the books
 * record them as one account. Only lots, floats and outgoing orders name a single intermediate account. Every other account is a separate
 * place.
 */
export interface BookedPlace {
  /** The address that identifies the place: the first of `accounts`. */
  readonly account: string;
  readonly accounts: readonly string[];
}

/** The balance of a place in one asset at a final block, compared with the books. */
export interface Surplus extends BookedPlace {
  readonly asset: string;
  readonly block: number;
  readonly booked: bigint;
  /** The balance on chain less the balance in the books. Negative if units left for a reason that is not in the books. */
  readonly surplus: bigint;
}

/** The place that contains all intermediate accounts of a network, former ones included. The present intermediate account identifies it. */
export async function intermediatePlace(
  deps: RowKeyDeps & { readonly db: { readonly sql: Reader } },
  connected: ConnectedChain,
): Promise<BookedPlace> {
  const { chain, intermediateAccount: account } = connected;
  const { chainId } = chain.network;
  const known = await intermediateAccounts(deps, connected);
  const others = known.filter((other) => !isSameAddress(chainId, other, account));
  return { account, accounts: [account, ...others] };
}

/** All places of a network, the place of the intermediate accounts first. */
export async function ownPlaces(
  deps: RowKeyDeps & { readonly db: { readonly sql: Reader } },
  connected: ConnectedChain,
): Promise<BookedPlace[]> {
  const [shared, own] = await Promise.all([intermediatePlace(deps, connected), ownAccounts(deps, connected)]);
  const { chainId } = connected.chain.network;
  const single = own.filter((account) => !shared.accounts.some((other) => isSameAddress(chainId, other, account)));
  return [shared, ...single.map((account) => ({ account, accounts: [account] }))];
}

/**
 * The surplus of native coin of each entry of `places`: one account on chain of ours, or all intermediate accounts of the network together.
 * An entry is left out if a transaction from one of its accounts became final while the balances were read. The next call includes it.
 */
export async function coinSurpluses(
  db: Reader,
  connected: ConnectedChain,
  block: number,
  places: readonly BookedPlace[],
): Promise<Surplus[]> {
  const { chain } = connected;
  const network = chain.network.chainId;
  const asset = connected.chain.network.coin.id;
  const surpluses = await Promise.all(
    places.map(async ({ account, accounts }) => {
      const burnt = await Promise.all(accounts.map((each) => unbookedGas(db, chain.reader, { account: each, block })));
      const hashes = burnt.flatMap((each) => each.hashes);
      const pending = sum(burnt.map(({ units }) => units));
      const { units: booked, fees } = await bookedAt(db, connected, { accounts, asset, block });
      const held = await Promise.all(accounts.map((each) => askHolding(chain.reader, { account: each, asset, block })));
      const surplus = sum(held) - (booked - pending);
      // The operator may withdraw fees at any time, so a balance that is lower by at most the fees is no shortage.
      return {
        account,
        accounts,
        asset,
        block,
        booked,
        hashes,
        surplus: surplus < 0n && surplus >= -fees ? 0n : surplus,
      };
    }),
  );
  const still = new Set((await listSendsToFinish(db, network)).flatMap(({ hashes }) => hashes));
  return surpluses.filter(({ hashes }) => hashes.every((hash) => still.has(hash)));
}

/** The gas that an account has spent up to a block and that is not booked yet, with the transactions that may have spent it. */
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

/** The surplus of a token on the intermediate accounts. */
export async function tokenSurplus(
  db: Reader,
  connected: ConnectedChain,
  { place, asset, block }: { place: BookedPlace; asset: string; block: number },
): Promise<Surplus> {
  const { chain } = connected;
  const { account, accounts } = place;
  const { units: booked } = await bookedAt(db, connected, { accounts, asset, block });
  const held = await Promise.all(accounts.map((each) => askHolding(chain.reader, { account: each, asset, block })));
  return { account, accounts, asset, block, booked, surplus: sum(held) - booked };
}

/**
 * True if the books still have the balance that a surplus was computed from. Locks account and asset until the database transaction
 * ends, so that two database transactions cannot book the same surplus.
 */
export async function isStillBooked(
  tx: Tx,
  connected: ConnectedChain,
  { account, accounts, asset, block, booked }: Surplus,
): Promise<boolean> {
  await lockBalance(tx, ACCOUNTS.relayer(account), asset);
  return (await bookedAt(tx, connected, { accounts, asset, block })).units === booked;
}

/** The balance of a place at a block according to the books, and the part of it that is fees. */
async function bookedAt(
  db: Reader,
  connected: ConnectedChain,
  { asset, ...place }: { accounts: readonly string[]; asset: string; block: number },
): Promise<{ units: bigint; fees: bigint }> {
  const rows = await allBookedAt(db, connected, place);
  return rows.find((row) => row.asset === asset) ?? { units: 0n, fees: 0n };
}

/** The balances and fees of every asset that the books have on the place. */
export function allBookedAt(
  db: Reader,
  { chain, intermediateAccount, feeAccount }: ConnectedChain,
  { accounts: addresses, block }: { accounts: readonly string[]; block: number },
) {
  const { chainId: network } = chain.network;
  const isAmong = (other: string) => addresses.some((address) => isSameAddress(network, address, other));
  const accounts = [
    ...addresses.map(ACCOUNTS.relayer),
    ...(isAmong(intermediateAccount) ? [INTERMEDIATE] : []),
    ...addresses.map(ACCOUNTS.missing),
  ];
  return heldAt(db, { network, addresses, block, accounts, hasFees: isAmong(feeAccount) });
}
