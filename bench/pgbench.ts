import { access, readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Gateway } from './gateway.ts';
import { runTool } from './processes.ts';

export interface PeerPlan {
  readonly script: (typeof SCRIPTS)[number];
  readonly clients: number;
}

/** The same rows, written in two obvious ways. The faster one is the peer. */
const SCRIPTS = ['insert-one-statement', 'insert-two-statements'] as const;
const CLIENTS = [4, 8, 16, 32, 64] as const;
const TRIAL_SECONDS = 2;
const TRIALS = 2;
const DEBIAN_FOLDER = '/usr/lib/postgresql';

/** Payments a second that pgbench inserts, each in a separate transaction, with prepared statements. */
export async function runPgbench(
  { databaseUrl }: Gateway,
  {
    script,
    clients,
    seconds,
    merchants,
    partnerId,
  }: PeerPlan & { seconds: number; merchants: number; partnerId: string },
): Promise<number> {
  const file = fileURLToPath(new URL(`./load/${script}.sql`, import.meta.url));
  const output = await runTool(
    await findPgbench(),
    [
      ...['-h', databaseUrl.hostname, '-p', databaseUrl.port, '-U', databaseUrl.username],
      ...['-n', '-M', 'prepared', '-c', String(clients), '-j', '2', '-T', String(seconds), '-f', file],
      ...['-D', `merchants=${merchants}`, '-D', `partner=${partnerId}`, databaseUrl.pathname.slice(1)],
    ],
    {
      withinMs: seconds * 1_000 + 30_000,
      env: { PGPASSWORD: databaseUrl.password, PGOPTIONS: '-c synchronous_commit=on' },
    },
  );
  const failed = Number(/number of failed transactions: (\d+)/.exec(output)?.[1] ?? 0);
  const perSecond = Number(/tps = ([\d.]+)/.exec(output)?.[1]);
  if (failed > 0 || !(perSecond > 0)) throw new Error(`pgbench went wrong: ${output.slice(-500)}`);
  return perSecond;
}

/** Tries every number of clients with both scripts, twice and briefly, and returns the fastest. */
export async function findBestPeer(
  gateway: Gateway,
  input: { merchants: number; partnerId: string },
): Promise<{ best: PeerPlan; tried: Record<string, number> }> {
  const plans = CLIENTS.flatMap((clients) => SCRIPTS.map((script) => ({ script, clients, perSecond: 0 })));
  for (let trial = 0; trial < TRIALS; trial += 1) {
    for (const plan of plans) {
      const perSecond = await runPgbench(gateway, { ...plan, ...input, seconds: TRIAL_SECONDS });
      plan.perSecond = Math.max(plan.perSecond, perSecond);
    }
  }
  const [best] = plans.toSorted((a, b) => b.perSecond - a.perSecond);
  if (best === undefined) throw new Error('Nothing was tried.');
  const tried = plans.map(({ script, clients, perSecond }) => [`${script} ${clients}`, Math.round(perSecond)]);
  return { best, tried: Object.fromEntries(tried) as Record<string, number> };
}

async function findPgbench(): Promise<string> {
  const versions = await readdir(DEBIAN_FOLDER).catch(() => []);
  const folders = [...(process.env.PATH ?? '').split(':'), ...versions.map((name) => `${DEBIAN_FOLDER}/${name}/bin`)];
  for (const folder of folders) {
    const path = `${folder}/pgbench`;
    const found = await access(path).then(
      () => true,
      () => false,
    );
    if (found) return path;
  }
  throw new Error('The peer is pgbench: install it with `apt-get install postgresql-client postgresql-contrib`.');
}
