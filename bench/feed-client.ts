import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** Follows the feeds of partners, one long poll after another, and records the age of each event at its arrival. */
export interface FeedOrder {
  readonly port: number;
  readonly apiKeys: readonly string[];
}
export type FeedMessage = FeedOrder | 'report';
/** `ready` when every follower holds its first request; then the ages in milliseconds since the last report. */
export type FeedReport = 'ready' | { readonly agesMs: readonly number[] };

const HOLD_MS = 25_000;
/** Followers that begin at once, less than the server's backlog of connections. */
const BEGIN_AT_ONCE = 50;
const BEGIN_PAUSE_MS = 50;
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
let agesMs: number[] = [];

interface Page {
  readonly events: readonly { readonly createdAt: string }[];
  readonly nextCursor: string;
}

process.on('disconnect', () => process.exit());
process.on('message', (message: FeedMessage) => {
  if (message !== 'report') return void followAll(message);
  process.send?.({ agesMs } satisfies FeedReport);
  agesMs = [];
});

async function followAll({ port, apiKeys }: FeedOrder): Promise<void> {
  const begun: Promise<string>[] = [];
  for (const [index, apiKey] of apiKeys.entries()) {
    begun.push(read(port, apiKey, 'after=latest').then(({ nextCursor }) => nextCursor));
    if (index % BEGIN_AT_ONCE === BEGIN_AT_ONCE - 1) await sleep(BEGIN_PAUSE_MS);
  }
  const cursors = await Promise.all(begun);
  for (const [index, apiKey] of apiKeys.entries()) void follow(port, apiKey, cursors[index] ?? '');
  process.send?.('ready' satisfies FeedReport);
}

async function follow(port: number, apiKey: string, first: string): Promise<void> {
  for (let cursor = first; ; ) {
    const page = await read(port, apiKey, `after=${encodeURIComponent(cursor)}&maxPollMs=${HOLD_MS}`);
    const nowMs = Date.now();
    for (const { createdAt } of page.events) agesMs.push(nowMs - Date.parse(createdAt));
    cursor = page.nextCursor;
  }
}

/** Any failure ends the client, and with it the measurement. */
function read(port: number, apiKey: string, query: string): Promise<Page> {
  return new Promise((resolve, reject) => {
    const headers = { 'Api-Key': apiKey };
    const sent = request({ agent, host: '127.0.0.1', port, path: `/v1/events?${query}`, headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (piece: string) => {
        text += piece;
      });
      answer.on('end', () => {
        if (answer.statusCode === 200) resolve(JSON.parse(text) as Page);
        else reject(new Error(`The feed answered ${answer.statusCode}: ${text.slice(0, 300)}`));
      });
    });
    sent.on('error', reject);
    sent.end();
  });
}
