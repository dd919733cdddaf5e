import type { Chains, ConnectedChain } from '../chains/chains.ts';
import { addressKey, isSameAddress } from '../domain/addresses/families.ts';
import { ACCOUNTS, INTERMEDIATE } from '../domain/books.ts';
import type { MacFields } from '../domain/row-mac.ts';
import { ApiError } from '../errors.ts';
import type { Log } from '../runtime/world.ts';
import type { AccountState } from '../store/chain/account-states.ts';
import {
  insertOwnAccounts,
  listOwnAccounts,
  lockAllOwnAccounts,
  type OwnAccount,
  setOwnAccountMacs,
} from '../store/chain/own-accounts.ts';
import { listBalances } from '../store/money/books.ts';
import { nameFloatAccounts } from '../store/money/floats.ts';
import { appendAudit } from '../store/plumbing/audit-log.ts';
import type { Reader, Tx } from '../store/plumbing/database.ts';
import { lockName } from '../store/plumbing/locks.ts';
import { isRetired, readAccountStates } from './account-states.ts';
import { createAlarms } from './alarms.ts';
import { type CommandDeps, command } from './command.ts';
import { type Pages, renewMacs } from './renew-macs.ts';
import { macsOf, type RowKeyDeps } from './row-keys.ts';

/**
 * Every account that was ever ours has a row with a MAC. The settings name only the present accounts, but the chain keeps the
 * transactions of earlier ones.
 */

const TABLE = 'own_accounts';

type AccountFields = Omit<OwnAccount, 'mac'>;

const { macOf, withMac, isOwn } = macsOf(TABLE, fieldsOf);
export const isOwnAccount = isOwn;

export class OtherIntermediateError extends Error {
  constructor({ network, stored, configured, held }: OtherIntermediate) {
    super(
      `INTERMEDIATE_ACCOUNT on ${network} is ${configured}, and the books hold money on ${stored}: ${held.join(', ')}. ` +
        `Configure ${stored} again and empty it: register destinations of the merchants, to which held money is paid out, and run ` +
        'till float return and till strays return; till books balances shows the rest. Or keep its key in OTHER_INTERMEDIATE_KEYS and ' +
        `run till accounts rotate ${network}:${configured}: then it is emptied in operation. If the money was moved by hand, or the ` +
        `database was restored from a backup older than the change, run till accounts adopt ${network}:${configured}.`,
    );
    this.name = 'OtherIntermediateError';
  }
}

/** Thrown if the settings name an account that an operator has retired. */
export class RetiredAccountError extends Error {
  override readonly name = 'RetiredAccountError';
}

interface OtherIntermediate {
  readonly network: string;
  readonly stored: string;
  readonly configured: string;
  /** Accounts of the books with a balance other than zero. */
  readonly held: readonly string[];
}

interface ReadDeps extends RowKeyDeps {
  readonly db: { readonly sql: Reader };
}

/** All accounts of ours on a network: the configured ones and all earlier ones. */
export async function ownAccounts({ db, rowKeys }: ReadDeps, connected: ConnectedChain): Promise<string[]> {
  const stored = await storedAccounts(db.sql, { rowKeys }, connected.chain.network.chainId);
  return unique([...knownAccounts(connected), ...stored]).map(({ address }) => address);
}

/**
 * All intermediate accounts of a network: the configured ones and all earlier ones. Money of the books is, was or will be on one of them.
 */
export async function intermediateAccounts({ db, rowKeys }: ReadDeps, connected: ConnectedChain): Promise<string[]> {
  const stored = await storedAccounts(db.sql, { rowKeys }, connected.chain.network.chainId);
  const all = [...knownAccounts(connected), ...stored].filter(({ kind }) => kind === 'intermediate');
  return unique(all).map(({ address }) => address);
}

/**
 * The stored accounts of a network: first those that an operator has added for later use, then those that nodes have used. Rows without a
 * valid MAC are ignored.
 */
export async function storedAccounts(
  db: Reader,
  deps: RowKeyDeps,
  network: string,
): Promise<Omit<OwnAccount, 'mac'>[]> {
  const [used, decided] = await Promise.all([usedAccounts(db, deps, network), readAccountStates(db, deps, network)]);
  return [...decided, ...used];
}

