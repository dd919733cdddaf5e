import { one, type Tx } from './database.ts';

/** The value all nodes share under this name: the candidate, if none was there before. Everybody who reads the database sees it. */
export async function sharedValue(
  tx: Tx,
  { name, candidate }: { name: string; candidate: Uint8Array },
): Promise<Buffer> {
  await tx`insert into shared_values (name, value) values (${name}, ${candidate}) on conflict do nothing`;
  const rows = await tx<{ value: Buffer }[]>`select value from shared_values where name = ${name}`;
  return one(rows).value;
}

/** Removes the keys that older versions stored in clear, and returns them by name. */
export async function takeClearKeys(tx: Tx): Promise<ReadonlyMap<string, Buffer>> {
  const rows = await tx<{ name: string; value: Buffer }[]>`
    delete from shared_values where name in ('cursor', 'option', 'receipt') returning name, value`;
  return new Map(rows.map(({ name, value }) => [name, value]));
}
