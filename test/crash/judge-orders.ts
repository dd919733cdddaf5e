import { decodeEventLog, encodeEventTopics, type Hex, parseAbi } from 'viem';
import { SANDBOX_ACCOUNTS } from '../../src/sandbox/genesis.ts';
import { until } from '../until.ts';
import { MORE_UNITS, type Order } from './load.ts';
import type { CrashScene } from './scene.ts';
import { TOKEN } from './settings.ts';

/** The part of a scene that the judgement needs. */
export type JudgedScene = Pick<CrashScene, 'baseUrls' | 'apiKey' | 'merchantId'> & {
  readonly chain: { readonly rpcUrl: string };
} & Partial<Pick<CrashScene, 'receiver' | 'mailServer' | 'hand'>>;

/** The outcome of orders, read from the API and the chain. */
export interface Judgement {
  /** Orders that did not come to their end in time. */
  readonly lost: readonly string[];
  /** Payments or refunds with more than one transfer. */
  readonly doubled: readonly string[];
  /** Answers that contradict each other or the chain. */
  readonly misreported: readonly string[];
}

const ABI = parseAbi(['event Transfer(address indexed from, address indexed to, uint256 value)']);

interface Log {
  readonly topics: [Hex, ...Hex[]];
  readonly data: Hex;
  readonly transactionHash: Hex;
}

/**
 * Compares every order with the transfers of its payer and with its events: one transfer to pay, one to be refunded and one to return late money, by
 * the transactions that the API named, one event of its success, which the receiver of webhooks got, no gap between its
 * events, and the receipt that was asked for.
 */
export async function judgeOrders(scene: JudgedScene, orders: readonly Order[]): Promise<Judgement> {
  const { payer } = SANDBOX_ACCOUNTS;
  const [paid, refunded, events] = await Promise.all([
    transfers(scene, { from: payer }),
    transfers(scene, { to: payer }),
    eventsByPayment(scene),
  ]);
  const paidIds = orders.flatMap(({ id, paidBy }) => (id !== undefined && paidBy !== undefined ? [id] : []));
  const reported = scene.receiver && (await reportedSuccesses(scene.receiver, paidIds));
  const addresses = orders.flatMap(({ mailedTo }) => mailedTo ?? []);
  const mailed = scene.mailServer && (await receiptsMailed(scene.mailServer, addresses));
  const lost: string[] = [];
  const doubled: string[] = [];
  const misreported: string[] = [];
  for (const order of orders) {
    const { number, id, units, paidBy, refundedBy, returnedBy, mailedTo, misreports, isOver } = order;
    const name = `order ${number} (${id ?? 'without a payment'})`;
    misreported.push(...misreports.map((text) => `${name}: ${text}`));
    if (!isOver && misreports.length === 0) lost.push(`${name} has not ended`);
    const own = events.get(id ?? '') ?? [];
    const successes = own.filter(({ type }) => type === 'payment.succeeded').length;
    if (paidBy !== undefined && successes !== 1) misreported.push(`${name}: ${successes} events of its success`);
    if (paidBy !== undefined && reported?.has(id ?? '') === false) lost.push(`${name}: no webhook told of its success`);
    if (mailedTo !== undefined && mailed?.has(mailedTo) === false) lost.push(`${name}: its receipt was not mailed`);
    const [first] = own;
    const hasGap = own.some(({ sequence }, index) => sequence !== (first?.sequence ?? 0) + index);
    if (hasGap) misreported.push(`${name}: its events are not in order, or one is missing`);
    for (const [what, hashes, named] of [
      ['payment', paid.get(units) ?? [], paidBy],
      ['refund', refunded.get(units) ?? [], refundedBy],
      ['return', refunded.get(units + MORE_UNITS) ?? [], returnedBy],
    ] as const) {
      if (hashes.length > 1) doubled.push(`${name}: ${hashes.length} transfers for the ${what}`);
      if (named === undefined) continue;
      if (hashes.length === 0) misreported.push(`${name}: the chain has no transfer for the ${what}`);
      else if (!hashes.includes(named as Hex))
        misreported.push(`${name}: ${named} is not the transaction of the ${what}`);
    }
  }
  return { lost, doubled, misreported };
}

