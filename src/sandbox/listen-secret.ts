import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { secretText } from '../domain/webhook-signature.ts';
import type { World } from '../runtime/world.ts';
import { createWholeFile } from './whole-file.ts';

const FILE = 'listen-secret';
const BYTES = 32;

/** The secret that `till listen` signs with. It is created at the first run and kept in the home folder. */
export async function readListenSecret({ random }: Pick<World, 'random'>, home: string): Promise<string> {
  await mkdir(home, { recursive: true, mode: 0o700 });
  const path = join(home, FILE);
  await createWholeFile(path, `${secretText(random.bytes(BYTES))}\n`);
  return (await readFile(path, 'utf8')).trim();
}
