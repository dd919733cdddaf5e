import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { createTestDatabase } from '../database.ts';
import { startTestGateway } from '../gateway.ts';
import { ONLY_LONG } from '../long.ts';
import { startNodeProcess } from '../node-process.ts';
import { until } from '../until.ts';

const ACCOUNT = `0x${'1'.repeat(40)}`;

describe('a gateway with live networks', () => {
  it('shows the risks of its configuration at /ready', async () => {
    const gateway = await startTestGateway({
      config: { publicUrl: 'http://till.example', rpcUrls: new Map([['eip155:8453', ['https://a.example/key']]]) },
    });
    const { remarks } = (await gateway.call({ url: '/ready' })).json();
    assert.deepEqual(
      remarks.map((remark: string) => remark.split(' ')[0]),
      ['PUBLIC_URL', 'RPC_URLS', 'SCREENING_LIST'],
    );
    assert.doesNotMatch(remarks.join(' '), /example/);
    await gateway.stop();
  });

  it('logs each risk once at its start, and has nothing of a sandbox', ONLY_LONG, async () => {
    const database = await createTestDatabase();
    const home = await mkdtemp(join(tmpdir(), 'till-risks-'));
    const node = await startNodeProcess({
      TILL_HOME: home,
      TILL_SECRET: Buffer.from(Array.from({ length: 32 }, (_, index) => index)).toString('base64'),
      DATABASE_URL: database.url,
      // Nobody answers there. A network that is down does not stop a node.
      RPC_URLS: 'eip155:8453=http://127.0.0.1:1',
      FEE_ACCOUNT: ACCOUNT,
      INTERMEDIATE_ACCOUNT: ACCOUNT,
    });
    const ask = () => fetch(`${node.baseUrl}/ready`).catch(() => undefined);
    await until('the node is ready', async () => (await ask())?.status === 200, { withinMs: 60_000 });
    const { remarks } = (await (await fetch(`${node.baseUrl}/ready`)).json()) as { remarks: string[] };
    assert.ok(remarks.length >= 3);
    for (const remark of remarks) assert.equal(node.output().split(remark).length, 2, remark);
    for (const path of ['/v1/test/clock', '/demo', '/demo/events', '/sandbox/blocks']) {
      assert.equal((await fetch(node.baseUrl + path)).status, 404, path);
    }
    const moved = await fetch(`${node.baseUrl}/v1/test/clock`, { method: 'POST', body: '{"advanceMs":1}' });
    assert.equal(moved.status, 404);
    node.signal('SIGTERM');
    assert.equal(await node.ended, 0);
    await database.drop();
    await rm(home, { recursive: true, force: true });
  });

  it('does not start while a risk that is refused is not accepted', async () => {
    const home = await mkdtemp(join(tmpdir(), 'till-risks-'));
    const node = await startNodeProcess({
      TILL_HOME: home,
      DATABASE_URL: 'postgres://till:till@127.0.0.1:1/till',
      RPC_URLS: 'eip155:8453=http://rpc.example/key',
      PUBLIC_URL: 'http://till.example',
      FEE_ACCOUNT: ACCOUNT,
      INTERMEDIATE_ACCOUNT: ACCOUNT,
    });
    assert.equal(await node.ended, 2);
    assert.match(node.output(), /^The configuration is invalid:\n/);
    for (const name of ['public_url_plain_http', 'rpc_plain_http']) {
      assert.match(node.output(), new RegExp(`To start all the same, add ${name} to ACCEPT_RISKS`));
    }
    assert.doesNotMatch(node.output(), /rpc\.example/);
    await rm(home, { recursive: true, force: true });
  });
});

describe('a sandbox', () => {
  it('has no remarks', async () => {
    const gateway = await startTestGateway();
    assert.deepEqual((await gateway.call({ url: '/ready' })).json().remarks, []);
    await gateway.stop();
  });
});