/** The accounts that nodes have used, and that operators have put in force. The last intermediate account is the one in force. */
export async function usedAccounts(db: Reader, deps: RowKeyDeps, network: string): Promise<OwnAccount[]> {
  return (await listOwnAccounts(db, network)).filter((row) => isOwnAccount(deps, row));
}

/** The intermediate account that is in force on a network: the last one that was stored. */
export async function intermediateInForce(db: Reader, deps: RowKeyDeps, network: string): Promise<string | undefined> {
  return lastIntermediate(await usedAccounts(db, deps, network))?.address;
}

/**
 * Stores the configured accounts. Throws if a configured account is retired, or if another intermediate account holds money of the books.
 * During a rotation some nodes still have the earlier settings. Such a node starts if it has the keys of both accounts, and does not
 * store its intermediate account again.
 */
export async function rememberAccounts(deps: CommandDeps & RowKeyDeps & { readonly chains: Chains }): Promise<void> {
  for (const connected of deps.chains.list()) {
    await command(deps, async (tx, now) => {
      await lockName(tx, TABLE);
      const { chainId: network } = connected.chain.network;
      const stored = await usedAccounts(tx, deps, network);
      const isBefore = isBeforeRotation(connected, stored);
      const states = await readAccountStates(tx, deps, network);
      refuseRetired(connected, states);
      if (!isBefore) await refuseOther(tx, connected, stored);
      const account = lastIntermediate(stored)?.address ?? connected.intermediateAccount;
      await nameFloatAccounts(tx, { network, account });
      const news = configuredAccounts(connected).filter(
        (each) => !isInForce(each, stored) && !(isBefore && each.kind === 'intermediate'),
      );
      await insertOwnAccounts(
        tx,
        news.map((each) => withMac(deps, { ...each, since: now })),
      );
    });
  }
}

/**
 * Makes an account the intermediate account of a network on the order of an operator, even if another account holds money of the
 * books.
 */
export function adoptAccount(
  deps: CommandDeps & RowKeyDeps,
  { network, address, actor }: { readonly network: string; readonly address: string; readonly actor: string },
): Promise<void> {
  return command(deps, async (tx, now) => {
    await lockName(tx, TABLE);
    await putInForce(tx, deps, { network, address, actor, action: 'account.adopted' }, now);
  });
}

/** Makes an account the intermediate account of its network. The caller has locked the accounts with `lockAccounts`. */
export async function putInForce(
  tx: Tx,
  deps: RowKeyDeps,
  {
    network,
    address,
    actor,
    action,
  }: { readonly network: string; readonly address: string; readonly actor: string; readonly action: string },
  at: Date,
): Promise<void> {
  const stored = await usedAccounts(tx, deps, network);
  const account = { network, address, kind: 'intermediate' } as const;
  if (isInForce(account, stored)) {
    throw new ApiError('invalid_state', `${address} is the intermediate account of ${network} already.`);
  }
  await insertOwnAccounts(tx, [withMac(deps, { ...account, since: at })]);
  const before = lastIntermediate(stored)?.address ?? null;
  await appendAudit(tx, { at, actor, action, subject: network, detail: { before, after: address } });
}

/** Locks changes of our accounts until the database transaction ends. A node that starts waits for the lock, too. */
export function lockAccounts(tx: Tx): Promise<void> {
  return lockName(tx, TABLE);
}

export function renewAccountMacs(
  pages: Pages,
  deps: RowKeyDeps,
  isTrusted: (row: OwnAccount) => boolean,
): Promise<number> {
  const rows = {
    lock: lockAllOwnAccounts,
    macOf: (row: OwnAccount & { readonly id: string }) => macOf(deps, row),
    write: setOwnAccountMacs,
  };
  return renewMacs(pages, rows, isTrusted);
}

