import { pino } from 'pino';
import { createPartner } from '../src/actions/parties/create-partner.ts';
import { issueKey } from '../src/actions/parties/issue-key.ts';
import { rowKeysOf } from '../src/actions/row-keys.ts';
import type { Mode } from '../src/domain/mode.ts';
import { createSecrets } from '../src/runtime/secrets.ts';
import { systemWorld } from '../src/runtime/system-world.ts';
import { REGISTRY } from '../test/registry.ts';
import { BENCH_SECRET, openBeside } from './gateway.ts';

export interface BenchPartner {
  readonly id: string;
  readonly apiKey: string;
}

/** Creates partners with a key each, as an operator would with the commands. */
export async function createPartners(
  databaseUrl: string,
  { count, mode = 'test' }: { readonly count: number; readonly mode?: Mode },
): Promise<BenchPartner[]> {
  const db = openBeside(databaseUrl);
  const rowKeys = rowKeysOf(createSecrets([BENCH_SECRET]));
  const deps = { registry: REGISTRY, db, world: systemWorld, log: pino({ level: 'silent' }), rowKeys };
  const rights = { scopes: null, merchantIds: null, addresses: null, expiresAt: null };
  const partners: BenchPartner[] = [];
  try {
    while (partners.length < count) {
      const { id } = await createPartner(deps, { actor: 'bench', name: `Partner ${partners.length}` });
      const { secret } = await issueKey(deps, { actor: 'bench', partnerId: id, mode, label: 'bench', ...rights });
      partners.push({ id, apiKey: secret });
    }
    return partners;
  } finally {
    await db.close();
  }
}
