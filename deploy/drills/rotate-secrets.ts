import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLocalSigner } from '../../src/chains/evm/local-signer.ts';
import { runTill } from '../../src/cli/till.ts';
import { SANDBOX_ACCOUNTS, SANDBOX_KEYS } from '../../src/sandbox/genesis.ts';
import { countPayments, judgeOrders } from '../../test/crash/judge-orders.ts';
import { type Sent, startLoad } from '../../test/crash/load.ts';
import { restartAll } from '../../test/crash/nodes-run.ts';
import { missingForNodes, type NodesScene, openNodesScene } from '../../test/crash/nodes-scene.ts';
import { NETWORK } from '../../test/crash/settings.ts';
import { until } from '../../test/until.ts';
import type { Drill, Step } from './drill.ts';

const SHOPPERS = 3;
const SOON = { withinMs: 400_000 };

export const rotateSecrets: Drill = {
  name: 'rotate-secrets',
  title: 'Rotation of secrets under load: three nodes behind HAProxy, PgBouncer, a replicated PostgreSQL',
  missing: missingForNodes,
  run: async ({ isShort, print }) => {
    const scene = await openNodesScene();
    const heads = await mkdtemp(join(tmpdir(), 'till-heads-'));
    try {
      return await rotateAll(scene, { heads, isShort, print });
    } finally {
      await scene.close();
      await rm(heads, { recursive: true, force: true });
    }
  },
};

interface Input {
  readonly heads: string;
  readonly isShort: boolean;
  print(text: string): void;
}

/** One secret after the other, with payments all the time. Every order is followed to its refund. */
async function rotateAll(scene: NodesScene, { heads, isShort, print }: Input): Promise<readonly Step[]> {
  const failed: Sent[] = [];
  let { apiKey } = scene;
  const customers = { network: scene.network, baseUrls: scene.baseUrls, merchantId: scene.merchantId };
  const loaded = {
    ...customers,
    get apiKey() {
      return apiKey;
    },
  };
  const load = startLoad(loaded, {
    shoppers: SHOPPERS,
    answerWithinMs: 20_000,
    askEveryMs: 250,
    onSent: (sent) => void (sent.problem !== undefined && failed.push(sent)),
  });
  const ended = () => load.orders.filter(({ isOver }) => isOver).length;
  const wrong = () => load.orders.filter(({ misreports }) => misreports.length > 0).length;
  const steps: Step[] = [];
  const step = async (name: string, rotate: () => Promise<void>) => {
    const before = { ended: ended(), failed: failed.length, wrong: wrong() };
    await rotate();
    // The rotated secret has served whole orders before the next one is rotated.
    const known = ended();
    await until(`orders are served after: ${name}`, () => ended() >= known + 2 * SHOPPERS, SOON);
    const [requests, payments] = [failed.length - before.failed, wrong() - before.wrong];
    const result = `${ended() - before.ended} payments paid and refunded, ${payments} failed, ${requests} failed requests`;
    steps.push({ step: name, result, isGood: requests === 0 && payments === 0 });
    print(`${name}: ${result}`);
  };
  try {
    await until('orders are served', () => ended() >= SHOPPERS, SOON);
    await step('API key', async () => {
      const keys = (await till(scene, ['keys', 'list', '--json'])) as readonly { id: string; hint: string }[];
      const id = keys.find(({ hint }) => apiKey.endsWith(hint))?.id ?? '';
      const next = (await till(scene, ['keys', 'rotate', id, '--json'])) as { secret: string };
      apiKey = next.secret;
    });
    await step('relayer', () => rotateRelayer(scene));
    await step('intermediate account', () => rotateIntermediate(scene));
    if (!isShort) {
      await step('RPC key', async () => {
        scene.configure({ RPC_URLS: `${NETWORK}=${scene.rpcUrl}/?key=${randomBytes(8).toString('hex')}` });
        await restartAll(scene);
      });
      await step('TILL_SECRET', () => rotateMaster(scene, heads));
    }
    await load.stop();
    const { lost, doubled, misreported } = await judgeOrders(scene, load.orders);
    const surplus = (await countPayments(scene)) - load.orders.length;
    const books = await scene.compareBooks();
    const sums = `${lost.length} lost, ${doubled.length} doubled, ${misreported.length} misreported, ${surplus} without an order`;
    const isGood = lost.length + doubled.length + misreported.length + surplus === 0;
    for (const text of [...lost, ...doubled, ...failed.map(({ problem }) => problem ?? '')]) print(text);
    steps.push({ step: 'all orders', result: `${load.orders.length} orders: ${sums}`, isGood });
    steps.push({ step: 'books against the chain', result: books || 'equal', isGood: books === '' });
  } finally {
    for (const { misreports } of load.orders) for (const text of misreports) print(text);
    await load.stop();
  }
  return [...steps, ...NOT_RUN];
}

