import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { type Lie, type RpcProxy, startRpcProxy } from './rpc-proxy.ts';
import type { RpcCall } from './stale-view.ts';

/** A chain of ten blocks, and what was asked of it. */
describe('a scriptable lying endpoint', () => {
  let chain: Server;
  let proxy: RpcProxy;
  const reached: RpcCall[] = [];
  before(async () => {
    chain = createServer((request, response) => {
      let body = '';
      request.on('data', (piece) => {
        body += piece;
      });
      request.on('end', () => {
        const parsed = JSON.parse(body) as RpcCall | RpcCall[];
        reached.push(...[parsed].flat());
        const answers = [parsed].flat().map((call) => ({ jsonrpc: '2.0', id: call.id, result: resultOf(call) }));
        response.end(JSON.stringify(Array.isArray(parsed) ? answers : answers[0]));
      });
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => chain.once('listening', resolve));
    proxy = await startRpcProxy({ targetUrl: `http://127.0.0.1:${(chain.address() as AddressInfo).port}` });
  });
  after(async () => {
    await proxy.close();
    chain.close();
    chain.closeAllConnections();
  });

  const ask = (body: unknown) =>
    fetch(proxy.url, { method: 'POST', body: JSON.stringify(body), signal: AbortSignal.timeout(300) });
  const call = (method: string, ...params: unknown[]) => ({ jsonrpc: '2.0', id: 7, method, params });
  const one = async (method: string, ...params: unknown[]) =>
    (await (await ask(call(method, ...params))).json()) as { result?: unknown; error?: { message: string } };

  it('is honest by default, for single calls and batches', async () => {
    assert.deepEqual(await one('eth_blockNumber'), { jsonrpc: '2.0', id: 7, result: '0xa' });
    const list = await (await ask([call('eth_blockNumber'), call('eth_chainId')])).json();
    assert.deepEqual(
      (list as { result: unknown }[]).map(({ result }) => result),
      ['0xa', '0x7a69'],
    );
  });

  it('lies for the given methods, the given number of times', async () => {
    proxy.lie({ as: 'error', code: -32000, message: 'header not found' }, { methods: ['eth_call'], times: 1 });
    assert.equal((await one('eth_blockNumber')).result, '0xa');
    assert.equal((await one('eth_call', {}, 'latest')).error?.message, 'header not found');
    assert.equal((await one('eth_call', {}, 'latest')).result, 'latest');
  });

  const garbage: readonly (readonly [what: string, lie: Lie, isForwarded: boolean])[] = [
    ['a 502 after the chain took the request', { as: 'status', status: 502, isForwarded: true }, true],
    ['a 429 instead of asking the chain', { as: 'status', status: 429, isForwarded: false }, false],
    ['half a body', { as: 'half' }, true],
    ['a connection that breaks after forwarding', { as: 'drop', isForwarded: true }, true],
    ['a connection that breaks before', { as: 'drop', isForwarded: false }, false],
    ['silence', { as: 'silence', isForwarded: true }, true],
  ];
  for (const [what, lie, isForwarded] of garbage) {
    it(`gives ${what}`, async () => {
      reached.length = 0;
      proxy.lie(lie, { times: 1 });
      await assert.rejects(async () => (await ask(call('eth_blockNumber'))).json());
      assert.equal(reached.length, isForwarded ? 1 : 0);
    });
  }

  it('gives another result than the chain', async () => {
    proxy.lie({ as: 'result', of: () => '0x1' }, { methods: ['eth_chainId'], times: 1 });
    assert.equal((await one('eth_chainId')).result, '0x1');
  });

  it('stays behind like a replica that lags', async () => {
    proxy.lie({ as: 'stale', head: 8 });
    assert.equal((await one('eth_blockNumber')).result, '0x8');
    assert.equal((await one('eth_getBlockByNumber', '0x9', false)).result, null);
    assert.deepEqual((await one('eth_getBlockByNumber', 'latest', false)).result, { number: '0x8' });
    assert.deepEqual((await one('eth_getLogs', {})).result, [{ blockNumber: '0x8' }]);
    assert.equal((await one('eth_getTransactionReceipt', '0x')).result, null);
    assert.equal((await one('eth_call', {}, 'latest')).result, '0x8');
    proxy.answerTruthfully();
    assert.equal((await one('eth_blockNumber')).result, '0xa');
  });
});

function resultOf({ method, params }: RpcCall): unknown {
  switch (method) {
    case 'eth_blockNumber':
      return '0xa';
    case 'eth_getBlockByNumber':
      return { number: params?.[0] };
    case 'eth_getLogs':
      return [{ blockNumber: '0x8' }, { blockNumber: '0x9' }];
    case 'eth_getTransactionReceipt':
      return { blockNumber: '0x9' };
    case 'eth_call':
      return params?.[1];
    default:
      return '0x7a69';
  }
}
