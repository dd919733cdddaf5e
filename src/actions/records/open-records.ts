import { type Registry, type RegistryDeps, withRemembered } from '../../chains/registry.ts';
import type { Reader } from '../../store/plumbing/database.ts';
import { findDifferences, type Memory, readMemory, rememberedRecords } from './differences.ts';

/** Thrown if the files of networks differ from the networks and tokens that this database was used with. */
export class OtherRecordsError extends Error {
  constructor(sentences: readonly string[]) {
    super(['the networks and tokens differ from those that this database was used with:', ...sentences].join('\n  '));
    this.name = 'OtherRecordsError';
  }
}

/**
 * The registry of this node: its files, and the removed records that the database remembers. Throws with all differences that would
 * change the meaning of stored amounts, or remove an asset that is still in use. Writes nothing.
 */
export async function openRecords({ db, registry }: RegistryDeps & { readonly db: { readonly sql: Reader } }): Promise<{
  readonly registry: Registry;
  readonly memory: Memory;
}> {
  const memory = await readMemory(db.sql);
  const differences = await findDifferences(db.sql, registry, memory);
  if (differences.length > 0) throw new OtherRecordsError(differences.map(({ text, way }) => `${text}. ${way}`));
  return { registry: withRemembered(registry, rememberedRecords(registry, memory)), memory };
}
