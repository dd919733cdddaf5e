import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { until } from '../../../test/until.ts';
import { systemWorld } from '../../runtime/system-world.ts';
import { ChainUnavailableError } from '../chain.ts';
import type { RpcCall } from './json-rpc.ts';
import { type Lie, type LyingServer, startLyingServer } from './lying-server.fixture.ts';
import { createRpc, type Rpc } from './rpc.ts';
import { readQuantity } from './rpc-values.ts';

const NETWORK = 'eip155:31337';
const balance: RpcCall<bigint> = { method: 'eth_getBalance', params: ['0x01', 'latest'], read: readQuantity };

describe('the RPC client', () => {
  let first: LyingServer;
  let second: LyingServer;
  let open: Rpc[] = [];

  function connect(servers: readonly LyingServer[]): Rpc {
    const rpc = createRpc({
      world: systemWorld,
      network: NETWORK,
      chainId: 31337,
      blockTimeMs: 1_000,
      endpoints: servers.map(({ url }) => url),
    });
    open.push(rpc);
    return rpc;
  }

  beforeEach(async () => {
    first = await startLyingServer();
    second = await startLyingServer();
  });

  afterEach(async () => {
    for (const rpc of open) rpc.close();
    open = [];
    await Promise.all([first.close(), second.close()]);
  });

  it('sends the calls of one moment as one batch, with the chain and the height asked first', async () => {
    const rpc = connect([first]);
    await Promise.all([rpc.call(balance), rpc.call(balance), rpc.call(balance)]);
    assert.deepEqual(first.requests, [
      ['eth_chainId', 'eth_blockNumber', 'eth_getBalance', 'eth_getBalance', 'eth_getBalance'],
    ]);
    await rpc.call(balance);
    assert.deepEqual(first.requests.at(-1), ['eth_blockNumber', 'eth_getBalance']);
    assert.equal(rpc.endpointsUp(), 1);
    assert.equal(rpc.head(), 100);
  });

  it('splits more calls than a request may carry', async () => {
    const rpc = connect([first]);
    const values = await Promise.all(Array.from({ length: 250 }, () => rpc.call(balance)));
    assert.equal(values.length, 250);
    assert.ok(first.requests.every((methods) => methods.length <= 100));
  });

  const GARBAGE: readonly Lie[] = [
    'html',
    'bad_gateway',
    'too_many_requests',
    'throttled_answers',
    'half_a_body',
    'silence',
    'wrong_ids',
    'wrong_values',
  ];
  for (const lie of GARBAGE) {
    it(`asks the next endpoint when one answers with ${lie}`, async () => {
      first.lie = lie;
      assert.equal(await connect([first, second]).call(balance, 1_000), 5n);
    });

    it(`never takes ${lie} for an answer, and does not repeat what the endpoint is or said`, async () => {
      first.lie = lie;
      await assert.rejects(connect([first]).call(balance, 300), (error) => {
        assert.ok(error instanceof ChainUnavailableError);
        assert.doesNotMatch(error.message, /secret|127\.0\.0\.1|html/);
        assert.match(error.message, /^eip155:31337: /);
        return true;
      });
    });
  }

  it('does not believe an endpoint on another chain, also when it changes later', async () => {
    first.chainId = 1;
    const rpc = connect([first, second]);
    assert.equal(await rpc.call(balance), 5n);
    assert.equal(rpc.endpointsUp(), 1);
    await assert.rejects(connect([first]).call(balance, 300), /endpoint 1 is on another chain/);

    second.lie = 'bad_gateway';
    await assert.rejects(rpc.call(balance, 300), ChainUnavailableError);
    second.lie = 'honest';
    second.chainId = 5;
    const alone = connect([second]);
    await assert.rejects(alone.call(balance, 300), /another chain/);
  });

  it('asks for the chain again after a failure', async () => {
    const rpc = connect([first]);
    await rpc.call(balance);
    first.lie = 'bad_gateway';
    await assert.rejects(rpc.call(balance, 1), ChainUnavailableError);
    first.lie = 'honest';
    await until('the endpoint is asked again', async () => (await rpc.call(balance, 500).catch(() => 0n)) === 5n);
    assert.ok(first.requests.at(-1)?.includes('eth_chainId'));
  });

  it('does not believe an endpoint that is far behind the others', async () => {
    const rpc = connect([first, second]);
    second.head = 1_000;
    second.answers = { eth_getBalance: { result: '0x7' } };
    await rpc.callEach(balance);
    assert.equal(await rpc.call(balance), 7n);
    assert.equal(rpc.endpointsUp(), 1);
    first.head = 999;
    await until('it is believed again when it has come near', async () => (await rpc.call(balance)) === 5n);
  });

  it('believes a read that must see a block only from an endpoint that has seen it', async () => {
    second.head = 105;
    second.answers = { eth_getBalance: { result: '0x7' } };
    const rpc = connect([first, second]);
    assert.equal(await rpc.call({ ...balance, minBlock: 105 }), 7n);
    await assert.rejects(rpc.call({ ...balance, minBlock: 106 }, 500), /has not seen block 106 yet/);
  });

  it('reads again when the only endpoint lags for a moment', async () => {
    const rpc = connect([first]);
    const reading = rpc.call({ ...balance, minBlock: 101 });
    await until('it was asked', () => first.requests.length > 0);
    first.head = 101;
    assert.equal(await reading, 5n);
  });

  it('leaves an endpoint alone that keeps failing, and comes back to it', async () => {
    first.lie = 'bad_gateway';
    const rpc = connect([first, second]);
    for (let count = 0; count < 5; count += 1) await rpc.call(balance);
    assert.equal(first.requests.length, 3);
    first.lie = 'honest';
    await until('the first endpoint is asked again', async () => {
      await rpc.call(balance);
      return rpc.endpointsUp() === 2;
    });
  });

  it('leaves a throttling endpoint alone at once', async () => {
    first.lie = 'too_many_requests';
    const rpc = connect([first, second]);
    for (let count = 0; count < 5; count += 1) await rpc.call(balance);
    assert.equal(first.requests.length, 1);
  });

  it('finds out how many calls at once a server takes', async () => {
    for (const lie of ['small_batches', 'no_batches'] as const) {
      first.lie = lie;
      first.requests.length = 0;
      const rpc = connect([first]);
      const values = await Promise.all(Array.from({ length: 20 }, () => rpc.call(balance)));
      assert.deepEqual(values, Array(20).fill(5n), lie);
      first.requests.length = 0;
      await Promise.all(Array.from({ length: 10 }, () => rpc.call(balance)));
      const most = Math.max(...first.requests.map((methods) => methods.length));
      assert.ok(most <= (lie === 'no_batches' ? 1 : 4), lie);
      first.lie = 'honest';
    }
  });

  it('tells an error that is an answer from one that is none', async () => {
    const rpc = connect([first]);
    first.answers = { eth_getBalance: { error: { code: 3, message: 'execution reverted', data: '0x' } } };
    assert.equal(
      await rpc.call({ ...balance, readError: ({ code }) => (code === 3 ? { value: -1n } : undefined) }),
      -1n,
    );
    first.answers = { eth_getBalance: { error: { code: -32000, message: 'header not found' } } };
    await assert.rejects(rpc.call(balance, 500), /could not answer eth_getBalance \(code -32000\)/);
  });

  it('asks every endpoint when it should, and shows which could not answer', async () => {
    first.lie = 'html';
    assert.deepEqual(await connect([first, second]).callEach(balance), [undefined, 5n]);
  });

  it('answers nothing after it was closed', async () => {
    const rpc = connect([first]);
    rpc.close();
    await assert.rejects(rpc.call(balance), /closed/);
  });
});
