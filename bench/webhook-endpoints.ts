import type { ChildProcess } from 'node:child_process';
import { call } from './calls.ts';
import type { Gateway } from './gateway.ts';
import { messageOf, startClient, stopProcess } from './processes.ts';
import type { Arrivals, ReceiverOrder, ReceiverReport } from './webhook-receiver.ts';

const REPORT_MS = 60_000;
/** Of each endpoint. */
const DELIVERIES_OVER = 2_000;

/** A gateway whose partner has endpoints. */
type Sender = Pick<Gateway, 'port' | 'apiKey' | 'sql'>;

interface Wishes {
  readonly events?: readonly string[];
  /** Only events of these merchants. */
  readonly merchantIds?: readonly string[];
}

/** Subscribes a URL, and returns the id of the endpoint. */
export async function subscribe(
  { port, apiKey }: Sender,
  url: string,
  { events = ['payment.created'], merchantIds }: Wishes = {},
): Promise<string> {
  const { text } = await call({
    port,
    method: 'POST',
    path: '/v1/webhook-endpoints',
    headers: { 'Api-Key': apiKey, 'Content-Type': 'application/json' },
    body: JSON.stringify({ url, events, merchantIds }),
  });
  return (JSON.parse(text) as { webhookEndpoint: { id: string } }).webhookEndpoint.id;
}

export interface ManyEndpoints {
  readonly receiver: Receiver;
  readonly count: number;
  readonly events: readonly string[];
}

/** Subscribes several endpoints, which can be switched together. */
export async function subscribeMany(gateway: Sender, { receiver, count, events }: ManyEndpoints) {
  const ids: string[] = [];
  while (ids.length < count) ids.push(await subscribe(gateway, receiver.url(`/many-${ids.length}`), { events }));
  return {
    async set(status: 'active' | 'disabled'): Promise<void> {
      const headers = { 'Api-Key': gateway.apiKey, 'Content-Type': 'application/json' };
      const body = JSON.stringify({ status });
      for (const id of ids) {
        await call({ port: gateway.port, method: 'PATCH', path: `/v1/webhook-endpoints/${id}`, headers, body });
      }
    },
    /**
     * Removes the deliveries of a turn: to attempt them all would take minutes. Some that are over stay, because plans for
     * an empty table would be kept while it grows.
     */
    async dropBacklog(): Promise<void> {
      await gateway.sql`update webhook_cursor set position = (select max(position + size - 1) from event_batches)`;
      // Not row by row: the attempts in flight lock rows in another order.
      await gateway.sql`truncate webhook_deliveries`;
      await gateway.sql`
        insert into webhook_deliveries (endpoint_id, event_id, status, created_at, begun_at)
        select w.id, 'evnt_' || n, 'succeeded', now(), now()
        from webhook_endpoints w, generate_series(1, ${DELIVERIES_OVER}::int) n`;
      await gateway.sql`analyze webhook_deliveries`;
    },
  };
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/** A server of partners, in a process of its own. */
export async function startReceiver() {
  const child: ChildProcess = startClient(new URL('./webhook-receiver.ts', import.meta.url));
  const ask = <T extends ReceiverReport>(order: ReceiverOrder): Promise<T> => {
    const report = messageOf<T>(child, { withinMs: REPORT_MS });
    child.send(order);
    return report;
  };
  const port = await ask<number>({ ask: 'port' });
  return {
    pid: child.pid ?? 0,
    url: (path: string) => `http://127.0.0.1:${port}${path}`,
    arrivals: () => ask<Readonly<Record<string, Arrivals>>>({ ask: 'arrivals' }),
    answer: (path: string, status: number) => ask<number>({ ask: 'answer', path, status }),
    stop: () => stopProcess(child),
  };
}
