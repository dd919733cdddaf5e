import { assetsOf } from '../chains/assets.ts';
import { SANDBOX_NETWORK } from '../chains/networks.ts';
import { SANDBOX_ACCOUNTS } from '../sandbox/genesis.ts';
import { createShopper, type Shopper } from '../sandbox/shopper.ts';
import { type Command, command } from './command.ts';
import { oneOf } from './kinds.ts';
import { required } from './options.ts';

/** The steps of a command in a sandbox, printed one line at a time. */
interface Scene extends Shopper {
  readonly steps: string[];
}

/** Makes an event happen, and returns the id of its object. */
type Recipe = (scene: Scene) => Promise<string>;

const PRICE = { unit: 'iso4217/USD', value: '1000' };
const HOUR_S = 3_600;
/** Longer than a signature is good for. */
const RUN_OUT_MS = 15 * 60_000;
/** Time for the request to arrive before the payment expires. */
const SHORT_LIFE_S = 5;

const create: Recipe = (scene) => createPayment(scene, {});

const paid: Recipe = async (scene) => {
  const id = await create(scene);
  await pay(scene, id);
  return id;
};

const refunded: Recipe = async (scene) => {
  const id = await paid(scene);
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

/** The way of a real payment of the sandbox to each event. Other events need an operator, or time that nobody can move. */
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
  'refund.created': refunded,
  'refund.processing': refunded,
  'refund.succeeded': refunded,
  'merchant.created': merchant,
  'merchant.updated': async (scene) => {
    const id = await merchant(scene);
    await scene.call('PATCH', `/v1/merchants/${id}`, { merchantName: 'Renamed shop' });
    scene.steps.push(`renamed ${id}`);
    return id;
  },
  'settlement_destination.changed': async (scene) => {
    const id = await merchant(scene);
    const asset = assetsOf(SANDBOX_NETWORK).find(({ symbol }) => symbol === 'USDC')?.id;
    const settlements = [{ asset, destination: `${SANDBOX_NETWORK}:${SANDBOX_ACCOUNTS.merchant}` }];
    await scene.call('POST', `/v1/merchants/${id}/settlements/crypto`, { settlements });
    scene.steps.push(`gave ${id} a destination for USDC`);
    return id;
  },
} as const satisfies Record<string, Recipe>;

const TYPES = Object.keys(RECIPES) as (keyof typeof RECIPES)[];

const trigger = command({
  name: 'trigger',
  summary: 'Make an event happen in the running sandbox, by a real payment, refund or merchant.',
  positionals: { type: required(oneOf(TYPES), 'The event.') },
  options: {},
  examples: ['trigger payment.succeeded', 'trigger refund.succeeded --json'],
  run: async ({ config, world }, { type }) => {
    const shopper = await createShopper(world, config.home);
    const steps: string[] = [];
    const scene = { ...shopper, steps };
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

async function arrived(scene: Scene, type: string, objectId: string): Promise<void> {
  const event = await scene.waitFor(type, objectId);
  scene.steps.push(`${type} ${event.id}`);
}

/** The time of the sandbox, in seconds since the epoch. */
async function nowS(scene: Scene): Promise<number> {
  const { now } = await scene.call('GET', '/v1/test/clock');
  return Math.floor(Date.parse(now) / 1000);
}
