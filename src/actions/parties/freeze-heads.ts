import type { FreezeTarget } from '../../domain/freeze.ts';
import type { MacFields } from '../../domain/row-mac.ts';
import { ApiError } from '../../errors.ts';
import type { Log } from '../../runtime/world.ts';
import {
  type FreezeHead,
  findFreezeHeads,
  insertFreezeHead,
  lockFreezes,
  lockFreezeTable,
  readFreezeState,
  shareFreezeTable,
} from '../../store/parties/freezes.ts';
import type { Reader, Tx } from '../../store/plumbing/database.ts';
import { adoptOnce } from '../adopt-once.ts';
import { createAlarms } from '../alarms.ts';
import type { CommandDeps } from '../command.ts';
import { macsOf, type RowKeyDeps } from '../row-keys.ts';

/**
 * A freeze is lifted by deleting its row, so a MAC on each row could not reveal a deletion by an attacker. Each change therefore
 * writes a head: a list of all freezes with one MAC. While a freeze of the newest valid head is missing in the table of freezes, no
 * money moves.
 */

const { withMac, isOwn: isOwnHead } = macsOf('freeze_heads', fieldsOf);
const RETRY_AFTER_S = 60;

/** `lost`: ordered by operators, but missing in the table. `added`: in the table, but ordered by nobody. */
export interface FreezeDifferences {
  readonly lost: readonly string[];
  readonly added: readonly string[];
}

/** The name of a freeze in heads, alerts and the audit log. */
export function freezeName({ scope, subject }: FreezeTarget): string {
  return subject === '' ? scope : `${scope} ${subject}`;
}

/**
 * Keeps the freezes unchanged until the database transaction ends, and checks that nobody but the gateway has lifted one. Must be the
 * first call of a database transaction that accepts or sends money.
 */
export async function shareFreezes(tx: Tx, deps: RowKeyDeps): Promise<void> {
  await shareFreezeTable(tx);
  if ((await compareFreezes(tx, deps)).lost.length === 0) return;
  const message = 'Payments are stopped until the operator has checked a record of the gateway. Try again later.';
  throw new ApiError('internal_error', message, { status: 503, retryAfterS: RETRY_AFTER_S });
}

export async function compareFreezes(db: Reader, deps: RowKeyDeps): Promise<FreezeDifferences> {
  const { head: newest, names } = await readFreezeState(db);
  // There is no head until a node of this version has started.
  if (newest === null) return { lost: [], added: [] };
  const head = isOwnHead(deps, newest) ? newest : await findOwnHead(db, deps);
  if (head === undefined) return { lost: ['every freeze: no head has a right MAC'], added: [] };
  return {
    lost: head.freezes.filter((name) => !names.includes(name)),
    added: names.filter((name) => !head.freezes.includes(name)),
  };
}

/** Adds a freeze to the head. Returns false if the head contains it already. The caller has locked the freezes. */
export async function addToHead(tx: Tx, deps: RowKeyDeps, name: string): Promise<boolean> {
  const ordered = await orderedFreezes(tx, deps);
  if (ordered.includes(name)) return false;
  await appendHead(tx, deps, [...ordered, name]);
  return true;
}

/** Removes a freeze from the head. Returns false if the head does not contain it. The caller has locked the freezes. */
export async function removeFromHead(tx: Tx, deps: RowKeyDeps, name: string): Promise<boolean> {
  const ordered = await orderedFreezes(tx, deps);
  if (!ordered.includes(name)) return false;
  await appendHead(
    tx,
    deps,
    ordered.filter((each) => each !== name),
  );
  return true;
}

/** Writes the first head, from the freezes that an older version has stored. */
export function adoptFreezes(deps: CommandDeps & RowKeyDeps): Promise<void> {
  return adoptOnce(deps, 'freezes', async (tx) => {
    await lockFreezes(tx);
    const { head, names } = await readFreezeState(tx);
    if (head === null) await appendHead(tx, deps, names);
    return names.length;
  });
}

/**
 * Writes a head under the newest key, and returns the number of its freezes. With `isLost` the older keys are lost, so the table is
 * trusted as it is. The caller limits the wait for the lock: the lock waits for database transactions that move money, and further ones
 * queue behind it.
 */
export async function renewFreezeHead(tx: Tx, deps: RowKeyDeps, { isLost }: { isLost: boolean }): Promise<number> {
  await lockFreezeTable(tx);
  const names = isLost ? (await readFreezeState(tx)).names : await orderedFreezes(tx, deps);
  await appendHead(tx, deps, names);
  return names.length;
}

/** Creates the job that compares the freezes with their head, and raises an alert while they differ. */
export function createFreezeCheck(deps: CommandDeps & RowKeyDeps & { readonly log: Log }): () => Promise<boolean> {
  const alarms = createAlarms(deps, 'freezes_changed');
  return async () => {
    await alarms.set('freezes', messageOf(await compareFreezes(deps.db.sql, deps)));
    return false;
  };
}

function messageOf({ lost, added }: FreezeDifferences): string | undefined {
  if (lost.length === 0 && added.length === 0) return undefined;
  const parts = [
    'Somebody other than the gateway has changed the freezes in the database.',
    lost.length > 0 &&
      `Deleted: ${lost.join(', ')}. No money is accepted or sent until each of these is frozen again or lifted, by till freeze or till unfreeze.`,
    added.length > 0 && `Added: ${added.join(', ')}. They stop money until they are lifted by till unfreeze.`,
  ];
  return parts.filter((part) => part !== false).join(' ');
}

/** The freezes that operators have ordered. Before the first head, all rows of the table count. */
async function orderedFreezes(tx: Tx, deps: RowKeyDeps): Promise<readonly string[]> {
  const { head: newest, names } = await readFreezeState(tx);
  if (newest === null) return names;
  const head = await findOwnHead(tx, deps);
  if (head !== undefined) return head.freezes;
  throw new ApiError('invalid_state', 'No head of the freezes has a right MAC: see docs/secrets.md.');
}

async function findOwnHead(db: Reader, deps: RowKeyDeps): Promise<FreezeHead | undefined> {
  return (await findFreezeHeads(db)).find((head) => isOwnHead(deps, head));
}

async function appendHead(tx: Tx, deps: RowKeyDeps, names: readonly string[]): Promise<void> {
  const { head } = await readFreezeState(tx);
  const next = { number: (BigInt(head?.number ?? 0) + 1n).toString(), freezes: [...names].sort() };
  await insertFreezeHead(tx, withMac(deps, next));
}

function fieldsOf({ number, freezes }: Pick<FreezeHead, 'number' | 'freezes'>): MacFields {
  return { number, freezes: JSON.stringify(freezes) };
}