/** Creates the job that raises an alert for every stored account that the gateway did not write. */
export function createAccountCheck(deps: CommandDeps & RowKeyDeps & { readonly log: Log }): () => Promise<boolean> {
  const alarms = createAlarms(deps, 'account_refused');
  return async () => {
    for (const row of await listOwnAccounts(deps.db.sql)) {
      const { network, address, kind } = row;
      const message = `Somebody other than the gateway has stored ${address} as an account of ours on ${network}. The row counts for nothing.`;
      await alarms.set(`${network}:${address} ${kind}`, isOwnAccount(deps, row) ? undefined : message);
    }
    return false;
  };
}

/**
 * True if an operator has replaced the intermediate account, and the settings of this node still name the earlier one, but have the keys
 * of both. So this node can spend all money.
 */
function isBeforeRotation(connected: ConnectedChain, stored: readonly OwnAccount[]): boolean {
  const { chain, intermediateAccount: configured, intermediateSigner, otherIntermediates = [] } = connected;
  const { chainId } = chain.network;
  const last = lastIntermediate(stored)?.address ?? configured;
  return (
    !isSameAddress(chainId, last, configured) &&
    intermediateSigner !== undefined &&
    otherIntermediates.some(({ address }) => isSameAddress(chainId, address, last)) &&
    stored.some(({ kind, address }) => kind === 'intermediate' && isSameAddress(chainId, address, configured))
  );
}

function refuseRetired({ chain, intermediateAccount: address }: ConnectedChain, states: readonly AccountState[]): void {
  if (!isRetired(states, { address, kind: 'intermediate' })) return;
  const { chainId: network } = chain.network;
  throw new RetiredAccountError(
    `INTERMEDIATE_ACCOUNT on ${network} is ${address}, which is retired. Run till accounts add intermediate ${network}:${address}, or set another account.`,
  );
}

async function refuseOther(tx: Tx, connected: ConnectedChain, stored: readonly OwnAccount[]): Promise<void> {
  const { chain, intermediateAccount: configured } = connected;
  const network = chain.network.chainId;
  const last = lastIntermediate(stored);
  if (last === undefined || isSameAddress(network, last.address, configured)) return;
  const balances = await listBalances(tx, network);
  const held = balances.filter(
    ({ account }) => account.startsWith(INTERMEDIATE) || account === ACCOUNTS.missing(last.address),
  );
  if (held.length === 0) return;
  throw new OtherIntermediateError({
    network,
    stored: last.address,
    configured,
    held: held.map(({ account, asset, units }) => `${units} of ${asset} in ${account}`),
  });
}

/** The configured accounts, and the other intermediate accounts whose keys are configured. */
function knownAccounts(connected: ConnectedChain) {
  const network = connected.chain.network.chainId;
  const others = connected.otherIntermediates ?? [];
  return [
    ...configuredAccounts(connected),
    ...others.map(({ address }) => ({ network, address, kind: 'intermediate' as const })),
  ];
}

type StoredAs = Pick<OwnAccount, 'network' | 'address' | 'kind'>;

/** True if the account is stored and in force. Every stored relayer stays in force, but only the last intermediate account. */
function isInForce({ network, address, kind }: StoredAs, stored: readonly OwnAccount[]): boolean {
  const isIt = (row: OwnAccount | undefined) => row !== undefined && isSameAddress(network, row.address, address);
  if (kind === 'intermediate') return isIt(lastIntermediate(stored));
  return stored.some((row) => row.kind === kind && isIt(row));
}

function lastIntermediate(stored: readonly OwnAccount[]): OwnAccount | undefined {
  return stored.findLast(({ kind }) => kind === 'intermediate');
}

function configuredAccounts({ chain, intermediateAccount, relayers }: ConnectedChain) {
  const network = chain.network.chainId;
  return [
    { network, address: intermediateAccount, kind: 'intermediate' as const },
    ...relayers.map(({ address }) => ({ network, address, kind: 'relayer' as const })),
  ];
}

function unique<Row extends { readonly network: string; readonly address: string }>(rows: readonly Row[]): Row[] {
  const byKey = new Map(rows.toReversed().map((row) => [addressKey(row.network, row.address), row]));
  return [...byKey.values()].toReversed();
}

function fieldsOf({ network, address, kind, since }: AccountFields): MacFields {
  return { network, address, kind, since: since.toISOString() };
}
