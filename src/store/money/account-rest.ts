import { addressKey } from '../../domain/addresses/families.ts';
import { addressKeySql } from '../plumbing/address-key.ts';
import type { Reader } from '../plumbing/database.ts';

/** Work and money that need an account of ours and its key. Each count ends at a hundred. */
export interface AccountRest {
  /** Transactions of the account that are stored and not final. */
  readonly sends: number;
  /** Payments, sweeps and transfers that are not over and bring money to the account. */
  readonly arriving: number;
  /** Deposit addresses that name the account as recipient and are still watched. */
  readonly watched: number;
  /** Payments whose money is held on the account, or waits at a deposit address that names it. */
  readonly held: number;
  /** Payouts, refunds and returns from the account that are not over. */
  readonly outgoing: number;
  readonly floats: number;
  /** Unexpected money on the account that nobody has returned or made a float. */
  readonly unexpected: number;
}

/** As long as `readMovements` watches them. */
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
