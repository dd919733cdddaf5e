import { ChainUnavailableError } from '../../../chains/chain-errors.ts';
import type { Incoming } from '../../../chains/chain-reader.ts';
import type { Chains, ConnectedChain } from '../../../chains/chains.ts';
import { isSmall, loneCeilingOf } from '../../../chains/finality.ts';
import type { Network } from '../../../chains/network.ts';
import { coinOf, type Registry, type RegistryDeps } from '../../../chains/registry.ts';
import { floatAddedEntry, OPERATOR_FLOAT } from '../../../domain/books.ts';
import { missingFilledEntry } from '../../../domain/departure.ts';
import { ApiError } from '../../../errors.ts';
import { findCursors } from '../../../store/chain/chain-cursors.ts';
import { changeFloats, lockFloats } from '../../../store/money/floats.ts';
import {
  findUnexpectedCursor,
  insertUnexpected,
  moveUnexpected,
  type NewUnexpectedMoney,
} from '../../../store/money/unexpected-money.ts';
import { findMerchantOfAnyPartner } from '../../../store/parties/merchants.ts';
import { appendAudit } from '../../../store/plumbing/audit-log.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import {
  coinSurpluses,
  intermediatePlace,
  isStillBooked,
  type Surplus,
  tokenSurplus,
} from '../../books/account-surplus.ts';
import { recordEntries } from '../../books/record.ts';
import { type CommandDeps, command } from '../../command.ts';
import { askTransfers } from '../../evidence.ts';
import { intermediateAccounts, ownAccounts } from '../../own-accounts.ts';
import { merchantNotFound } from '../../parties/change-merchant.ts';
import type { RowKeyDeps } from '../../row-keys.ts';
import { fillDepartures } from '../return/book-departures.ts';
import { unexpectedOf, unownedOf } from '../return/record-unexpected-transfers.ts';
import { refuseSpentCoin } from '../return/refuse-spent-coin.ts';
import { endStrayAlert } from '../return/stray-alert.ts';
import { aboutUnexpected, isMixedCoin, unexpectedReceivedEntries } from '../return/unexpected-entries.ts';
import { isElsewhere } from './take-from-floats.ts';

export interface AddFloatInput {
  /** The owner of the float: a merchant's id, or the operator. */
  readonly owner: string;
  /** The CAIP-19 id of the asset. */
  readonly asset: string;
  readonly transactionHash: string;
  readonly actor: string;
}

/**
 * Credits a float with the transfers that one transaction on chain made to the intermediate account, or, for tokens, to an earlier one. A
 * repeated call credits nothing more: each transfer has one row of unexpected money, and the row can be claimed only once.
 */
export async function addFloat(
  deps: CommandDeps & RowKeyDeps & { chains: Chains },
  input: AddFloatInput,
): Promise<bigint> {
  const connected = connectedOf(deps.chains, input.asset);
  const intermediates = await intermediateAccounts(deps, connected);
  const transfers = await transfersOf(deps, connected, { ...input, intermediates }).catch(asRefusal);
  const block = Math.max(...transfers.map((transfer) => transfer.block.number));
  const surplus = await surplusWith(deps, connected, { asset: input.asset, block }).catch(asRefusal);
  return command(deps, async (tx, now) => {
    if (surplus !== undefined && !(await isStillBooked(tx, connected, surplus)))
      throw refused('The books of the account have just changed: try again.');
    if (input.owner !== OPERATOR_FLOAT) {
      const merchant = await findMerchantOfAnyPartner(tx, input.owner);
      if (merchant === undefined) throw merchantNotFound(input.owner);
    }
    const unexpectedMoney = transfers.map((transfer) => unexpectedOf(connected, intermediates, transfer, 'float'));
    const isNew = new Set(await insertUnexpected(tx, unexpectedMoney, now));
    const unknown = unexpectedMoney.filter(({ id }) => isNew.has(id));
    const isBooked =
      unknown.length > 0 && surplus !== undefined && isBookedCoin(deps.registry, surplus, unitsOf(unknown));
    let units = 0n;
    for (const unexpected of unexpectedMoney) {
      const place = isNew.has(unexpected.id) ? (isBooked ? 'account' : 'nowhere') : 'unexpected';
      if (await claim(tx, unexpected, { place, owner: input.owner }, now)) units += BigInt(unexpected.amount);
    }
    if (units === 0n) throw refused('What this transaction transferred has been credited or returned before.');
    const { owner, asset, actor, transactionHash } = input;
    const detail = { asset, units: units.toString(), transactionHash };
    await appendAudit(tx, { at: now, actor, action: 'float.added', subject: owner, detail });
    return units;
  });
}

