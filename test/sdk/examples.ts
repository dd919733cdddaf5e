import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTill, type Till, webhooks } from '../../sdk/src/till.ts';
import { payWith } from '../e2e/sandbox-payer.ts';
import { until } from '../until.ts';
import type { Sandbox } from '../wallet-sdk/sandbox.ts';

const SOURCES = join(import.meta.dirname, '../../sdk/src');
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const ASSET = 'eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const DESTINATION = 'eip155:8453:0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359';

type Code = (scope: Record<string, unknown>) => Promise<void>;
const AsyncFunction = (async () => {}).constructor as new (
  ...parts: string[]
) => (...values: unknown[]) => Promise<void>;

/** Runs the examples in the documentation of the library's methods. Each method must have one. */
export async function runExamples(sandbox: Sandbox, paidId: string): Promise<void> {
  const examples = readExamples();
  const till = createTill(sandbox);
  const methods = Object.entries({ ...till, webhooks }).flatMap(([object, own]) =>
    Object.keys(own).map((name) => (object === 'webhooks' ? `webhooks.${name}(` : `till.${object}.${name}(`)),
  );
  const without = methods.filter((method) => !examples.some((example) => example.includes(method)));
  assert.deepEqual(without, [], 'methods without an example');
  for (const example of examples) {
    try {
      await compile(example)(await scopeOf(sandbox, paidId, example));
    } catch (error) {
      throw new Error(`The example fails:\n${example}`, { cause: error });
    }
  }
}

function readExamples(): string[] {
  return readdirSync(SOURCES).flatMap((name) => {
    const comments = readFileSync(join(SOURCES, name), 'utf8').matchAll(/@example\n((?:\s*\*(?!\/).*\n)+)\s*\*\//g);
    return [...comments].map(([, lines = '']) => lines.replace(/^\s*\* ?/gm, ''));
  });
}

function compile(code: string): Code {
  return (scope) => new AsyncFunction(...Object.keys(scope), `{ ${code} }`)(...Object.values(scope));
}

/** An endpoint, and one of its deliveries if it is needed. */
async function newEndpoint(till: Till, hasDelivery: boolean) {
  const { id: endpointId } = await till.webhookEndpoints.create({ url: 'http://127.0.0.1:9/hook', events: ['*'] });
  if (!hasDelivery) return { endpointId };
  const { eventId: deliveryId } = await till.webhookEndpoints.test(endpointId);
  // Events of other examples may be delivered first.
  const isThere = async () => {
    const { deliveries } = await till.webhookEndpoints.deliveries(endpointId).page();
    return deliveries.some(({ eventId }) => eventId === deliveryId);
  };
  await until('the test event is to be delivered', isThere);
  return { endpointId, deliveryId };
}

/** Late money: the sandbox pays the payment once more. */
async function newLateMoney(sandbox: Sandbox, till: Till) {
  const amount = { unit: 'iso4217/USD', value: '1000' };
  const order = { amount, referenceId: 'TWICE', metadata: { sandbox: 'double' } };
  const { paymentId } = await till.payments.create(order);
  const payer = await sandbox.createWallet({ USDC: 10_000_000n });
  await payWith(sandbox, payer, paymentId, 'USDC');
  const find = async () => (await till.lateMoney.list({ paymentId }).page()).lateMoney[0];
  await until('the money is named', async () => (await find()) !== undefined, { withinMs: 60_000 });
  return { lateId: (await find())?.id, payerAccount: `eip155:31337:${payer.address}` };
}

/** The names that examples may use: a payment that waits, one that has succeeded, and so on. */
async function scopeOf(sandbox: Sandbox, paidId: string, example: string) {
  const { baseUrl, apiKey } = sandbox;
  const till = createTill(sandbox);
  const uses = (name: string) => example.includes(name);
  const order = { amount: { unit: 'iso4217/USD', value: '1000' }, referenceId: 'EXAMPLE' };
  const merchant = { merchantName: 'Example', merchantEmail: 'shop@example.com' };
  const isOfPayment = uses('paymentId') || uses('paidId');
  const merchantId = isOfPayment ? sandbox.merchantId : (await till.merchants.create(merchant)).id;
  const register = () => till.settlementDestinations.create(merchantId, [{ asset: ASSET, destination: DESTINATION }]);
  const body = JSON.stringify({ id: 'evt_1', type: 'payment.succeeded', data: {} });
  const headers = await webhooks.sign({ id: 'evt_1', body, secret: SECRET });
  return {
    createTill,
    webhooks,
    till,
    baseUrl,
    apiKey,
    merchantId,
    paidId,
    paymentId: uses('paymentId') && (await till.payments.create(order)).paymentId,
    destinationId: uses('destinationId') && (await register())[0]?.id,
    linkId: uses('linkId') && (await till.paymentLinks.create({ description: 'Example', amount: order.amount })).id,
    eventId: uses('eventId') && (await till.events.page({ limit: 1 })).events[0]?.id,
    ...(uses('lateId') && (await newLateMoney(sandbox, till))),
    ...(uses('endpointId') && (await newEndpoint(till, uses('deliveryId')))),
    request: new Request('http://shop.example/hook', { method: 'POST', body, headers }),
    console: { log: () => {} },
  };
}
