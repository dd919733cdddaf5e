import assert from 'node:assert/strict';
import { Agent, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { freshKey } from '../gateway.ts';
import { missingHaproxy, startHaproxy } from '../haproxy.ts';
import { ONLY_LONG } from '../long.ts';
import type { NodeProcess } from '../node-process.ts';
import { until } from '../until.ts';
import { type OwnChainScene, openOwnChainScene } from './own-chain-scene.ts';

/** Long enough for the requests that a busy machine sends meanwhile. */
const DRAIN_MS = 5_000;
const CLIENTS = 4;
/** The requests that are answered between two steps of a restart. */
const BURST = 40;

describe('a node that drains', () => {
  let scene: OwnChainScene;
  before(async () => {
    scene = await openOwnChainScene();
  });
  after(async () => {
    agent.destroy();
    await scene.close();
  });

  const start = (port?: string): Promise<NodeProcess> =>
    scene.start({
      LOG_LEVEL: 'error',
      RATE_LIMIT_KEY_PER_SECOND: '100000',
      DRAIN_MS: String(DRAIN_MS),
      ...(port !== undefined && { PORT: port }),
    });

  it('loses no request of keep-alive clients behind HAProxy, while all of three nodes restart in turn', {
    skip: ONLY_LONG.skip || missingHaproxy(),
    timeout: 240_000,
  }, async () => {
    const nodes: [NodeProcess, NodeProcess, NodeProcess] = [await start(), await start(), await start()];
    const [{ apiKey, merchantId } = {}] = await Promise.all(nodes.map((node) => node.ready()));
    const headers = { 'Api-Key': apiKey ?? '', 'Merchant-Id': merchantId ?? '', 'Content-Type': 'application/json' };
    const [first, second, third] = nodes;
    const balancer = await startHaproxy([first.baseUrl, second.baseUrl, third.baseUrl]);
    const losses: string[] = [];
    let answered = 0;
    let isOver = false;
    const client = async () => {
      while (!isOver) {
        const order = { amount: { unit: 'iso4217/USD', value: '1000' }, referenceId: 'ORDER' };
        const answers = [
          await send(`${balancer.url}/v1/merchants/${merchantId}`, { method: 'GET', headers }),
          await send(`${balancer.url}/v1/payments`, {
            method: 'POST',
            headers: { ...headers, 'Idempotency-Key': freshKey() },
            body: JSON.stringify(order),
          }),
        ];
        answered += answers.length;
        losses.push(...answers.filter((answer) => !/^20[01]$/.test(answer)));
      }
    };
    const clients = Promise.all(Array.from({ length: CLIENTS }, client));
    const burst = async () => {
      const before = answered;
      await until('requests are answered', () => answered >= before + BURST);
    };
    for (const node of nodes) {
      await burst();
      node.signal('SIGTERM');
      assert.equal(await node.ended, 0, node.output());
      await burst();
      const next = await start(new URL(node.baseUrl).port);
      await next.ready();
      await until('the node is in use again', async () => (await balancer.inUse()) === nodes.length);
    }
    await burst();
    isOver = true;
    await clients;
    await balancer.stop();
    assert.deepEqual(losses, []);
  });

  it('says so at /ready, closes connections, answers held requests and hands its leases over while it still answers', async () => {
    const left = scene.started.filter(({ isOver }) => !isOver());
    const nodes = left.length > 0 ? left : [await start()];
    await Promise.all(nodes.map((node) => node.ready()));
    const [leader] = nodes;
    assert.ok(leader);
    const { apiKey, merchantId } = await leader.ready();
    const headers = { 'Api-Key': apiKey, 'Merchant-Id': merchantId, 'Content-Type': 'application/json' };
    const created = await fetch(`${leader.baseUrl}/v1/payments`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ amount: { unit: 'iso4217/USD', value: '1000' }, referenceId: 'ORDER' }),
    });
    const { paymentId } = (await created.json()) as { paymentId: string };
    const held = fetch(`${leader.baseUrl}/v1/gateway/payment/${paymentId}/status?maxPollMs=25000`, { headers });
    const freeLeases = async () => (await scene.sql`select from leases where until <= now()`).length;
    assert.equal(await freeLeases(), 0);
    for (const node of nodes) node.signal('SIGTERM');
    await until('/ready is 503', async () => (await fetch(`${leader.baseUrl}/ready`)).status === 503);
    const ready = await fetch(`${leader.baseUrl}/ready`);
    assert.deepEqual([ready.status, ready.headers.get('connection')], [503, 'close']);
    assert.equal(((await ready.json()) as { stopping: boolean }).stopping, true);
    const answer = await fetch(`${leader.baseUrl}/v1/merchants/${merchantId}`, { headers });
    assert.deepEqual([answer.status, answer.headers.get('connection')], [200, 'close'], 'it takes requests');
    assert.equal((await held).status, 200);
    const all = (await scene.sql`select from leases`).length;
    await until('all leases are free', async () => (await freeLeases()) === all);
    assert.equal((await fetch(`${leader.baseUrl}/health`)).status, 200, 'the node still listens');
    for (const node of nodes) assert.equal(await node.ended, 0, node.output());
  });
});

const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });

/** Sends a request over a kept connection. Returns the status of the answer, or the error. It repeats nothing. */
async function send(
  url: string,
  { method, headers, body }: { method: string; headers: Record<string, string>; body?: string },
): Promise<string> {
  try {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      request(url, { method, headers, agent }).on('response', resolve).on('error', reject).end(body);
    });
    const answerText = await text(answer);
    return answer.statusCode === 200 || answer.statusCode === 201
      ? String(answer.statusCode)
      : `${answer.statusCode} ${answerText}`;
  } catch (error) {
    return String(error);
  }
}
