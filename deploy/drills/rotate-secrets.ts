import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLocalSigner } from '../../src/chains/evm/local-signer.ts';
import { SANDBOX_ACCOUNTS, SANDBOX_KEYS } from '../../src/sandbox/genesis.ts';
import { restartAll } from '../../test/crash/nodes-run.ts';
import { missingForNodes, type NodesScene } from '../../test/crash/nodes-scene.ts';
import { NETWORK, TOKEN } from '../../test/crash/settings.ts';
import { until } from '../../test/until.ts';
import { ANSWER_WITHIN_MS, type Customers, judgeAll, startCustomers } from './customers.ts';
import type { Drill, Step } from './drill.ts';
import { type PolicySigner, startPolicySigner } from './policy-signer.ts';
import { till } from './run-command.ts';
import { type GuardedScene, openGuardedNodes } from './run-role.ts';
import { openSecretReceiver, type SecretReceiver } from './webhook-receiver.ts';

const SHOPPERS = 3;
const SOON = { withinMs: 400_000 };
/** More than all refunds of a drill. */
const SIGNER_UNITS = 10n ** 15n;

export const rotateSecrets: Drill = {
  name: 'rotate-secrets',
  title: 'Rotation of secrets under load: three nodes behind HAProxy, PgBouncer, a replicated PostgreSQL',
  missing: missingForNodes,
  run: async ({ isShort, print }) => {
    const scene = await openGuardedNodes();
    const heads = await mkdtemp(join(tmpdir(), 'till-heads-'));
    const partner = { apiKey: scene.apiKey };
    const [baseUrl = ''] = scene.baseUrls;
    const webhooks = await openSecretReceiver({ baseUrl, apiKey: () => partner.apiKey });
    try {
      return await rotateAll({ scene, partner, webhooks, heads, isShort, print });
    } finally {
      await scene.close();
      await webhooks.receiver.stop();
      await rm(heads, { recursive: true, force: true });
    }
  },
};

interface Input {
  readonly scene: GuardedScene;
  /** Its API key is rotated, too. */
  readonly partner: { apiKey: string };
  readonly webhooks: SecretReceiver;
  readonly heads: string;
  readonly isShort: boolean;
  print(text: string): void;
}

/** One secret after the other, with payments all the time. Every order is followed to its refund. */
async function rotateAll({ scene, partner, webhooks, heads, isShort, print }: Input): Promise<readonly Step[]> {
  const { receiver } = webhooks;
  const { chain, network, baseUrls, merchantId, compareBooks } = scene;
  const shop = {
    chain,
    network,
    baseUrls,
    merchantId,
    compareBooks,
    receiver,
    get apiKey() {
      return partner.apiKey;
    },
  };
  const customers = startCustomers(shop, { shoppers: SHOPPERS, answerWithinMs: ANSWER_WITHIN_MS, askEveryMs: 250 });
  const steps: Step[] = [];
  const step = async (name: string, rotate: () => Promise<void>) => {
    const before = countsOf(customers, webhooks);
    await rotate();
    // The rotated secret has served whole orders before the next one is rotated.
    await customers.untilServed(2 * SHOPPERS, `orders are served after: ${name}`);
    const after = countsOf(customers, webhooks);
    const [requests, payments, webhook] = [
      after.failed - before.failed,
      after.wrong - before.wrong,
      after.refused - before.refused,
    ];
    const result = `${after.ended - before.ended} payments paid and refunded, ${payments} failed, ${requests} failed requests, ${webhook} refused webhooks`;
    steps.push({ step: name, result, isGood: requests + payments + webhook === 0 });
    print(`${name}: ${result}`);
  };
  const signers: PolicySigner[] = [];
  try {
    await customers.untilServed(SHOPPERS, 'orders are served');
    await step('API key', async () => {
      const keys = (await till(scene.settings(), 'keys', 'list')) as readonly { id: string; hint: string }[];
      const id = keys.find(({ hint }) => partner.apiKey.endsWith(hint))?.id ?? '';
      const next = (await till(scene.settings(), 'keys', 'rotate', id)) as { secret: string };
      partner.apiKey = next.secret;
    });
    await step('webhook secret', () => rotateWebhookSecret(webhooks, customers));
    await step('relayer', () => rotateRelayer(scene));
    await step('intermediate account', () => rotateIntermediate(scene));
    await step('key of refunds, into an external signer', async () => {
      signers.push(await signElsewhere(scene, customers));
    });
    await step('external signer, replaced by another one', async () => {
      signers.push(await signElsewhere(scene, customers));
      // Nobody asks the first signer any more.
      await signers[0]?.stop();
    });
    await step('database password', async () => {
      scene.configure(await scene.prepareNextRole());
      await restartAll(scene);
      await scene.closeFirstRole();
    });
    if (!isShort) {
      await step('RPC key', async () => {
        scene.configure({ RPC_URLS: `${NETWORK}=${scene.rpcUrl}/?key=${randomBytes(8).toString('hex')}` });
        await restartAll(scene);
      });
      await step('TILL_SECRET', () => rotateMaster(scene, heads));
    }
    await customers.stop();
    for (const { problem } of customers.failedRequests()) print(problem ?? '');
    return [...steps, ...(await judgeAll(shop, customers.orders, print))];
  } finally {
    await customers.stop();
    for (const signer of signers) await signer.stop();
  }
}