/** Payments that exist on top of those the clients know: an order that was created twice. */
export async function countPayments({ baseUrls, apiKey, merchantId, hand }: JudgedScene): Promise<number> {
  const counts = [merchantId, ...(hand === undefined ? [] : [hand.merchantId])].map(async (id) => {
    const url = `${baseUrls[0]}/v1/merchants/payments?limit=1`;
    const { stats } = await read<{ stats: { totalTransactions: number } }>(url, {
      'Api-Key': apiKey,
      'Merchant-Id': id,
    });
    return stats.totalTransactions;
  });
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

/** The addresses that the server for mail has got something for. Waits for all of these. */
async function receiptsMailed(
  { received }: CrashScene['mailServer'],
  addresses: readonly string[],
): Promise<ReadonlySet<string>> {
  const mailed = () => new Set(received.flatMap(({ to }) => to));
  const hasAll = () => isSubset(addresses, mailed());
  await until('the server for mail has all receipts', hasAll, REPORTED_WITHIN).catch(() => {});
  return mailed();
}

function isSubset(some: readonly string[], all: ReadonlySet<string>): boolean {
  return some.every((each) => all.has(each));
}

/** Deliveries of a node that was killed are sent again when its claims have ended. */
const REPORTED_WITHIN = { withinMs: 90_000 };

/** The payments whose success the receiver of webhooks got. Waits for all of these. */
async function reportedSuccesses(
  receiver: CrashScene['receiver'],
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const reported = () => new Set(receiver.received.map(({ body }) => String(JSON.parse(body).data.id)));
  await until('the receiver has all successes', () => isSubset(ids, reported()), REPORTED_WITHIN).catch(() => {});
  return reported();
}

interface FeedEvent {
  readonly type: string;
  readonly sequence: number;
  readonly data: { readonly id: string };
}

/** The events of payments as a partner reads them, by payment. */
async function eventsByPayment({ baseUrls, apiKey }: JudgedScene): Promise<Map<string, FeedEvent[]>> {
  const all: FeedEvent[] = [];
  for (let after = ''; ; ) {
    const url = `${baseUrls[0]}/v1/events?types=payment.*&limit=100${after}`;
    const { events, nextCursor } = await read<{ events: FeedEvent[]; nextCursor: string }>(url, { 'Api-Key': apiKey });
    if (events.length === 0) return Map.groupBy(all, ({ data }) => data.id);
    all.push(...events);
    after = `&after=${encodeURIComponent(nextCursor)}`;
  }
}

const READ = { withinMs: 90_000 };

/** Asks until there is an answer: a node may be busy, and lists have a limit. */
async function read<Body>(url: string, headers: Readonly<Record<string, string>>): Promise<Body> {
  let body: Body | undefined;
  let last = '';
  const ask = async () => {
    const answer = await fetch(url, { headers });
    const text = await answer.text();
    if (answer.ok) body = JSON.parse(text) as Body;
    else last = `${answer.status} ${text}`;
    return answer.ok;
  };
  await until(`an answer to ${url}`, ask, READ).catch(() => {});
  if (body === undefined) throw new Error(`${url} was answered ${last}`);
  return body;
}

/** The hashes of token transfers from or to an account, by amount. */
async function transfers({ chain }: JudgedScene, args: { from?: Hex; to?: Hex }): Promise<Map<bigint, Hex[]>> {
  const topics = encodeEventTopics({ abi: ABI, eventName: 'Transfer', args });
  const call = { jsonrpc: '2.0', id: 1, method: 'eth_getLogs', params: [{ address: TOKEN, fromBlock: '0x0', topics }] };
  const answer = await fetch(chain.rpcUrl, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(call),
  });
  const { result } = (await answer.json()) as { result: readonly Log[] };
  const found = new Map<bigint, Hex[]>();
  for (const { topics: own, data, transactionHash } of result) {
    const { value } = decodeEventLog({ abi: ABI, topics: own, data }).args;
    found.set(value, [...(found.get(value) ?? []), transactionHash]);
  }
  return found;
}
