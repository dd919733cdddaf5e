import { addressKey } from '../../domain/addresses/families.ts';
import { addressKeySql } from '../plumbing/address-key.ts';
import type { Reader } from '../plumbing/database.ts';

/** A paid event of the Collector whose commitment belongs to no stored item. */
export interface ForgottenEvent {
  readonly transactionHash: string;
  readonly blockNumber: number;
  readonly payer: string;
  readonly recipient: string;
  readonly asset: string;
  readonly amount: string;
  /** True if the watcher has decided the event, so its block was at final depth. */
  readonly isFinal: boolean;
}

/**
 * A paid event with one of these subjects that belongs to no stored item. Such events exist after the restore of an old backup. `subjects`
 * has the first 16 bytes, in hex, of every subject that the chain can show for the id of a transfer.
 */
export async function findForgotten(
  db: Reader,
  {
    network,
    assets,
    subjects,
    payers,
  }: { network: string; assets: readonly string[]; subjects: readonly string[]; payers: readonly string[] },
): Promise<ForgottenEvent | undefined> {
  const [row] = await db<(Omit<ForgottenEvent, 'blockNumber'> & { blockNumber: string })[]>`
    select e.transaction_hash as "transactionHash", e.block_number as "blockNumber", e.fields ->> 'payer' as payer,
      e.fields ->> 'recipient' as recipient, e.fields ->> 'asset' as asset, e.fields ->> 'amount' as amount,
      e.decided_at is not null as "isFinal"
    from chain_events e
    where e.type = 'paid' and e.fields ->> 'subject' = any(${subjects as string[]}::text[]) and e.network = ${network}
      and ${addressKeySql(db, network, db`(e.fields ->> 'payer')`)} = any(${payers.map((payer) => addressKey(network, payer))}::text[])
      and ${provesTransfer(db, assets)}
      and not exists (select from items i where i.commitment = e.commitment)
    limit 1`;
  return row && { ...row, blockNumber: Number(row.blockNumber) };
}

/**
 * The first paid event whose payer is one of these accounts and that belongs to no stored item. With `isUndecided`, only undecided events
 * count.
 */
export async function findUnexplained(
  db: Reader,
  {
    network,
    assets,
    payers,
    isUndecided,
  }: { network: string; assets: readonly string[]; payers: readonly string[]; isUndecided: boolean },
): Promise<Pick<ForgottenEvent, 'transactionHash' | 'blockNumber'> | undefined> {
  const [row] = await db<{ transactionHash: string; blockNumber: string }[]>`
    select e.transaction_hash as "transactionHash", e.block_number as "blockNumber" from chain_events e
    where e.network = ${network} and e.type = 'paid' and ${isUndecided ? db`e.decided_at is null` : db`true`}
      and ${addressKeySql(db, network, db`(e.fields ->> 'payer')`)} = any(${payers.map((payer) => addressKey(network, payer))}::text[])
      and ${provesTransfer(db, assets)}
      and not exists (select from items i where i.commitment = e.commitment)
    order by e.block_number limit 1`;
  return row && { ...row, blockNumber: Number(row.blockNumber) };
}

/**
 * The SQL condition that the event proves a transfer that its payer has signed. An event of an unknown token proves nothing: the token's
 * contract can name any payer.
 */
function provesTransfer(db: Reader, assets: readonly string[]) {
  return db`e.fields ->> 'asset' = any(${assets as string[]}::text[]) and (e.fields ->> 'amount')::numeric > 0
    and e.problem is null`;
}