const countsOf = (customers: Customers, { counts }: SecretReceiver) => ({
  ended: customers.endedOrders(),
  failed: customers.failedRequests().length,
  wrong: customers.wrongOrders(),
  refused: counts.refused,
});

/** The receiver takes the new secret some time after the gateway, and another one after the last. */
async function rotateWebhookSecret(webhooks: SecretReceiver, customers: Customers): Promise<void> {
  const next = await webhooks.rotate();
  await customers.untilServed(SHOPPERS, 'orders are served while the gateway signs with both secrets');
  webhooks.use(next);
  const known = webhooks.counts.verified;
  await until('deliveries are verified by the new secret', () => webhooks.counts.verified >= known + SHOPPERS, SOON);
}

/** Moves the key of the account that pays refunds out of the settings, into a signer at a new URL. */
async function signElsewhere(scene: NodesScene, customers: Customers): Promise<PolicySigner> {
  const key = SANDBOX_KEYS.intermediate;
  const signer = await startPolicySigner({ key, asset: `${NETWORK}/erc20:${TOKEN}`, units: SIGNER_UNITS });
  scene.configure({
    EXTERNAL_SIGNER_URL: signer.url,
    OTHER_INTERMEDIATE_KEYS: `${NETWORK}=${SANDBOX_ACCOUNTS.intermediate}`,
  });
  await restartAll(scene);
  await customers.untilServed(SHOPPERS, 'orders are served with the external signer');
  if (signer.signatures() === 0) throw new Error('The external signer was not asked for a signature.');
  return signer;
}

async function rotateRelayer(scene: NodesScene): Promise<void> {
  // The next relayer needs coin for its share of the items before it begins.
  const key = SANDBOX_KEYS.secondPayer;
  const kept = SANDBOX_KEYS.secondRelayer;
  scene.configure({ RELAYER_KEYS: `${NETWORK}=${SANDBOX_KEYS.relayer},${kept},${key}` });
  await restartAll(scene);
  const old = `${NETWORK}:${SANDBOX_ACCOUNTS.relayer}`;
  await till(scene.settings(), 'accounts', 'retire', 'relayer', old);
  await until(
    'the retired relayer has nothing in flight',
    async () => {
      const rows = (await till(scene.settings(), 'accounts', 'list')) as readonly Listed[];
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
  await till(scene.settings(), 'accounts', 'add', 'intermediate', account);
  scene.configure({
    INTERMEDIATE_ACCOUNT: `${NETWORK}=${address}`,
    INTERMEDIATE_KEY: `${NETWORK}=${key}`,
    OTHER_INTERMEDIATE_KEYS: `${NETWORK}=${SANDBOX_KEYS.intermediate}`,
  });
  await till(scene.settings(), 'accounts', 'rotate', account);
  await restartAll(scene);
}

async function rotateMaster(scene: NodesScene, heads: string): Promise<void> {
  const old = scene.settings().TILL_SECRET;
  const next = randomBytes(32).toString('base64');
  for (const TILL_SECRET of [`${old} ${next}`, `${next} ${old}`]) {
    scene.configure({ TILL_SECRET });
    await restartAll(scene);
  }
  await till(scene.settings(), 'secret', 'rotate', '--head', join(heads, 'head.json'));
  // No payer of this drill keeps an option for longer than a restart, so the wait of ten minutes is left out.
  scene.configure({ TILL_SECRET: next });
  await restartAll(scene);
}

function newKey(): `0x${string}` {
  return `0x${randomBytes(32).toString('hex')}`;
}
