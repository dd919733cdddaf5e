import { one, type Tx } from './database.ts';

/** The value all nodes share under this name: the candidate, if none was there before. */
export async function sharedSecret(
  tx: Tx,
  { name, candidate }: { name: string; candidate: Uint8Array },
): Promise<Buffer> {
  await tx`insert into secrets (name, value) values (${name}, ${candidate}) on conflict do nothing`;
  const rows = await tx<{ value: Buffer }[]>`select value from secrets where name = ${name}`;
  return one(rows).value;
}
