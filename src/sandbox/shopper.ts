import type { Hex, TypedDataDefinition } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { World } from '../runtime/world.ts';
import { readSandbox } from './demo.ts';

/** A client that acts as shop and payer. It uses the public API of a running sandbox, with the keys of its `sandbox.json`. */
export interface Shopper {
  readonly baseUrl: string;
  call(method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<Answer>;
  /** Orders on the page of a payment link, and returns the payment's id. */
  order(linkId: string): Promise<string>;
  /** Pays like a wallet, in the asset with this symbol. */
  pay(paymentId: string, symbol: string): Promise<void>;
  /** Waits for the first event of this type about this object since the shopper was created. */
  waitFor(type: string, objectId: string): Promise<SeenEvent>;
}

export interface SeenEvent {
  readonly id: string;
  readonly type: string;
  readonly data: { readonly id: string; readonly paymentId?: string; readonly merchantId?: string };
}

// biome-ignore lint/suspicious/noExplicitAny: the API answers with JSON, and its shape is that of openapi.json
type Answer = any;

/** The sandbox cannot be used, or refused a request. The message is enough for the operator. */
export class ShopperError extends Error {
  override readonly name = 'ShopperError';
}

const REQUEST_MS = 40_000;
const HOLD_MS = 5_000;
const WAIT_MS = 60_000;

/** Reads `sandbox.json` of this folder, and checks that the sandbox answers. */
export async function createShopper(world: Pick<World, 'clock' | 'random'>, home: string): Promise<Shopper> {
  const sandbox = await readSandbox(home);
  if (sandbox?.merchantId === undefined || sandbox.chains === undefined || sandbox.payer === undefined) {
    throw new ShopperError(`There is no sandbox.json in ${home}: start a sandbox with npm start first.`);
  }
  const { baseUrl, apiKey, merchantId, chains, payer } = sandbox;
  const account = privateKeyToAccount(payer.privateKey as Hex);

  async function call(method: string, path: string, body?: object): Promise<Answer> {
    const headers = {
      'api-key': apiKey,
      'merchant-id': merchantId,
      ...(body && { 'content-type': 'application/json' }),
      ...(method === 'POST' && { 'idempotency-key': Buffer.from(world.random.bytes(12)).toString('hex') }),
    };
    let answer: Response;
    try {
      const signal = AbortSignal.timeout(REQUEST_MS);
      answer = await fetch(baseUrl + path, { method, headers, signal, ...(body && { body: JSON.stringify(body) }) });
    } catch {
      throw new ShopperError(`The sandbox does not answer at ${baseUrl}: start it with npm start.`);
    }
    const text = await answer.text();
    if (answer.ok) return JSON.parse(text);
    throw new ShopperError(`${method} ${path} was answered with ${answer.status}: ${text.slice(0, 500)}`);
  }

  function assetOf(symbol: string): string {
    return Object.values(chains).flatMap(({ assets }) => assets[symbol] ?? [])[0] ?? symbol;
  }

  const isSandbox = await call('GET', '/v1/test/clock').then(
    () => true,
    (error: unknown) => {
      if (!(error instanceof ShopperError) || !error.message.includes('answered with 404')) throw error;
      return false;
    },
  );
  if (!isSandbox) throw new ShopperError(`The gateway at ${baseUrl} is no sandbox.`);
  const { nextCursor: start } = await call('GET', '/v1/events?after=latest&limit=1');

  return {
    baseUrl,
    call,
    async order(linkId) {
      const { paymentLink } = await call('GET', `/v1/payment-links/${linkId}`);
      const form = new URLSearchParams({ once: Buffer.from(world.random.bytes(16)).toString('base64url') });
      const answer = await fetch(baseUrl + new URL(paymentLink.url).pathname, {
        method: 'POST',
        body: form,
        redirect: 'manual',
        signal: AbortSignal.timeout(REQUEST_MS),
      });
      const paymentId = URL.parse(answer.headers.get('location') ?? '')?.searchParams.get('pid');
      if (!paymentId) throw new ShopperError(`The page of ${linkId} answered with ${answer.status}.`);
      return paymentId;
    },
    async pay(paymentId, symbol) {
      const path = `/v1/gateway/payment/${paymentId}`;
      const { options } = await call('POST', `${path}/options`, { accounts: payer.accounts });
      const option = options.find(({ amount }: Answer) => amount.unit === `caip19/${assetOf(symbol)}`);
      if (option === undefined) throw new ShopperError(`${symbol} is not offered for ${paymentId}.`);
      const [first] = option.actions;
      const { actions } =
        first.type === 'build'
          ? await call('POST', `${path}/fetch`, { optionId: option.id, data: first.data.data })
          : option;
      const results = await Promise.all(
        actions.map(async ({ data }: Answer) => {
          const typedData = JSON.parse(data.params[1]) as TypedDataDefinition;
          return { type: 'walletRpc', data: [await account.signTypedData(typedData)] };
        }),
      );
      await call('POST', `${path}/confirm`, { optionId: option.id, results });
    },
    async waitFor(type, objectId) {
      const untilMs = world.clock.nowMs() + WAIT_MS;
      for (let after = start; world.clock.nowMs() < untilMs; ) {
        const { events, nextCursor } = await call(
          'GET',
          `/v1/events?after=${encodeURIComponent(after)}&types=${type}&maxPollMs=${HOLD_MS}`,
        );
        const found = (events as SeenEvent[]).find(({ data }) =>
          [data.id, data.paymentId, data.merchantId].includes(objectId),
        );
        if (found !== undefined) return found;
        after = nextCursor;
      }
      throw new ShopperError(`No event ${type} of ${objectId} came within a minute.`);
    },
  };
}