/**
 * The units that the account holds beyond the books. They are needed for a transfer that may be part of an opening balance, which has no
 * row of unexpected money. Undefined if the transfer cannot be part of one: the watcher has not read its block yet, or it brought a token
 * after the books began.
 */
async function surplusWith(
  deps: CommandDeps & RowKeyDeps,
  connected: ConnectedChain,
  transfer: { readonly asset: string; readonly block: number },
): Promise<Surplus | undefined> {
  const { chain } = connected;
  const { chainId: network, finality } = chain.network;
  const { asset } = transfer;
  const { db } = deps;
  const place = await intermediatePlace(deps, connected);
  const read = (await findCursors(db.sql)).find((cursor) => cursor.network === network)?.finalNumber;
  if (read !== undefined && transfer.block > read) return undefined;
  const block = read ?? (await chain.reader.head()).number - (finality?.depth ?? 1) + 1;
  if (asset === connected.chain.network.coin.id) {
    const [surplus] = await coinSurpluses(db.sql, connected, block, [place]);
    if (surplus === undefined) throw refused('A transaction of the account has just become final: try again.');
    return surplus;
  }
  const begunAt = (await findUnexpectedCursor(db.sql, network))?.begunAt;
  if (begunAt !== undefined && transfer.block > begunAt) return undefined;
  return tokenSurplus(db.sql, connected, { place, asset, block });
}

/** True if the books already count these units as the account's own coin. Throws for a token whose units are no longer on the account. */
function isBookedCoin(registry: Registry, { asset, surplus }: Surplus, units: bigint): boolean {
  if (surplus >= units) return false;
  const [network = ''] = asset.split('/');
  if (asset === coinOf(registry, network)) return true;
  const more = surplus > 0n ? surplus : 0n;
  throw refused(
    `The transfer came before the books began, and the intermediate account holds only ${more} of it more than the books say: the rest has left.`,
  );
}

/**
 * Moves the amount of a transfer, in the books, from its present account to a float. Returns false if the transfer was credited to a
 * float before, or was returned.
 */
async function claim(
  tx: Tx,
  unexpected: NewUnexpectedMoney,
  { place, owner }: { place: 'nowhere' | 'account' | 'unexpected'; owner: string },
  at: Date,
): Promise<boolean> {
  const { id, network, asset } = unexpected;
  if (place === 'unexpected' && !(await moveUnexpected(tx, { id, from: 'unclaimed', to: 'float', at }))) return false;
  if (place !== 'nowhere' && isMixedCoin(unexpected)) await refuseSpentCoin(tx, unexpected);
  const units = BigInt(unexpected.amount);
  const proof = { transaction: unexpected.transactionHash ?? '', block: unexpected.blockNumber };
  const about = { ...aboutUnexpected(unexpected), merchantId: owner === OPERATOR_FLOAT ? null : owner };
  const moved = place === 'nowhere' ? [] : unexpectedReceivedEntries(unexpected, -units, proof);
  const { account } = unexpected;
  // A credit by the operator first replaces the money that departures took from merchants.
  const filled = owner === OPERATOR_FLOAT ? await fillDepartures(tx, { network, asset, account, units }) : [];
  const added = filled.reduce((left, part) => left - part.units, units);
  if (added > 0n) await refuseElsewhere(tx, { owner, asset, account });
  await changeFloats(tx, [{ owner, network, asset, units: added, kind: 'added', subject: id, account }], at);
  const entries = [
    ...filled.map((part) => missingFilledEntry(about, part.account, part.units, proof)),
    ...(added > 0n ? [floatAddedEntry(about, owner, added, proof)] : []),
  ];
  await recordEntries(tx, [...moved, ...entries], at);
  await endStrayAlert(tx, unexpected);
  return true;
}

