import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { systemWorld } from '../../src/runtime/system-world.ts';
import { startSandboxChain } from '../../src/sandbox/chain-process.ts';
import { compareBooks, NETWORK, nodeSettings } from '../../test/crash/settings.ts';
import { missingDebianPostgres, startDebianPostgres, withConnection } from '../../test/debian-postgres.ts';
import { type Machine, openMachine } from '../../test/deploy/machine.ts';
import { missingHaproxy, startHaproxy } from '../../test/haproxy.ts';
import { ANSWER_WITHIN_MS, type Customers, judgeAll, startCustomers } from './customers.ts';
import type { Drill, Step } from './drill.ts';
import { commitBefore, missingBefore, writeBefore } from './release-before.ts';

const ROOT = join(import.meta.dirname, '../..');
/** As the page about deploying has them. */
const NODES = ['1', '2'];
const SHOPPERS = 3;
/** Longer than two checks of HAProxy. */
const DRAIN_MS = 2_500;
const BLOCK_MS = 250;

export const upgrade: Drill = {
  name: 'upgrade',
  title: 'deploy/update under load, forward and back: two nodes behind HAProxy, PostgreSQL 15',
  missing: () =>
    (process.platform !== 'linux' && 'it needs Linux') ||
    missingHaproxy() ||
    missingDebianPostgres() ||
    missingBefore(),
  run: async ({ isShort, print }) => {
    const stops: (() => Promise<unknown>)[] = [];
    try {
      return await upgradeUnderLoad({ stops, isShort, print });
    } finally {
      for (const stop of stops.toReversed()) await stop();
    }
  },
};

interface Input {
  readonly stops: (() => Promise<unknown>)[];
  readonly isShort: boolean;
  print(text: string): void;
}

async function upgradeUnderLoad({ stops, isShort, print }: Input): Promise<readonly Step[]> {
  const machine = await openMachine(NODES);
  stops.push(machine.remove);
  const { before, today, commit } = await makeReleases(machine);
  const { settings, rpcUrl } = await openSurroundings(machine, stops);
  await machine.configure(settings);
  const migrated = await machine.control('1', 'migrate', machine.release(before));
  if (migrated.code !== 0) throw new Error(migrated.said);
  stops.push(machine.stop);
  await machine.start(before);
  const balancer = await startHaproxy(NODES.map(machine.originOf));
  stops.push(balancer.stop);
  const { apiKey, merchantId } = JSON.parse(await readFile(join(settings.TILL_HOME, 'sandbox.json'), 'utf8'));
  const scene = {
    chain: { rpcUrl },
    network: NETWORK,
    baseUrls: [balancer.url],
    apiKey,
    merchantId,
    compareBooks: () => compareBooks(settings),
  };
  const customers = startCustomers(scene, { shoppers: SHOPPERS, answerWithinMs: ANSWER_WITHIN_MS, askEveryMs: 250 });
  const steps: Step[] = [];
  try {
    await customers.untilServed(SHOPPERS, 'orders are served');
    const ways = [
      [`to ${today}, from ${before} (commit ${commit.slice(0, 8)})`, today],
      [`back to ${before}`, before],
      ...(isShort ? [] : [[`to ${today} again`, today] as const]),
    ] as const;
    for (const [step, version] of ways) {
      const done = await update(machine, { customers, step, version });
      steps.push(done);
      print(`${done.step}: ${done.result}`);
    }
    await customers.stop();
    for (const { problem } of customers.failedRequests()) print(problem ?? '');
    return [...steps, ...(await judgeAll(scene, customers.orders, print))];
  } finally {
    await customers.stop();
  }
}

/** The release of today, and the one before. */
async function makeReleases(machine: Machine) {
  const commit = commitBefore() ?? '';
  const { version: today } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  // A node says which of the two it runs.
  const before = `${today}-before`;
  const source = join(machine.home, 'source');
  await writeBefore(commit, source);
  await machine.makeRelease(before, { source });
  await machine.makeRelease(today);
  return { before, today, commit };
}

/** A PostgreSQL with an empty database, and a chain. */
async function openSurroundings(machine: Machine, stops: (() => Promise<unknown>)[]) {
  const postgres = await startDebianPostgres();
  stops.push(postgres.stop);
  await withConnection(postgres.url, (sql) => sql.unsafe('create database shop'));
  const chain = await startSandboxChain(
    { world: systemWorld, log: pino({ level: 'silent' }) },
    { dir: join(machine.home, 'chain'), blockMs: BLOCK_MS },
  );
  stops.push(chain.stop);
  const databaseUrl = Object.assign(new URL(postgres.url), { pathname: '/shop' }).href;
  const settings = {
    ...nodeSettings({ folder: machine.home, databaseUrl, rpcUrl: chain.rpcUrl }),
    MAX_EVENT_LOOP_DELAY_MS: '0',
    DRAIN_MS: String(DRAIN_MS),
  };
  return { settings, rpcUrl: chain.rpcUrl };
}

interface Way {
  readonly customers: Customers;
  readonly step: string;
  readonly version: string;
}

/** Runs the program of operators, and waits until the nodes of that version have served whole orders. */
async function update(machine: Machine, { customers, step, version }: Way): Promise<Step> {
  const fromMs = performance.now();
  const [failedBefore, endedBefore, requestsBefore] = [
    customers.failedRequests().length,
    customers.endedOrders(),
    customers.requests(),
  ];
  const { code, said } = await machine.run(join(ROOT, 'deploy/update'), [
    ...machine.flags,
    '--to',
    machine.release(version),
  ]);
  if (code !== 0) return { step, result: `deploy/update ended with ${code}: ${said}`, isGood: false };
  const tookS = ((performance.now() - fromMs) / 1000).toFixed(0);
  for (const node of NODES) await machine.serves(node, version);
  await customers.untilServed(2 * SHOPPERS, `orders are served: ${step}`);
  const failed = customers.failedRequests().length - failedBefore;
  const requests = customers.requests() - requestsBefore;
  const ended = customers.endedOrders() - endedBefore;
  const result = `in ${tookS} s, ${ended} payments paid and refunded, ${failed} of ${requests} requests failed`;
  return { step, result, isGood: failed === 0 };
}
