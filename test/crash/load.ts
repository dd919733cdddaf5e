import { setTimeout as pause } from 'node:timers/promises';
import type { Hex, TypedDataDefinition } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { refundIdOf } from '../../src/domain/ids.ts';
import { SANDBOX_KEYS } from '../../src/sandbox/genesis.ts';
import type { CrashScene } from './scene.ts';
import { TOKEN } from './settings.ts';
import { signX402 } from './sign-x402.ts';

/** A payment as its client sees it, from the order to the refund. */
export interface Order {
  readonly number: number;
  readonly way: Way;
  /** Unique, so that the transfers of the payment are found on the chain by their amount. */
  readonly units: bigint;
  id?: string;
  /** The transactions that the API named as final. */
  paidBy?: string;
  refundedBy?: string;
  /** Of an order by address: the transaction by which money came back that was sent once more. */
  returnedBy?: string;
  /** The address that a receipt was asked for. */
  mailedTo?: string;
  /** Contradictions between two answers, and refusals of correct requests. */
  readonly misreports: string[];
  isOver: boolean;
}

/** A request, as its client saw it. */
export interface Sent {
  readonly fromMs: number;
  readonly toMs: number;
  /** The reason why it is repeated; undefined if it was answered. */
  readonly problem: string | undefined;
}

/**
 * `wallet`: signed by the payer. `address`: a plain transfer. `x402`: an authorization of a program. `hand`: signed by the payer,
 * and its refund by the merchant.
 */
type Way = 'wallet' | 'address' | 'x402' | 'hand';
const WAYS: readonly Way[] = ['wallet', 'address', 'x402', 'hand'];

export type Load = ReturnType<typeof startLoad>;

/** The part of a scene that customers need. */
export type LoadedScene = Pick<CrashScene, 'network' | 'baseUrls' | 'apiKey' | 'merchantId'> &
  Partial<Pick<CrashScene, 'wallet' | 'hand' | 'mailServer'>>;

export interface LoadInput {
  /** The customers who buy one thing after the other. */
  readonly shoppers?: number;
  /** Instead, an order begins every so many milliseconds. */
  readonly everyMs?: number;
  readonly answerWithinMs?: number;
  /** An order that takes longer is lost. */
  readonly endsWithinMs?: number;
  /** The pause between two questions for a status. */
  readonly askEveryMs?: number;
  /** The number of the first order. Each order of a scene needs another one. */
  readonly firstNumber?: number;
  readonly onSent?: (sent: Sent) => void;
}

const SHOPPERS = 8;
/** Orders at once, if they begin by the clock. */
const MAX_OPEN = 300;
const FIRST_CENTS = 1_000;
const UNITS_PER_CENT = 10_000n;
/** Late money is a little more than the price, so that its transfers are found by their amount, too. */
export const MORE_UNITS = 1n;
const ASK_EVERY_MS = 40;
/** Lists have a limit of their own. */
const LIST_EVERY_MS = 2_000;
/** A request without an answer is repeated, as clients do. */
const ANSWER_WITHIN_MS = 2_000;
/** Less than the life of a payment, so that an order which only its expiry repairs is lost. */
const ENDS_WITHIN_MS = 240_000;
/** Of an answer that is repeated. */
const SHOWN_CHARS = 120;
const payer = privateKeyToAccount(SANDBOX_KEYS.payer);

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

interface OptionBody {
  readonly id: string;
  readonly amount: { readonly unit: string };
  readonly actions: readonly { readonly data: { readonly data: string } }[];
}

