import type { Reader, Tx } from './database.ts';

/** The facts about a network (CAIP-2) or an asset (CAIP-19) that the database keeps. Their form is in `chains/records/`. */
export interface KnownRecord {
  readonly subject: string;
  readonly facts: object;
}

/** The newest row of each network and asset. There are only as many as were ever used. */
export function listKnownRecords(db: Reader): Promise<KnownRecord[]> {
  return db<KnownRecord[]>`
    select distinct on (subject) subject, facts from known_records order by subject, id desc`;
}

export function findKnownRecords(db: Reader, subjects: readonly string[]): Promise<KnownRecord[]> {
  return db<KnownRecord[]>`
    select distinct on (subject) subject, facts from known_records
    where subject = any(${subjects as string[]}::text[]) order by subject, id desc`;
}

export async function insertKnownRecords(tx: Tx, rows: readonly KnownRecord[], at: Date): Promise<void> {
  await tx`
    insert into known_records (subject, facts, at)
    select r.subject, r.facts, ${at} from jsonb_to_recordset(${tx.json(rows as never)}) as r(subject text, facts jsonb)`;
}
