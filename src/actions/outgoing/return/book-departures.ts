import { amountText } from '../../../chains/amount-text.ts';
import type { Incoming } from '../../../chains/chain-reader.ts';
import type { ConnectedChain } from '../../../chains/chains.ts';
import type { Registry, RegistryDeps } from '../../../chains/registry.ts';
import { isSameAddress } from '../../../domain/addresses/families.ts';
import { ACCOUNTS, OPERATOR_FLOAT } from '../../../domain/books.ts';
import { type Departed, departedEntry } from '../../../domain/departure.ts';
import type { Log } from '../../../runtime/world.ts';
import { type AccountMovement, lockLacking, setDeparted, setLacking } from '../../../store/chain/account-movements.ts';
import { listEventsOfItems } from '../../../store/chain/chain-events.ts';
import { lockBalance, positionsOf } from '../../../store/money/books.ts';
import { changeFloats, lockFloats } from '../../../store/money/floats.ts';
import { deleteAlert, upsertAlert } from '../../../store/plumbing/alerts.ts';
import { appendAudit } from '../../../store/plumbing/audit-log.ts';
import type { Reader, Tx } from '../../../store/plumbing/database.ts';
import { recordEntries } from '../../books/record.ts';
import { intermediateAccounts } from '../../own-accounts.ts';
import type { RowKeyDeps } from '../../row-keys.ts';
import { isElsewhere } from '../float/take-from-floats.ts';
import type { OwnedTransfer } from './owned-transfer.ts';

type TransferKey = Pick<Incoming, 'transactionHash' | 'logIndex'>;

/** Identifies a departure in the books and in its alert. */
export function departureKey(network: string, { transactionHash, logIndex }: TransferKey): string {
  return `${network}:${transactionHash}:${logIndex}`;
}

/**
 * Selects departures: transfers out of accounts in the books that the gateway did not order, such as a withdrawal with the
 * account's key, or a burn by the token's issuer. Tokens on relayers are not in the books. Transfers by our contracts are skipped
 * even if the database does not know them: their rows may have been lost in a restore, and `rebuild` recreates them.
 */
export async function departuresAmong(
  deps: RowKeyDeps & { readonly db: { readonly sql: Reader } },
  connected: ConnectedChain,
  owned: readonly OwnedTransfer[],
): Promise<Incoming[]> {
  const unordered = owned.flatMap(({ transfer, ends }) =>
    ends.from.some(({ owner }) => owner.is === 'nobody') ? [transfer] : [],
  );
  if (unordered.length === 0) return [];
  const accounts = new Set(await intermediateAccounts(deps, connected));
  const network = connected.chain.network.chainId;
  const events = await listEventsOfItems(deps.db.sql, network, [
    ...new Set(unordered.map((each) => each.transactionHash)),
  ]);
  return unordered.filter(
    ({ transactionHash, from, asset }) =>
      accounts.has(from) &&
      !events.some(
        (event) =>
          event.transactionHash === transactionHash &&
          event.type === 'paid' &&
          event.collector === null &&
          event.asset === asset &&
          isSameAddress(network, event.payer, from),
      ),
  );
}

/**
 * Books departures in the order of the chain, also those from earlier intermediate accounts. A departure is charged to the operator's
 * fees if they are on the same account, then to the operator's float there. The rest belonged to merchants: it is booked as missing, and
 * the solvency check freezes the asset until the operator replaces the amount.
 */
export async function bookDepartures(
  tx: Tx,
  deps: RegistryDeps & { readonly log: Log },
  connected: ConnectedChain,
  departures: readonly Incoming[],
  at: Date,
): Promise<void> {
  if (departures.length === 0) return;
  const network = connected.chain.network.chainId;
  const booked = await positionsOf(
    tx,
    departures.map((each) => departureKey(network, each)),
  );
  for (const departure of departures) {
    if (booked.has(departureKey(network, departure))) continue;
    const parts = await bookDeparture(tx, connected, departure, at);
    await reportDeparture(tx, deps, { network, departure, parts }, at);
  }
}

async function bookDeparture(tx: Tx, connected: ConnectedChain, departure: Incoming, at: Date): Promise<Departed> {
  const network = connected.chain.network.chainId;
  const { asset, from: account, amount, transactionHash: transaction, block } = departure;
  const reference = departureKey(network, departure);
  const parts = await partsOf(tx, { asset, account, amount, hasFees: mayHaveFees(connected, account) });
  const { fees, operatorFloat, missing } = parts;
  const change = { owner: OPERATOR_FLOAT, network, asset, kind: 'departed', subject: reference } as const;
  await changeFloats(tx, [{ ...change, units: -operatorFloat }], at);
  const about = { network, asset, subject: account, reference, merchantId: null };
  await recordEntries(tx, [departedEntry(about, parts, { account, transaction, block: block.number })], at);
  await setDeparted(tx, network, departure, { fromFees: fees, fromFloat: operatorFloat, lacking: missing });
  return parts;
}

