import { createHmac } from 'node:crypto';
import { createEndpoint, type EndpointDeps } from '../../src/actions/webhooks/create-endpoint.ts';
import { DEFAULT_PIN } from '../../src/domain/version.ts';
import { type Answer, type Exchange, ExchangeError, type OutgoingRequest } from '../../src/guarded-http/exchange.ts';
import type { Owner } from '../../src/store/parties/merchants.ts';
import type { Participant, Scheduler } from './scheduler.ts';
import type { Seeded } from './seeded.ts';

/** `failing` answers with an error, `stalling` with nothing, and `forgetful` loses its connection after it has accepted. */
export const MOODS = ['failing', 'stalling', 'forgetful'] as const;

/** A receiver of webhooks, with everything that it has got. */
export interface Receiver {
  readonly endpointId: string;
  readonly url: string;
  readonly secret: string;
  /** The events that it is subscribed to. */
  wants(event: { readonly type: string; readonly merchantId: string | null }): boolean;
  /** The body of each event, as it came first. */
  readonly bodies: Map<string, string>;
  /** Events that it has accepted. */
  readonly accepted: Set<string>;
  mood: 'well' | (typeof MOODS)[number];
}

/** The gateway gives up after this time. */
const TIMEOUT_MS = 10_000;
const LATE_ANSWER = 0.1;
const RETRY_AFTER_S = 20;

/** Registers a receiver of everything, one of some types, and one of the payments of this merchant. */
export async function openReceivers(deps: EndpointDeps, owner: Owner, ownMerchantId: string): Promise<Receiver[]> {
  const wishes: readonly (Pick<Receiver, 'wants'> & { events: string[]; merchantIds: string[] | null })[] = [
    { events: ['*'], merchantIds: null, wants: () => true },
    {
      events: ['refund.*', 'payment.succeeded'],
      merchantIds: null,
      wants: ({ type }) => type.startsWith('refund.') || type === 'payment.succeeded',
    },
    {
      events: ['payment.*'],
      merchantIds: [ownMerchantId],
      wants: ({ type, merchantId }) => type.startsWith('payment.') && merchantId === ownMerchantId,
    },
  ];
  const receivers: Receiver[] = [];
  for (const [index, { wants, ...wish }] of wishes.entries()) {
    const url = `https://receiver-${index + 1}.example/`;
    const terms = { owner, actor: 'operator', url, description: null, apiVersion: DEFAULT_PIN };
    const { endpoint, secret } = await createEndpoint(deps, { ...terms, ...wish });
    receivers.push({
      endpointId: endpoint.id,
      url,
      secret,
      wants,
      bodies: new Map(),
      accepted: new Set(),
      mood: 'well',
    });
  }
  return receivers;
}

export interface WayInput {
  readonly by: Participant;
  readonly scheduler: Scheduler;
  readonly random: Seeded;
  readonly receivers: readonly Receiver[];
  readonly onProblem: (problem: string) => void;
}

/** The way from a node to the receivers. */
export function wayToReceivers({ by, scheduler, random, receivers, onProblem }: WayInput): Exchange {
  return async (message) => {
    await scheduler.pass(by, `sends a webhook to ${message.url}`);
    const receiver = receivers.find(({ url }) => url === message.url);
    if (receiver === undefined) throw new ExchangeError('there is no such receiver', { isPassing: false });
    const problem = takeIn(receiver, message);
    if (problem !== undefined) onProblem(problem);
    const { mood } = receiver;
    if (mood === 'stalling') {
      await scheduler.sleep(by, TIMEOUT_MS);
      throw new ExchangeError('it took too long', { isPassing: true });
    }
    if (mood !== 'failing') receiver.accepted.add(message.headers['webhook-id'] ?? '');
    if (random.chance(LATE_ANSWER)) await scheduler.pass(by, `${message.url} answers`);
    if (mood === 'forgetful') throw new ExchangeError('the connection broke', { isPassing: true });
    return mood === 'well' ? answered(200) : answered(random.pick([500, 302, 429]));
  };
}

function answered(status: number): Answer {
  const headers = status === 429 ? { 'retry-after': String(RETRY_AFTER_S) } : {};
  return { status, headers, bytes: Buffer.alloc(0), isWhole: true };
}

/** Checks what every receiver may rely on: the signature, the id of the event, and a body that never changes. */
function takeIn(receiver: Receiver, { headers, body = new Uint8Array() }: OutgoingRequest): string | undefined {
  const id = headers['webhook-id'] ?? '';
  const text = Buffer.from(body).toString();
  const key = Buffer.from(receiver.secret.replace('whsec_', ''), 'base64');
  const signed = createHmac('sha256', key).update(`${id}.${headers['webhook-timestamp']}.${text}`).digest('base64');
  if (headers['webhook-signature'] !== `v1,${signed}`) return `${id} came with a wrong signature`;
  const { id: own, type, merchantId } = JSON.parse(text);
  if (own !== id) return `${id} came with the body of ${own}`;
  if (!receiver.wants({ type, merchantId })) return `${type} came to ${receiver.url}, which is not subscribed to it`;
  const before = receiver.bodies.get(id) ?? text;
  if (before !== text) return `${id} came again with another body`;
  receiver.bodies.set(id, text);
  return undefined;
}