/** Throws if the owner's float is on another account, because the whole float of an owner must be on one account. */
async function refuseElsewhere(
  tx: Tx,
  { owner, asset, account }: { readonly owner: string; readonly asset: string; readonly account: string },
): Promise<void> {
  const [float] = await lockFloats(tx, asset, [owner]);
  if (float === undefined || !isElsewhere(float, account)) return;
  throw refused(
    `The float of ${owner} is on the account ${float.account}. Move its money to ${account} by a transfer: the float follows.`,
  );
}

function unitsOf(unexpectedMoney: readonly NewUnexpectedMoney[]): bigint {
  return unexpectedMoney.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
}

/** The transfers of the transaction that enough endpoints report, in a block of final depth. */
async function transfersOf(
  deps: CommandDeps & RowKeyDeps,
  connected: ConnectedChain,
  { asset, transactionHash, intermediates }: AddFloatInput & { readonly intermediates: readonly string[] },
): Promise<readonly Incoming[]> {
  const { db } = deps;
  const { chain, intermediateAccount } = connected;
  const network = chain.network.chainId;
  const state = await chain.sender.findTransaction(transactionHash);
  if (state.is === 'unknown') throw refused('The chain knows no such transaction.');
  if (state.is === 'pending') throw refused('The transaction has not been mined yet: try again when it has.');
  const { transfers, isFinal, isAlone } = await askTransfers(chain.reader, transactionHash);
  if (!isFinal) throw refused('The transaction does not lie deep enough yet: try again soon.');
  const isCoin = asset === coinOf(deps.registry, network);
  const places = isCoin ? [intermediateAccount] : intermediates;
  const arrived = transfers.filter((transfer) => places.includes(transfer.to) && transfer.asset === asset);
  // The events of the same block show which transfers belong to payments, so the block must have been read.
  const read = (await findCursors(db.sql)).find((cursor) => cursor.network === network)?.finalNumber ?? -1;
  const isUnread = !isCoin && arrived.some(({ block }) => block.number > read);
  const accounts = new Set(await ownAccounts(deps, connected));
  const found = isCoin ? arrived : await unownedOf(db.sql, { network, accounts }, arrived);
  if (isUnread || found === undefined) {
    throw refused('The gateway has not read the block of the transaction yet: try again soon.');
  }
  if (arrived.length > 0 && found.length === 0) throw refused('The transaction belongs to payments of this gateway.');
  if (isAlone) refuseLarge(deps, chain.network, found);
  if (found.length === 0) {
    throw refused(
      `The transaction transfers nothing of that asset to the intermediate account ${intermediateAccount}.`,
    );
  }
  return found;
}

/** Throws if one of these amounts is too large to trust a single endpoint, which could have invented the transfer. */
export function refuseLarge(
  deps: RegistryDeps,
  network: Network,
  amounts: readonly { readonly asset: string; readonly amount: bigint }[],
) {
  const isLarge = amounts.some(({ asset, amount }) => !isSmall(deps, network, { asset, amount: amount.toString() }));
  if (isLarge) {
    throw refused(
      `Only one endpoint of ${network.name} shows this transfer, and it is above ${loneCeilingOf(network)} tokens: ` +
        'name a second endpoint in RPC_URLS, or raise SINGLE_ENDPOINT_CEILING.',
    );
  }
}

export function connectedOf(chains: Chains, asset: string): ConnectedChain {
  const [network = ''] = asset.split('/');
  const connected = chains.find(network);
  if (connected === undefined) throw refused(`RPC_URLS does not name the network of ${asset}.`);
  return connected;
}

function refused(message: string): ApiError {
  return new ApiError('invalid_state', message);
}

function asRefusal(error: unknown): never {
  if (error instanceof ChainUnavailableError) throw refused(`The chain could not be asked: ${error.message}.`);
  throw error;
}
