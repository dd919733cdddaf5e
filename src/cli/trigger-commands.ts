import { assetsOf, type RegistryDeps } from '../chains/registry.ts';
import type { PublicEventType } from '../domain/event.ts';
import { SANDBOX_ACCOUNTS } from '../sandbox/genesis.ts';
import { SANDBOX_NETWORK } from '../sandbox/sandbox-network.ts';
import { createShopper, type Shopper } from '../sandbox/shopper.ts';
import { SLOW_ADDRESS } from '../settings/cooling-off.ts';
import { type Command, command } from './command.ts';
import { oneOf } from './kinds.ts';
import { required } from './options.ts';

/** A run of `trigger` in a sandbox. `steps` collects its steps, which are printed one on each line. */
interface Scene extends Shopper, RegistryDeps {
  readonly steps: string[];
}

type Recipe = (scene: Scene) => Promise<string>;

const PRICE = { unit: 'iso4217/USD', value: '1000' };
const HOUR_S = 3_600;
/** The time by which the sandbox's clock is moved ahead to make signatures expire. It is longer than any signature is valid. */
const RUN_OUT_MS = 15 * 60_000;
/** The lifetime of a payment that is to expire: long enough for the request to arrive before the payment expires. */
const SHORT_LIFE_S = 5;

const create: Recipe = (scene) => createPayment(scene, {});

const paid: Recipe = async (scene) => {
  const id = await create(scene);
  await pay(scene, id);
  return id;
};

const refunded = async (scene: Scene, fields: object = {}): Promise<string> => {
  const id = await createPayment(scene, fields);
  await pay(scene, id);
  await arrived(scene, 'payment.succeeded', id);
  await scene.call('POST', '/v1/refunds', { paymentId: id });
  scene.steps.push(`asked for the refund of ${id}`);
  return id;
};

const merchant: Recipe = async (scene) => {
  const body = { merchantName: 'Triggered shop', merchantEmail: 'shop@example.com' };
  const { merchant: made } = await scene.call('POST', '/v1/merchants', body);
  scene.steps.push(`created the merchant ${made.id}`);
  return made.id;
};

const link = async (scene: Scene, fields: object = {}): Promise<string> => {
  const { paymentLink } = await scene.call('POST', '/v1/payment-links', {
    description: 'Triggered link',
    amount: PRICE,
    ...fields,
  });
  scene.steps.push(`created the payment link ${paymentLink.id}`);
  return paymentLink.id;
};

/**
 * Creates a merchant with a settlement destination, and asks to change the destination to an address whose change waits, as all
 * changes do in live mode. Then asks for a change to each address of `thenTo`.
 */
const redirected = async (scene: Scene, ...thenTo: readonly string[]): Promise<string> => {
  const id = await merchant(scene);
  const settlementId = await register(scene, id);
  for (const address of [SLOW_ADDRESS, ...thenTo]) {
    const destination = `${SANDBOX_NETWORK}:${address}`;
    await scene.call('PUT', `/v1/merchants/${id}/settlements/crypto/${settlementId}`, { destination });
    scene.steps.push(`asked to change it to ${address}`);
  }
  return id;
};

/** Registers a webhook endpoint whose receiver always answers 410. Then tests it, waits until it is disabled, and deletes it. */
const unwelcome: Recipe = async (scene) => {
  const body = { url: `${scene.baseUrl}/demo/gone`, events: ['webhook_endpoint.test'], description: 'till trigger' };
  const { webhookEndpoint } = await scene.call('POST', '/v1/webhook-endpoints', body);
  const { id } = webhookEndpoint;
  scene.steps.push(`registered the webhook endpoint ${id}, whose receiver answers 410`);
  await scene.call('POST', `/v1/webhook-endpoints/${id}/test`, {});
  scene.steps.push('sent it a test');
  await scene.waitFor('webhook_endpoint.disabled', id);
  await scene.call('DELETE', `/v1/webhook-endpoints/${id}`);
  scene.steps.push('deleted it');
  return id;
};

