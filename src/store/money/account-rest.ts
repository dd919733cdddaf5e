import { addressKey } from '../../domain/addresses/families.ts';
import { addressKeySql } from '../plumbing/address-key.ts';
import type { Reader } from '../plumbing/database.ts';

/** The numbers of rows that still need an account of ours and its key. Counting stops at a hundred for each kind. */
export interface AccountRest {
  /** The number of transactions that the account has sent and that are not final on chain. */
  readonly sends: number;
  /** The number of items of payments, sweeps and transfers that bring money to the account and are not over. */
  readonly arriving: number;
  /** The number of deposit addresses whose money goes to the account, and which are still watched. */
  readonly watched: number;
  /** The number of lots whose money is on the account, or waits at a deposit address for its sweep to the account. */
  readonly held: number;
  /** The number of payouts, refunds and returns from the account that are in progress. */
  readonly outgoing: number;
  readonly floats: number;
  /** The number of rows of unexpected money on the account that is not returned and not made a float. */
  readonly unexpected: number;
}

/** The time for which a deposit address is watched after its opening. The same value is in `read-movements.ts`. */
const WATCHED_MS = 30 * 86_400_000;

export async function countAccountRest(
  db: Reader,
  { network, address, now }: { readonly network: string; readonly address: string; readonly now: Date },
): Promise<AccountRest> {
  const count = (found: ReturnType<Reader>) => db`(select count(*)::int from (${found} limit 100) found)`;
  const [row] = await db<AccountRest[]>`
    select
      ${count(db`select from relay_sends where network = ${network} and signer = ${address} and state = 'open'`)} as sends,
      ${count(db`select from items
        where network = ${network} and recipient = ${address} and state in ('offered', 'due', 'sent')`)} as arriving,
      ${count(db`select from deposits d join items i on i.commitment = d.item
        where d.network = ${network} and i.recipient = ${address}
          and d.opened_at > ${new Date(now.getTime() - WATCHED_MS)}`)} as watched,
      ${count(db`select from lots
        where network = ${network} and account = ${address} and is_held and (is_open or waiting > 0)`)} as held,
      ${count(db`select from outgoing
        where network = ${network} and payer = ${address} and state = 'sending'`)} as outgoing,
      ${count(db`select from floats
        where network = ${network} and ${addressKeySql(db, network, db`account`)} = ${addressKey(network, address)} and units > 0`)} as floats,
      ${count(db`select from strays
        where network = ${network} and account = ${address} and lot_id is null
          and state in ('unclaimed', 'requested', 'returning')`)} as unexpected`;
  if (row === undefined) throw new Error('The counts have one row.');
  return row;
}