interface Asking {
  readonly body?: object;
  /** Of a request with an Idempotency-Key. */
  readonly purpose?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

class LostError extends Error {}

/** Customers who buy, pay and get a refund, until the load is stopped. */
export function startLoad(scene: LoadedScene, input: LoadInput = {}) {
  const { shoppers = SHOPPERS, everyMs, answerWithinMs = ANSWER_WITHIN_MS, firstNumber = 0, onSent } = input;
  const { askEveryMs = ASK_EVERY_MS, endsWithinMs = ENDS_WITHIN_MS } = input;
  const orders: Order[] = [];
  const asset = `${scene.network}/erc20:${TOKEN}`;
  let isStopped = false;
  const shopping = everyMs === undefined ? Promise.all(Array.from({ length: shoppers }, shop)) : shopByClock(everyMs);

  async function shop(): Promise<void> {
    while (!isStopped) await order();
  }

  async function shopByClock(pauseMs: number): Promise<void> {
    const open = new Set<Promise<void>>();
    for (let nextMs = performance.now(); !isStopped; nextMs += pauseMs) {
      if (open.size < MAX_OPEN) {
        const begun = order().finally(() => open.delete(begun));
        open.add(begun);
      }
      await pause(Math.max(0, nextMs + pauseMs - performance.now()));
    }
    await Promise.all(open);
  }

  async function order(): Promise<void> {
    const number = firstNumber + orders.length;
    const units = BigInt(FIRST_CENTS + number) * UNITS_PER_CENT;
    const way = scene.hand === undefined ? 'wallet' : (WAYS[number % WAYS.length] ?? 'wallet');
    const placed: Order = { number, way, units, misreports: [], isOver: false };
    orders.push(placed);
    try {
      await buy(placed, performance.now() + endsWithinMs);
      placed.isOver = true;
    } catch (error) {
      if (!(error instanceof LostError)) placed.misreports.push(String(error));
    }
  }

  async function buy(order: Order, deadline: number): Promise<void> {
    const ask = asker(order, deadline);
    const amount = { unit: 'iso4217/USD', value: String(FIRST_CENTS + order.number) };
    const created = await ask('POST', '/v1/payments', {
      body: { amount, referenceId: `ORDER-${order.number}` },
      purpose: 'create',
    });
    const id = String(created.body.paymentId);
    order.id = id;
    const path = `/v1/gateway/payment/${id}`;
    const hasAddress = order.way === 'address' || order.way === 'x402';
    const address = order.way === 'address' ? await askForAddress(ask, path) : undefined;
    if (address !== undefined) await scene.wallet?.transfer(address, order.units);
    else if (order.way === 'x402') await authorize(ask, id, order.units);
    else await ask('POST', `${path}/confirm`, { body: await sign(ask, path) });
    await succeed(ask, path, order.way);
    order.paidBy = (await details(ask, id)).info?.txId ?? '';
    // A payment by address has no receipt.
    if (scene.mailServer !== undefined && !hasAddress) {
      const email = `order-${order.number}@shop.example`;
      await ask('POST', `${path}/receipt-email`, { body: { email } });
      order.mailedTo = email;
    }
    // The sender of a transfer may be an exchange, so its refund names an account.
    const to = hasAddress ? { destination: `${scene.network}:${payer.address}` } : {};
    await ask('POST', '/v1/refunds', { body: { paymentId: id, ...to }, purpose: 'refund' });
    if (order.way === 'hand') await signRefund(ask, refundIdOf(id, 1));
    for (;;) {
      const { status, refund } = await details(ask, id);
      if (status !== 'succeeded') throw new Error(`a succeeded payment was called ${status}`);
      if (refund?.status === 'failed') throw new Error('a refund was called failed');
      if (refund?.status === 'refunded') {
        order.refundedBy = refund.txId ?? '';
        if (address !== undefined) order.returnedBy = await returnLate(ask, order, address);
        return;
      }
      await pause(askEveryMs);
    }
  }

  /** Waits for the success. A payment that was confirmed is under way at once; a transfer is first seen in a block. */
  async function succeed(ask: Ask, path: string, way: Way): Promise<void> {
    let allowed = way === 'address' ? ['requires_action', 'processing'] : ['processing'];
    for (;;) {
      const { body } = await ask('GET', `${path}/status`);
      const status = String(body.status);
      if (status === 'succeeded') return;
      if (!allowed.includes(status)) throw new Error(`a payment under way was called ${status}`);
      if (status === 'processing') allowed = ['processing'];
      await pause(askEveryMs);
    }
  }

  /** The address of the payment, to which a wallet sends that knows nothing of it. */
  async function askForAddress(ask: Ask, path: string): Promise<string> {
    const { body } = await ask('POST', `${path}/address`, { body: { asset } });
    return String(body.address).slice(scene.network.length + 1);
  }

  /** Sends more to the address when everything is over, and has it returned. Returns the transaction of the return. */
  async function returnLate(ask: Ask, { id, units }: Order, address: string): Promise<string> {
    await scene.wallet?.transfer(address, units + MORE_UNITS);
    let lateId: string | undefined;
    while (lateId === undefined) {
      const { body } = await ask('GET', `/v1/late-money?paymentId=${id}`);
      lateId = (body.lateMoney as { id: string }[])[0]?.id;
      if (lateId === undefined) await pause(LIST_EVERY_MS);
    }
    const destination = `${scene.network}:${payer.address}`;
    await ask('POST', `/v1/late-money/${lateId}/return`, { body: { destination }, purpose: 'return' });
    for (;;) {
      const { body } = await ask('GET', `/v1/late-money/${lateId}`);
      if (body.status === 'unclaimed') throw new Error('a requested return was called unclaimed');
      if (body.status === 'returned') return String(body.returnTxId);
      await pause(askEveryMs);
    }
  }

  /** Pays as a program does. Once it has signed, no answer may ask it to pay again. */
  async function authorize(ask: Ask, id: string, units: bigint): Promise<void> {
    const path = `/x402/${id}`;
    const { status, body } = await ask('GET', path);
    if (status !== 402) throw new Error(`a program that has not paid was answered ${status}`);
    const header = await signX402(body, units);
    const paid = await ask('GET', path, { headers: { 'Payment-Signature': header } });
    if (paid.status !== 200) throw new Error(`a program that has signed was answered ${paid.status}`);
  }

  /** The account of the merchant signs for the refund. */
  async function signRefund(ask: Ask, refundId: string): Promise<void> {
    for (;;) {
      const { body } = await ask('GET', `/v1/refunds/${refundId}`);
      const { signUrl } = body as { signUrl?: string };
      if (signUrl !== undefined) return signAt(ask, `/v1/gateway/refund/rfnd_${signUrl.split('/r/')[1]}`);
      await pause(askEveryMs);
    }
  }

  async function signAt(ask: Ask, path: string): Promise<void> {
    const { body } = await ask('POST', `${path}/actions`, { body: {} });
    const [action] = body.actions as readonly { readonly data: { readonly params: readonly string[] } }[];
    const typed = JSON.parse(action?.data.params[1] ?? '') as TypedDataDefinition;
    await ask('POST', `${path}/confirm`, { body: { result: await scene.hand?.account.signTypedData(typed) } });
  }

  type Ask = ReturnType<typeof asker>;

  async function sign(ask: Ask, path: string) {
    const option = await choose(ask, path);
    const request = JSON.parse(Buffer.from(option.actions[0]?.data.data ?? '', 'hex').toString());
    const signature = await payer.signTypedData(JSON.parse(String(request.params[1])) as TypedDataDefinition);
    return { optionId: option.id, results: [{ type: 'walletRpc', data: [signature] }] };
  }

  /** Asks until the token is offered: it is not while its chain is out of reach. */
  async function choose(ask: Ask, path: string): Promise<OptionBody> {
    for (;;) {
      const { body } = await ask('POST', `${path}/options`, {
        body: { accounts: [`${scene.network}:${payer.address}`] },
      });
      const option = (body.options as OptionBody[]).find(({ amount }) => amount.unit === `caip19/${asset}`);
      if (option !== undefined) return option;
      await pause(askEveryMs);
    }
  }

  async function details(ask: Ask, id: string) {
    const { body } = await ask('GET', `/v1/payments/${id}`);
    return body as { status: string; info?: { txId: Hex } | null; refund?: { status: string; txId?: Hex } };
  }

  /** Repeats a request until it is answered. A request with a key gets the same id each time. */
  function asker(order: Order, deadline: number) {
    return async (method: 'GET' | 'POST', path: string, { body, purpose, headers: further }: Asking = {}) => {
      const headers = {
        'Api-Key': scene.apiKey,
        'Merchant-Id': order.way === 'hand' ? (scene.hand?.merchantId ?? '') : scene.merchantId,
        'Content-Type': 'application/json',
        ...(purpose !== undefined && { 'Idempotency-Key': `${purpose}-${order.number}` }),
        ...further,
      };
      for (let attempt = 0; ; attempt += 1) {
        if (performance.now() > deadline) throw new LostError();
        const { baseUrls } = scene;
        const url = `${baseUrls[(order.number + attempt) % baseUrls.length]}${path}`;
        const fromMs = performance.now();
        const answer = await send(url, { method, headers, body, withinMs: answerWithinMs });
        const problem = typeof answer === 'string' ? answer : problemOf(answer);
        onSent?.({ fromMs, toMs: performance.now(), problem: problem && `${method} ${path}: ${problem}` });
        // 409: the first request with this key was cut off, and its transaction has yet to end. 429: a list took too long.
        if (typeof answer !== 'string' && answer.status < 500 && ![409, 429].includes(answer.status)) {
          if (answer.status < 400 || answer.status === 402) return answer;
          throw new Error(`${method} ${path} was answered ${answer.status} ${JSON.stringify(answer.body)}`);
        }
        await pause(askEveryMs);
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
      await shopping;
    },
  };
}

/** Undefined if the answer is one. Otherwise the status with the first words, which tell a node from its load balancer. */
function problemOf({ status, body }: Answer): string | undefined {
  return status >= 500 ? `${status} ${String(body.text).replace(/\s+/g, ' ').slice(0, SHOWN_CHARS)}` : undefined;
}

interface Sending {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: object | undefined;
  readonly withinMs: number;
}

/** The answer, or the reason why there was none. */
async function send(url: string, { body, withinMs, ...init }: Sending): Promise<Answer | string> {
  try {
    const answer = await fetch(url, {
      ...init,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(withinMs),
    });
    const text = await answer.text();
    // A load balancer answers with a page of its own when it has no node.
    return { status: answer.status, body: answer.status >= 500 ? { text } : JSON.parse(text) };
  } catch (error) {
    const { name, cause } = error as Error & { cause?: { code?: string } };
    return cause?.code ?? name;
  }
}