/** The recipe for each event: steps with real objects of the sandbox that cause the event. */
const RECIPES = {
  'payment.created': create,
  'payment.processing': paid,
  'payment.requires_action': async (scene) => {
    const id = await createPayment(scene, { ...asking('wait'), expiresAt: (await nowS(scene)) + HOUR_S });
    await pay(scene, id);
    await arrived(scene, 'payment.processing', id);
    const { now } = await scene.call('POST', '/v1/test/clock', { advanceMs: RUN_OUT_MS });
    scene.steps.push(`moved the clock of the sandbox by 15 minutes, to ${now}: the signature has run out`);
    return id;
  },
  'payment.succeeded': paid,
  'payment.failed': (scene) => rehearsed(scene, 'fail'),
  'payment.expired': async (scene) => createPayment(scene, { expiresAt: (await nowS(scene)) + SHORT_LIFE_S }),
  'payment.cancelled': async (scene) => {
    const id = await create(scene);
    await scene.call('POST', `/v1/payments/${id}/cancel`, {});
    scene.steps.push(`cancelled ${id}`);
    return id;
  },
  'payment.settled': paid,
  'payment.reorged': (scene) => rehearsed(scene, 'reorg'),
  'payment.late_money': (scene) => rehearsed(scene, 'double'),
  'payment.late_money_updated': async (scene) => {
    const id = await rehearsed(scene, 'double');
    await arrived(scene, 'payment.late_money', id);
    const { lateMoney } = await scene.call('GET', `/v1/late-money?paymentId=${id}`);
    const destination = `${SANDBOX_NETWORK}:${SANDBOX_ACCOUNTS.payer}`;
    await scene.call('POST', `/v1/late-money/${lateMoney[0].id}/return`, { destination });
    scene.steps.push(`asked for the return of ${lateMoney[0].id} to ${destination}`);
    return id;
  },
  'refund.created': (scene) => refunded(scene),
  'refund.processing': (scene) => refunded(scene),
  'refund.succeeded': (scene) => refunded(scene),
  'refund.failed': (scene) => refunded(scene, asking('refund_fails')),
  'payment_link.created': (scene) => link(scene),
  'payment_link.updated': async (scene) => {
    const id = await link(scene);
    await scene.call('PATCH', `/v1/payment-links/${id}`, { description: 'Another description' });
    scene.steps.push(`changed ${id}`);
    return id;
  },
  'payment_link.sold_out': async (scene) => {
    const id = await link(scene, { stock: 1 });
    const paymentId = await scene.order(id);
    scene.steps.push(`ordered ${paymentId} on its page`);
    await pay(scene, paymentId);
    return id;
  },
  'merchant.created': merchant,
  'merchant.updated': async (scene) => {
    const id = await merchant(scene);
    await scene.call('PATCH', `/v1/merchants/${id}`, { merchantName: 'Renamed shop' });
    scene.steps.push(`renamed ${id}`);
    return id;
  },
  'settlement_destination.changed': async (scene) => {
    const id = await merchant(scene);
    await register(scene, id);
    return id;
  },
  'settlement_destination.pending': (scene) => redirected(scene),
  'settlement_destination.vetoed': (scene) => redirected(scene, SANDBOX_ACCOUNTS.merchant),
  'webhook_endpoint.disabled': unwelcome,
  'webhook_endpoint.test': unwelcome,
} as const satisfies Record<PublicEventType, Recipe>;

const TYPES = Object.keys(RECIPES) as (keyof typeof RECIPES)[];

const trigger = command({
  name: 'trigger',
  summary: 'Make an event happen in the running sandbox, by a real payment, refund, merchant or webhook endpoint.',
  positionals: { type: required(oneOf(TYPES), 'The event.') },
  examples: ['trigger payment.succeeded', 'trigger refund.succeeded --json'],
  run: async ({ config, world }, { type }) => {
    const shopper = await createShopper(world, config.home);
    const steps: string[] = [];
    const scene = { ...shopper, registry: config.registry, steps };
    const objectId = await RECIPES[type](scene);
    const event = await shopper.waitFor(type, objectId);
    steps.push(`${type} ${event.id}`);
    return { json: { type, objectId, eventId: event.id, steps }, text: steps.join('\n') };
  },
});

export const triggerCommands: readonly Command[] = [trigger];

function asking(outcome: string) {
  return { metadata: { sandbox: outcome } };
}

async function createPayment(scene: Scene, fields: object): Promise<string> {
  const body = { amount: PRICE, referenceId: 'TRIGGER', ...fields };
  const { paymentId } = await scene.call('POST', '/v1/payments', body);
  scene.steps.push(`created the payment ${paymentId} of 10.00 USD`);
  return paymentId;
}

async function pay(scene: Scene, paymentId: string): Promise<void> {
  await scene.pay(paymentId, 'USDC');
  scene.steps.push(`paid ${paymentId} in USDC`);
}

async function rehearsed(scene: Scene, outcome: string): Promise<string> {
  const id = await createPayment(scene, asking(outcome));
  scene.steps.push(`it asks for the outcome "${outcome}"`);
  await pay(scene, id);
  return id;
}

/** Adds a destination for USDC to a merchant, and returns the id of the settlement. */
async function register(scene: Scene, merchantId: string): Promise<string> {
  const asset = assetsOf(scene.registry, SANDBOX_NETWORK).find(({ symbol }) => symbol === 'USDC')?.id;
  const settlements = [{ asset, destination: `${SANDBOX_NETWORK}:${SANDBOX_ACCOUNTS.merchant}` }];
  const answer = await scene.call('POST', `/v1/merchants/${merchantId}/settlements/crypto`, { settlements });
  scene.steps.push(`gave ${merchantId} a destination for USDC`);
  return answer.settlements[0].id;
}

async function arrived(scene: Scene, type: string, objectId: string): Promise<void> {
  const event = await scene.waitFor(type, objectId);
  scene.steps.push(`${type} ${event.id}`);
}

/** The time of the sandbox, in seconds since the epoch. */
async function nowS(scene: Scene): Promise<number> {
  const { now } = await scene.call('GET', '/v1/test/clock');
  return Math.floor(Date.parse(now) / 1000);
}
