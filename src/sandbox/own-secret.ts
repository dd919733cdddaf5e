import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { World } from '../runtime/world.ts';
import { createWholeFile } from './whole-file.ts';

const FILE = 'secret';
const BYTES = 32;

/** The master secret of a gateway without a configured one. It is created at the first start and kept in the home folder. */
export async function readOwnSecret({ random }: World, home: string): Promise<string> {
  await mkdir(home, { recursive: true, mode: 0o700 });
  const path = join(home, FILE);
  // Does nothing if the file exists: another process may have created it at the same moment.
  await createWholeFile(path, `${Buffer.from(random.bytes(BYTES)).toString('base64')}\n`);
  return readFile(path, 'utf8');
}
