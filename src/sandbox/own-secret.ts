import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { World } from '../runtime/world.ts';
import { createWholeFile } from './whole-file.ts';

const FILE = 'secret';
const BYTES = 32;

/** The text of the master secret that a gateway without a configured one makes at its first start and keeps in its home. */
export async function readOwnSecret({ random }: World, home: string): Promise<string> {
  await mkdir(home, { recursive: true, mode: 0o700 });
  const path = join(home, FILE);
  // Another start in the same home may be the first.
  await createWholeFile(path, `${Buffer.from(random.bytes(BYTES)).toString('base64')}\n`);
  return readFile(path, 'utf8');
}
