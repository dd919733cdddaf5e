import { one, type Tx } from './database.ts';

/**
 * The value that all nodes share under this name. If none is stored, `candidate` is stored as the value. The value is no secret: everybody
 * who can read the database can read it.
 */
export async function sharedValue(
  tx: Tx,
  { name, candidate }: { name: string; candidate: Uint8Array },
): Promise<Buffer> {
  await tx`insert into shared_values (name, value) values (${name}, ${candidate}) on conflict do nothing`;
  const rows = await tx<{ value: Buffer }[]>`select value from shared_values where name = ${name}`;
  return one(rows).value;
}

/** Deletes the keys that older versions stored unencrypted, and returns them by name. */
export async function takeClearKeys(tx: Tx): Promise<ReadonlyMap<string, Buffer>> {
  const rows = await tx<{ name: string; value: Buffer }[]>`
    delete from shared_values where name in ('cursor', 'option', 'receipt') returning name, value`;
  return new Map(rows.map(({ name, value }) => [name, value]));
}
