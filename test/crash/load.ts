import { setTimeout as pause } from 'node:timers/promises';
import type { Hex, TypedDataDefinition } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { SANDBOX_KEYS, SANDBOX_TOKENS } from '../../src/sandbox/genesis.ts';
import type { CrashScene } from './scene.ts';

/** A payment as its client sees it, from the order to the refund. */
export interface Order {
  readonly number: number;
  /** Unique, so that the transfers of the payment are found on the chain by their amount. */
  readonly units: bigint;
  id?: string;
  /** The transactions that the API named as final. */
  paidBy?: string;
  refundedBy?: string;
  /** Contradictions between two answers, and refusals of correct requests. */
  readonly misreports: string[];
  isOver: boolean;
}

export type Load = ReturnType<typeof startLoad>;

const SHOPPERS = 8;
const FIRST_CENTS = 1_000;
const UNITS_PER_CENT = 10_000n;
const ASK_EVERY_MS = 40;
/** A request without an answer is repeated, as clients do. */
const ANSWER_WITHIN_MS = 2_000;
/** An order that takes longer is lost. */
const ENDS_WITHIN_MS = 90_000;
const payer = privateKeyToAccount(SANDBOX_KEYS.payer);
export const TOKEN = SANDBOX_TOKENS.USDC;

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

interface OptionBody {
  readonly id: string;
  readonly amount: { readonly unit: string };
  readonly actions: readonly { readonly data: { readonly data: string } }[];
}

class LostError extends Error {}

/** Customers who buy, pay and get a refund, one order after the other, until the load is stopped. */
export function startLoad(scene: CrashScene) {
  const orders: Order[] = [];
  const asset = `${scene.network}/erc20:${TOKEN}`;
  let isStopped = false;
  const shoppers = Promise.all(Array.from({ length: SHOPPERS }, shop));

  async function shop(): Promise<void> {
    while (!isStopped) {
      const number = orders.length;
      const units = BigInt(FIRST_CENTS + number) * UNITS_PER_CENT;
      const order: Order = { number, units, misreports: [], isOver: false };
      orders.push(order);
      try {
        await buy(order, performance.now() + ENDS_WITHIN_MS);
        order.isOver = true;
      } catch (error) {
        if (!(error instanceof LostError)) order.misreports.push(String(error));
      }
    }
  }

  async function buy(order: Order, deadline: number): Promise<void> {
    const ask = asker(order, deadline);
    const amount = { unit: 'iso4217/USD', value: String(FIRST_CENTS + order.number) };
    const created = await ask('POST', '/v1/payments', { amount, referenceId: `ORDER-${order.number}` }, 'create');
    const id = String(created.body.paymentId);
    order.id = id;
    const path = `/v1/gateway/payment/${id}`;
    const confirmation = await sign(ask, path);
    await ask('POST', `${path}/confirm`, confirmation);
    for (let status = 'processing'; status !== 'succeeded'; ) {
      const { body } = await ask('GET', `${path}/status`);
      if (body.status !== 'processing' && body.status !== 'succeeded') {
        throw new Error(`a confirmed payment was called ${body.status}`);
      }
      status = body.status;
      await pause(ASK_EVERY_MS);
    }
    order.paidBy = (await details(ask, id)).info?.txId ?? '';
    await ask('POST', '/v1/refunds', { paymentId: id }, 'refund');
    for (;;) {
      const { status, refund } = await details(ask, id);
      if (status !== 'succeeded') throw new Error(`a succeeded payment was called ${status}`);
      if (refund?.status === 'failed') throw new Error('a refund was called failed');
      if (refund?.status === 'refunded') {
        order.refundedBy = refund.txId ?? '';
        return;
      }
      await pause(ASK_EVERY_MS);
    }
  }

  type Ask = ReturnType<typeof asker>;

  async function sign(ask: Ask, path: string) {
    const { body } = await ask('POST', `${path}/options`, { accounts: [`${scene.network}:${payer.address}`] });
    const option = (body.options as OptionBody[]).find(({ amount }) => amount.unit === `caip19/${asset}`);
    if (option === undefined) throw new Error(`nothing was offered: ${JSON.stringify(body)}`);
    const request = JSON.parse(Buffer.from(option.actions[0]?.data.data ?? '', 'hex').toString());
    const signature = await payer.signTypedData(JSON.parse(String(request.params[1])) as TypedDataDefinition);
    return { optionId: option.id, results: [{ type: 'walletRpc', data: [signature] }] };
  }

  async function details(ask: Ask, id: string) {
    const { body } = await ask('GET', `/v1/payments/${id}`);
    return body as { status: string; info?: { txId: Hex } | null; refund?: { status: string; txId?: Hex } };
  }

  /** Repeats a request until it is answered. A request with a key gets the same id each time. */
  function asker(order: Order, deadline: number) {
    return async (method: 'GET' | 'POST', path: string, body?: object, purpose?: string): Promise<Answer> => {
      const headers = {
        'Api-Key': scene.apiKey,
        'Merchant-Id': scene.merchantId,
        'Content-Type': 'application/json',
        ...(purpose !== undefined && { 'Idempotency-Key': `${purpose}-${order.number}` }),
      };
      for (let attempt = 0; ; attempt += 1) {
        if (performance.now() > deadline) throw new LostError();
        const { baseUrls } = scene;
        const answer = await send(`${baseUrls[attempt % baseUrls.length]}${path}`, { method, headers, body });
        // 409: the first request with this key was cut off, and its transaction has yet to end.
        const isOpen = answer === undefined || answer.status >= 500 || answer.status === 409;
        if (!isOpen && answer.status >= 400) {
          throw new Error(`${method} ${path} was answered ${answer.status} ${JSON.stringify(answer.body)}`);
        }
        if (!isOpen) return answer;
        await pause(ASK_EVERY_MS);
      }
    };
  }

  return {
    orders,
    /** Orders that are under way. */
    open: () => orders.filter(({ isOver, misreports }) => !isOver && misreports.length === 0),
    /** Takes no new orders, and waits for the end of those under way. */
    async stop() {
      isStopped = true;
      await shoppers;
    },
  };
}

/** The answer, or undefined when there was none. */
async function send(
  url: string,
  { body, ...init }: { method: string; headers: Record<string, string>; body: object | undefined },
): Promise<Answer | undefined> {
  try {
    const answer = await fetch(url, {
      ...init,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  } catch {
    return undefined;
  }
}
