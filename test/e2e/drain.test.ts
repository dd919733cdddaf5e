import assert from 'node:assert/strict';
import { Agent, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { freshKey } from '../gateway.ts';
import type { NodeProcess } from '../node-process.ts';
import { until } from '../until.ts';
import { type OwnChainScene, openOwnChainScene } from './own-chain-scene.ts';

const DRAIN_MS = 2_000;
const CHECK_EVERY_MS = 50;
const CLIENTS = 8;
/** The requests that are answered between two steps of a restart. */
const BURST = 100;

describe('a node that drains', () => {
  let scene: OwnChainScene;
  before(async () => {
    scene = await openOwnChainScene();
  });
  after(() => scene.close());

  const start = (port?: string): Promise<NodeProcess> =>
    scene.start({
      LOG_LEVEL: 'error',
      RATE_LIMIT_KEY_PER_SECOND: '100000',
      DRAIN_MS: String(DRAIN_MS),
      ...(port !== undefined && { PORT: port }),
    });

  it('loses no request of keep-alive clients behind a load balancer, through two restarts', async () => {
    const nodes = [await start(), await start()];
    const [{ apiKey, merchantId } = {}] = await Promise.all(nodes.map((node) => node.ready()));
    const headers = { 'Api-Key': apiKey ?? '', 'Merchant-Id': merchantId ?? '', 'Content-Type': 'application/json' };
    const balancer = startBalancer(nodes.map(({ baseUrl }) => baseUrl));
    await until('both nodes are in use', () => balancer.inUse() === 2);
    const losses: string[] = [];
    let answered = 0;
    let isOver = false;
    const client = async () => {
      while (!isOver) {
        const order = { amount: { unit: 'iso4217/USD', value: '1000' }, referenceId: 'ORDER' };
        const answers = [
          await balancer.send('GET', `/v1/merchants/${merchantId}`, { headers }),
          await balancer.send('POST', '/v1/payments', {
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
    for (const [index, node] of nodes.entries()) {
      await burst();
      node.signal('SIGTERM');
      assert.equal(await node.ended, 0, node.output());
      await burst();
      const next = await start(new URL(node.baseUrl).port);
      nodes[index] = next;
      await next.ready();
      await until('the node is in use again', () => balancer.inUse() === 2);
    }
    await burst();
    isOver = true;
    await clients;
    balancer.stop();
    assert.deepEqual(losses, []);
  });

  it('says so at /ready, closes connections, answers held requests and hands its leases over while it still answers', async () => {
    const [leader, other] = scene.started.slice(-2);
    assert.ok(leader && other);
    for (const node of scene.started.slice(-2)) await node.ready();
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
    for (const node of [leader, other]) node.signal('SIGTERM');
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
    for (const node of [leader, other]) assert.equal(await node.ended, 0, node.output());
  });
});

/** Sends requests over kept connections to the nodes that are ready, in turn, as a load balancer does. It retries nothing. */
function startBalancer(baseUrls: readonly string[]) {
  const targets = baseUrls.map((baseUrl) => ({
    baseUrl,
    agent: new Agent({ keepAlive: true, maxSockets: CLIENTS }),
    isReady: false,
  }));
  let isStopped = false;
  let turn = 0;
  for (const target of targets) {
    void (async () => {
      while (!isStopped) {
        const answer = await fetch(`${target.baseUrl}/ready`).catch(() => undefined);
        target.isReady = answer?.status === 200;
        await answer?.text().catch(() => '');
        await pause(CHECK_EVERY_MS);
      }
    })();
  }
  return {
    inUse: () => targets.filter(({ isReady }) => isReady).length,
    /** The status of the answer, or the error. */
    async send(
      method: string,
      path: string,
      { headers, body }: { headers: Record<string, string>; body?: string },
    ): Promise<string> {
      const ready = targets.filter(({ isReady }) => isReady);
      turn += 1;
      const target = ready[turn % ready.length];
      if (target === undefined) return 'no node is ready';
      try {
        const answer = await new Promise<IncomingMessage>((resolve, reject) => {
          request(`${target.baseUrl}${path}`, { method, headers, agent: target.agent })
            .on('response', resolve)
            .on('error', reject)
            .end(body);
        });
        const said = await text(answer);
        return answer.statusCode === 200 || answer.statusCode === 201
          ? String(answer.statusCode)
          : `${answer.statusCode} ${said}`;
      } catch (error) {
        return String(error);
      }
    },
    stop() {
      isStopped = true;
      for (const { agent } of targets) agent.destroy();
    },
  };
}
