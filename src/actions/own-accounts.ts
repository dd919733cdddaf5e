import type { Chains, ConnectedChain } from '../chains/chains.ts';
import { addressKey, isSameAddress } from '../domain/addresses/families.ts';
import { ACCOUNTS, INTERMEDIATE } from '../domain/books.ts';
import { isRowMac, type MacFields, macOfRow } from '../domain/row-mac.ts';
import { ApiError } from '../errors.ts';
import type { Log } from '../runtime/world.ts';
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
import { createAlarms } from './alarms.ts';
import { type CommandDeps, command } from './command.ts';
import { type Pages, renewMacs } from './renew-macs.ts';
import type { RowKeyDeps } from './row-keys.ts';

/**
 * Every account that was ever ours has a row with a MAC. The settings name only the present accounts, but the chain keeps the
 * transactions of earlier ones.
 */

const TABLE = 'own_accounts';

type AccountFields = Omit<OwnAccount, 'mac'>;

export class OtherIntermediateError extends Error {
  constructor({ network, stored, configured, held }: OtherIntermediate) {
    super(
      `INTERMEDIATE_ACCOUNT on ${network} is ${configured}, and the books hold money on ${stored}: ${held.join(', ')}. ` +
        `Configure ${stored} again and empty it: register destinations of the merchants, to which held money is paid out, and run ` +
        'till float return and till strays return; till books balances shows the rest. If the money was moved by hand, or the ' +
        `database was restored from a backup older than the change, run till accounts adopt ${network}:${configured}.`,
    );
    this.name = 'OtherIntermediateError';
  }
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
  return unique([...configuredAccounts(connected), ...stored]).map(({ address }) => address);
}

/** The accounts that have ever held money of the books on a network. */
export async function intermediateAccounts({ db, rowKeys }: ReadDeps, connected: ConnectedChain): Promise<string[]> {
  const stored = await storedAccounts(db.sql, { rowKeys }, connected.chain.network.chainId);
  const all = [...configuredAccounts(connected), ...stored].filter(({ kind }) => kind === 'intermediate');
  return unique(all).map(({ address }) => address);
}

/** The stored accounts of a network. Rows without a valid MAC are ignored. */
export async function storedAccounts(db: Reader, deps: RowKeyDeps, network: string): Promise<OwnAccount[]> {
  return (await listOwnAccounts(db, network)).filter((row) => isOwnAccount(deps, row));
}

/** The intermediate account of a network that was stored last. */
export async function intermediateInForce(db: Reader, deps: RowKeyDeps, network: string): Promise<string | undefined> {
  return lastIntermediate(await storedAccounts(db, deps, network))?.address;
}

/** Stores the configured accounts. Throws if another intermediate account holds money of the books. */
export async function rememberAccounts(deps: CommandDeps & RowKeyDeps & { readonly chains: Chains }): Promise<void> {
  for (const connected of deps.chains.list()) {
    await command(deps, async (tx, now) => {
      await lockName(tx, TABLE);
      const stored = await storedAccounts(tx, deps, connected.chain.network.chainId);
      await refuseOther(tx, connected, stored);
      const account = lastIntermediate(stored)?.address ?? connected.intermediateAccount;
      await nameFloatAccounts(tx, { network: connected.chain.network.chainId, account });
      const news = configuredAccounts(connected).filter((each) => !isInForce(each, stored));
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
    const stored = await storedAccounts(tx, deps, network);
    const adopted = { network, address, kind: 'intermediate' } as const;
    if (isInForce(adopted, stored)) {
      throw new ApiError('invalid_state', `${address} is the intermediate account of ${network} already.`);
    }
    await insertOwnAccounts(tx, [withMac(deps, { ...adopted, since: now })]);
    const before = lastIntermediate(stored)?.address ?? null;
    await appendAudit(tx, {
      at: now,
      actor,
      action: 'account.adopted',
      subject: network,
      detail: { before, after: address },
    });
  });
}

export function renewAccountMacs(
  pages: Pages,
  deps: RowKeyDeps,
  isTrusted: (row: OwnAccount) => boolean,
): Promise<number> {
  const rows = {
    lock: lockAllOwnAccounts,
    macOf: (row: OwnAccount & { readonly id: string }) => withMac(deps, row).mac,
    write: setOwnAccountMacs,
  };
  return renewMacs(pages, rows, isTrusted);
}

/** True if the gateway wrote exactly this row. */
export function isOwnAccount({ rowKeys }: RowKeyDeps, row: OwnAccount): boolean {
  return isRowMac(rowKeys, TABLE, fieldsOf(row), row.mac);
}

/** A job that raises an alert for every row that the gateway did not write. */
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

type StoredAs = Pick<OwnAccount, 'network' | 'address' | 'kind'>;

/** Every stored relayer stays in force, but only the last intermediate account. */
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

function withMac({ rowKeys }: RowKeyDeps, row: AccountFields): OwnAccount {
  const { network, address, kind, since } = row;
  return { network, address, kind, since, mac: macOfRow(rowKeys, TABLE, fieldsOf(row)) };
}

function fieldsOf({ network, address, kind, since }: AccountFields): MacFields {
  return { network, address, kind, since: since.toISOString() };
}