/**
 * True if fees may be on the account: it is the fee account, or an earlier intermediate account while the present one is the fee account.
 */
function mayHaveFees({ chain, feeAccount, intermediateAccount }: ConnectedChain, account: string): boolean {
  const isSame = (one: string, other: string) => isSameAddress(chain.network.chainId, one, other);
  return (
    isSame(feeAccount, account) || (isSame(feeAccount, intermediateAccount) && !isSame(account, intermediateAccount))
  );
}

async function reportDeparture(
  tx: Tx,
  { registry, log }: RegistryDeps & { readonly log: Log },
  { network, departure, parts }: { readonly network: string; readonly departure: Incoming; readonly parts: Departed },
  at: Date,
): Promise<void> {
  const { asset, from: account, to, amount, transactionHash } = departure;
  const message = `${amountText(registry, asset, amount)} left ${account} for ${to} in transaction ${transactionHash}, and nobody ordered it. ${borneText(registry, asset, parts)}`;
  await upsertAlert(tx, { name: 'money_left', subject: departureKey(network, departure), message, lastSeen: at });
  const detail = { asset, amount: `${amount}`, to, transactionHash, missing: `${parts.missing}` };
  await appendAudit(tx, { at, actor: 'watcher', action: 'money.left', subject: account, detail });
  log.error(
    { network, account, asset, amount: `${amount}`, transaction: transactionHash },
    'money left without an order',
  );
}

function borneText(registry: Registry, asset: string, { fees, operatorFloat, missing }: Departed): string {
  if (missing === 0n) return 'The fees and the float of the operator bear it.';
  const borne = amountText(registry, asset, fees + operatorFloat);
  const lack = amountText(registry, asset, missing);
  return `The fees and the float of the operator bear ${borne}; ${lack} of others are missing. Transfer them back, then run till float add --operator.`;
}

async function partsOf(
  tx: Tx,
  ask: { readonly asset: string; readonly account: string; readonly amount: bigint; readonly hasFees: boolean },
): Promise<Departed> {
  const { asset, account, amount, hasFees } = ask;
  const [float] = await lockFloats(tx, asset, [OPERATOR_FLOAT]);
  const fees = hasFees ? least(amount, await lockBalance(tx, ACCOUNTS.fees, asset)) : 0n;
  const has = float === undefined || isElsewhere(float, account) ? 0n : BigInt(float.units);
  const operatorFloat = least(amount - fees, has);
  return { fees, operatorFloat, missing: amount - fees - operatorFloat };
}

/** The units of operator money that replace missing money of an account. */
export interface Filled {
  readonly account: string;
  readonly units: bigint;
}

/**
 * Replaces money that departures left missing, and returns the units used for each account. The account that received the units comes
 * first. The other accounts follow, because the books compare all our accounts of a network together, and the operator cannot safely send
 * money to an account whose key was stolen.
 */
export async function fillDepartures(
  tx: Tx,
  ask: { readonly network: string; readonly asset: string; readonly account: string; readonly units: bigint },
): Promise<readonly Filled[]> {
  const { network, asset, account, units } = ask;
  const lacking = await lockLacking(tx, { asset, account, limit: MAX_FILLED });
  const filled: Filled[] = [];
  let left = units;
  for (const [sender, departures] of Map.groupBy(lacking, (each) => each.sender)) {
    // The books determine how much is missing from the account. The rows of departures only show how this amount is divided among them.
    const most = least(left, -(await lockBalance(tx, ACCOUNTS.missing(sender), asset)));
    const taken = await fillEach(tx, network, { departures, units: most });
    left -= taken;
    if (taken > 0n) filled.push({ account: sender, units: taken });
  }
  return filled;
}

/** Fills the oldest departures first. Returns the units used. */
async function fillEach(
  tx: Tx,
  network: string,
  { departures, units }: { readonly departures: readonly AccountMovement[]; readonly units: bigint },
): Promise<bigint> {
  let left = units;
  for (const departure of departures) {
    const part = least(left, BigInt(departure.lacking));
    if (part === 0n) break;
    const rest = BigInt(departure.lacking) - part;
    await setLacking(tx, network, departure, rest);
    if (rest === 0n) await deleteAlert(tx, { name: 'money_left', subject: departureKey(network, departure) });
    left -= part;
  }
  return units - left;
}

/**
 * The bound of departures that are read at once. Departures are rare: only the holder of the account's key or the token's issuer can
 * cause one.
 */
const MAX_FILLED = 1_000;

function least(a: bigint, b: bigint): bigint {
  const smaller = a < b ? a : b;
  return smaller > 0n ? smaller : 0n;
}
