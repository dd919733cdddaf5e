import { statfs } from 'node:fs/promises';
import type { Asked, DatabaseFacts, DatabaseOutage, DiskFacts } from '../../../domain/doctor/facts.ts';
import { reasonOf } from './ask-within.ts';
import type { ExamineDeps } from './examine-deps.ts';

/** The disks of the gateway's own folders, and of the database if it is on this machine. */
export async function examineDisks(
  { folders, isDatabaseHere }: Pick<ExamineDeps, 'folders' | 'isDatabaseHere'>,
  database: Asked<DatabaseFacts | DatabaseOutage>,
): Promise<Asked<readonly DiskFacts[]>> {
  const own = folders.map(async ({ what, path }): Promise<DiskFacts> => ({ what, space: await spaceOf(path) }));
  const known = await Promise.all([...own, diskOfDatabase(isDatabaseHere, database)]);
  return { known };
}

async function diskOfDatabase(isHere: boolean, database: Asked<DatabaseFacts | DatabaseOutage>): Promise<DiskFacts> {
  const what = 'the database';
  if (!isHere) return { what, space: { unknown: 'it is on another machine' } };
  if ('unknown' in database || 'outage' in database.known)
    return { what, space: { unknown: 'the database is out of reach' } };
  const { server } = database.known;
  if ('unknown' in server) return { what, space: server };
  const { dataDirectory } = server.known;
  if (dataDirectory === null) return { what, space: { unknown: 'the role may not see the folder of the server' } };
  return { what, space: await spaceOf(dataDirectory) };
}

async function spaceOf(path: string): Promise<DiskFacts['space']> {
  try {
    const { bsize, bavail, blocks } = await statfs(path);
    return { known: { freeBytes: bavail * bsize, totalBytes: blocks * bsize } };
  } catch (error) {
    return { unknown: reasonOf(error) };
  }
}
