import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { connectTo, createTestDatabase, type TestConnection, type TestDatabase } from '../database.ts';
import { type OptionBody, readBuild, result } from '../e2e/paying-shop.ts';
import { type NodeProcess, startNodeProcess } from '../node-process.ts';
import { type RpcProxy, startRpcProxy } from '../rpc-proxy.ts';
import { until } from '../until.ts';
import { type FaultChain, startFaultChain } from './fault-chain.ts';
import { ENDPOINT_SECRET } from './fault-scene.ts';
import { USDC, WITHIN } from './shopper.ts';

const NETWORK = 'eip155:31337';

describe('a gateway in a separate process', () => {
  let chain: FaultChain;
  let proxy: RpcProxy;
  let database: TestDatabase;
  let home: string;
  let sql: TestConnection;
  const nodes: NodeProcess[] = [];
  /** Every answer of the API. */
  const answers: string[] = [];
  before(async () => {
    [chain, database, home] = await Promise.all([
      startFaultChain({ payers: 6 }),
      createTestDatabase(),
      mkdtemp(join(tmpdir(), 'till-faults-')),
    ]);
    proxy = await startRpcProxy({ targetUrl: chain.url });
    sql = connectTo(database.url);
  });
  after(async () => {
    for (const node of nodes) node.signal('SIGKILL');
    await Promise.all(nodes.map(({ ended }) => ended));
    await sql.end();
    await proxy.close();
    await chain.close();
    await database.drop();
    await rm(home, { recursive: true, force: true });
  });

  async function start() {
    const node = await startNodeProcess({
      TILL_HOME: home,
      DATABASE_URL: database.url,
      RPC_URLS: `${NETWORK}=${proxy.url}/v3/${ENDPOINT_SECRET}`,
      LOG_LEVEL: 'debug',
      MAX_EVENT_LOOP_DELAY_MS: '0',
    });
    nodes.push(node);
    const { apiKey, merchantId } = await node.ready();
    const ask = async (path: string, body?: object) => {
      const headers = { 'api-key': apiKey, 'merchant-id': merchantId, 'content-type': 'application/json' };
      const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
      const response = await fetch(`${node.baseUrl}${path}`, { ...init, signal: AbortSignal.timeout(WITHIN.withinMs) });
      const text = await response.text();
      answers.push(text);
      return { status: response.status, body: JSON.parse(text) };
    };
    return { node, ask };
  }
  type Running = Awaited<ReturnType<typeof start>>;

  /** Signed by its payer, and not handed in yet. */
  async function sign({ ask }: Running) {
    const payer = chain.newPayer();
    const order = { amount: { unit: 'iso4217/USD', value: '1000' }, referenceId: 'ORDER' };
    const { paymentId: id } = (await ask('/v1/payments', order)).body as { paymentId: string };
    const url = `/v1/gateway/payment/${id}`;
    const listed = await ask(`${url}/options`, { accounts: [`${NETWORK}:${payer.address}`] });
    const option = (listed.body.options as OptionBody[]).find(({ amount }) => amount.unit === `caip19/${USDC}`);
    assert.ok(option, JSON.stringify(listed.body));
    const signature = await payer.signTypedData(JSON.parse(String(readBuild(option).params[1])));
    const confirmation = { optionId: option.id, results: [result(signature)] };
    return {
      id,
      payer,
      confirm: (on: Running) => on.ask(`${url}/confirm`, confirmation),
      status: async (on: Running) => (await on.ask(`${url}/status`)).body as { status: string; info: { txId: string } },
    };
  }

  it('F34: no answer, log line or alert contains the URL of an endpoint', async () => {
    const node = await start();
    const payment = await sign(node);
    const leakingText = `cannot reach ${proxy.url}/v3/${ENDPOINT_SECRET}`;
    const lies = [
      { as: 'status', status: 500, body: leakingText, isForwarded: false },
      { as: 'error', code: -32_000, message: leakingText },
      { as: 'drop', isForwarded: false },
      { as: 'result', of: () => leakingText },
    ] as const;
    for (const lie of lies) {
      proxy.lie(lie);
      const { status, body } = await payment.confirm(node);
      assert.deepEqual([status, body.code], [503, 'internal_error']);
      await node.ask(`/v1/gateway/payment/${payment.id}/options`, {
        accounts: [`${NETWORK}:${payment.payer.address}`],
      });
      await node.ask('/ready');
      proxy.answerTruthfully();
      const isTrusted = async () => {
        await chain.mine();
        return (await node.ask('/ready')).body.chains[0].endpointsUp > 0;
      };
      // A provider that failed several times in a row is left alone for seconds.
      await until('the endpoint is trusted again', isTrusted, { withinMs: 60_000 });
    }
    const alerts = await sql`select * from alerts`;
    const logged = nodes.map((each) => withoutBanner(each.output()));
    const everything = [...answers, ...logged, JSON.stringify(alerts)].join('\n');
    assert.ok(everything.includes('no endpoint answered'), 'there were failures to tell of');
    for (const secret of [ENDPOINT_SECRET, new URL(proxy.url).host]) assert.ok(!everything.includes(secret));
  });
});

/** The log. The sandbox's banner also names the chain, which carries play money only. */
function withoutBanner(text: string): string {
  return text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .join('\n');
}