const NOT_RUN: readonly Step[] = [
  ['database password', 'the servers of this drill trust local connections'],
  ['webhook secret', 'the orders of this drill have no receiver'],
  ['external signer', 'the keys of this drill are in the settings'],
].map(([step = '', result = '']) => ({ step, result, isGood: undefined }));

async function rotateRelayer(scene: NodesScene): Promise<void> {
  // The next relayer needs coin for its share of the items before it begins.
  const key = SANDBOX_KEYS.secondPayer;
  const kept = SANDBOX_KEYS.secondRelayer;
  scene.configure({ RELAYER_KEYS: `${NETWORK}=${SANDBOX_KEYS.relayer},${kept},${key}` });
  await restartAll(scene);
  const old = `${NETWORK}:${SANDBOX_ACCOUNTS.relayer}`;
  await till(scene, ['accounts', 'retire', 'relayer', old, '--json']);
  await until(
    'the retired relayer has nothing in flight',
    async () => {
      const rows = (await till(scene, ['accounts', 'list', '--json'])) as readonly Listed[];
      const row = rows.find(({ address, kind }) => kind === 'relayer' && address === SANDBOX_ACCOUNTS.relayer);
      return row?.state === 'retired' && row.left.sends === 0;
    },
    SOON,
  );
  scene.configure({ RELAYER_KEYS: `${NETWORK}=${kept},${key}` });
  await restartAll(scene);
}

interface Listed {
  readonly address: string;
  readonly kind: string;
  readonly state: string;
  readonly left: { readonly sends: number };
}

async function rotateIntermediate(scene: NodesScene): Promise<void> {
  const key = newKey();
  const { address } = createLocalSigner(key);
  const account = `${NETWORK}:${address}`;
  scene.configure({ OTHER_INTERMEDIATE_KEYS: `${NETWORK}=${key}` });
  await restartAll(scene);
  await till(scene, ['accounts', 'add', 'intermediate', account, '--json']);
  scene.configure({
    INTERMEDIATE_ACCOUNT: `${NETWORK}=${address}`,
    INTERMEDIATE_KEY: `${NETWORK}=${key}`,
    OTHER_INTERMEDIATE_KEYS: `${NETWORK}=${SANDBOX_KEYS.intermediate}`,
  });
  await till(scene, ['accounts', 'rotate', account, '--json']);
  await restartAll(scene);
}

async function rotateMaster(scene: NodesScene, heads: string): Promise<void> {
  const old = scene.settings.TILL_SECRET;
  const next = randomBytes(32).toString('base64');
  for (const TILL_SECRET of [`${old} ${next}`, `${next} ${old}`]) {
    scene.configure({ TILL_SECRET });
    await restartAll(scene);
  }
  await till(scene, ['secret', 'rotate', '--head', join(heads, 'head.json'), '--json']);
  // No payer of this drill keeps an option for longer than a restart, so the wait of ten minutes is left out.
  scene.configure({ TILL_SECRET: next });
  await restartAll(scene);
}

function newKey(): `0x${string}` {
  return `0x${randomBytes(32).toString('hex')}`;
}

/** Runs a command of an operator with the settings of the next nodes, and returns its JSON. */
async function till({ settings }: NodesScene, argv: readonly string[]): Promise<unknown> {
  let [output, errors] = ['', ''];
  const exitCode = await runTill([...argv], {
    env: settings,
    stdout: { write: (text: string) => (output += text) },
    stderr: { write: (text: string) => (errors += text) },
  });
  if (exitCode !== 0) throw new Error(`till ${argv.join(' ')} ended with ${exitCode}: ${errors}`);
  return JSON.parse(output);
}
