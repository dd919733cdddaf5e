import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { until } from '../../../test/until.ts';
import { systemWorld } from '../../runtime/system-world.ts';
import { ChainUnavailableError, UnreadableAnswerError } from '../chain-errors.ts';
import type { RpcCall } from './json-rpc.ts';
import { type Lie, type LyingServer, startLyingServer } from './lying-server.fixture.ts';
import { createRpc, type Rpc, type RpcInput } from './rpc.ts';
import { readQuantity } from './rpc-values.ts';
import type { Transport } from './transport.ts';

const NETWORK = 'eip155:31337';
const balance: RpcCall<bigint> = { method: 'eth_getBalance', params: ['0x01', 'latest'], read: readQuantity };

describe('the RPC client', () => {
  let first: LyingServer;
  let second: LyingServer;
  let open: Rpc[] = [];

  function connect(servers: readonly LyingServer[], more: Partial<RpcInput> = {}): Rpc {
    const rpc = createRpc({
      world: systemWorld,
      network: NETWORK,
      chainId: 31337,
      blockTimeMs: 1_000,
      endpoints: servers.map(({ url }) => url),
      ...more,
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

    it(`never takes ${lie} for an answer, and reveals neither the URL nor the answer of the endpoint`, async () => {
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
    await assert.rejects(
      connect([first]).call(balance, 300),
      /endpoint 1 is on another chain, \d+ and not \d+: correct RPC_URLS, or the id in the file of the network/,
    );

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
    await assert.rejects(rpc.call(balance, 100), ChainUnavailableError);
    const failed = first.requests.length;
    first.lie = 'honest';
    await until('the endpoint is asked again', async () => (await rpc.call(balance, 500).catch(() => 0n)) === 5n);
    assert.ok(first.requests[failed]?.includes('eth_chainId'));
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

  it('asks an endpoint after the others once it has failed, and first again when it has answered', async () => {
    first.lie = 'bad_gateway';
    const rpc = connect([first, second]);
    for (let count = 0; count < 5; count += 1) await rpc.call(balance);
    assert.equal(first.requests.length, 1);
    first.lie = 'honest';
    await rpc.callEach(balance);
    const before = first.requests.length;
    await rpc.call(balance);
    assert.equal(first.requests.length, before + 1);
  });

  it('stops calling an endpoint that keeps failing, and detects its recovery by a probe', async () => {
    first.lie = 'bad_gateway';
    const rpc = connect([first, second]);
    await until('it is left alone', async () => {
      await rpc.callEach(balance);
      return rpc.troubles().length > 0;
    });
    assert.deepEqual(rpc.troubles(), ['endpoint 1 answered with HTTP status 502']);
    const asked = second.requests.length;
    first.lie = 'honest';
    await until('it is asked again', () => rpc.endpointsUp() === 2);
    assert.deepEqual([rpc.troubles(), second.requests.length], [[], asked]);
  });

  it('waits for an endpoint that is left alone, instead of failing at once', async () => {
    first.lie = 'too_many_requests';
    const rpc = connect([first]);
    await assert.rejects(rpc.call(balance, 10), ChainUnavailableError);
    assert.equal(rpc.endpointsUp(), 0);
    first.lie = 'honest';
    assert.equal(await rpc.call(balance), 5n);
  });

  it('asks another endpoint in parallel with a silent one, and takes the first answer', async () => {
    first.lie = 'silence';
    const rpc = connect([first, second]);
    assert.equal(await rpc.call(balance, 400), 5n);
    assert.equal(first.requests.length, 1);
  });

  it('waits for an endpoint whose calls are rationed, instead of asking a silent one a second time', async () => {
    const rpc = connect([first, second], { callsPerS: 20 });
    const rationed = rpc.endpoints[1];
    assert.ok(rationed);
    await Promise.all(Array.from({ length: 45 }, () => rpc.callOne(rationed, balance)));
    assert.ok(rationed.readyInMs() > 0);
    first.lie = 'silence';
    assert.equal(await rpc.call(balance, 4_000), 5n);
    assert.equal(first.requests.length, 1);
  });

  it('takes another answer before one with a part that cannot be read, and that one before none', async () => {
    first.answers = { eth_getBalance: { result: '0x7' } };
    const rpc = connect([first, second]);
    const picky = { ...balance, isFlawed: (value: bigint) => value === 7n };
    assert.equal(await rpc.call(picky), 5n);
    second.lie = 'bad_gateway';
    assert.equal(await rpc.call(picky), 7n);
  });

  it('does not ask again for an answer that no endpoint can give in a form that can be read', async () => {
    first.lie = 'wrong_values';
    second.lie = 'wrong_values';
    const rpc = connect([first, second]);
    await assert.rejects(rpc.call(balance), UnreadableAnswerError);
    assert.deepEqual([first.requests.length, second.requests.length], [1, 1]);
    assert.deepEqual(rpc.troubles(), []);
  });

  it('does not believe the height that one endpoint alone claims, when there are three', async () => {
    const third = await startLyingServer();
    try {
      third.head = 1_000_000;
      const rpc = connect([first, second, third]);
      await rpc.callEach(balance);
      assert.equal(await rpc.call(balance), 5n);
      assert.equal(rpc.endpointsUp(), 3);
    } finally {
      await third.close();
    }
  });

  it('leaves a throttling endpoint alone at once', async () => {
    first.lie = 'too_many_requests';
    const rpc = connect([first, second]);
    for (let count = 0; count < 5; count += 1) await rpc.call(balance);
    assert.equal(first.requests.length, 1);
  });

  it('reports an endpoint that asks for fewer calls', async () => {
    const throttled: number[] = [];
    second.lie = 'too_many_requests';
    const rpc = connect([first, second], { onThrottled: (index) => throttled.push(index) });
    await rpc.callEach(balance);
    assert.deepEqual(throttled, [1]);
  });

  it('for the public opens no breaker by late answers, and asks another endpoint first', async () => {
    first.lie = 'silence';
    const yielding = connect([first, second], { isYielding: true });
    for (let asked = 0; asked < 5; asked += 1) assert.equal(await yielding.call(balance, 200), 5n);
    await until('the silent endpoint is late', () => yielding.inOrder()[0]?.name === 'endpoint 2');
    assert.deepEqual(yielding.troubles(), []);
    const alone = connect([first], { isYielding: true });
    for (let asked = 0; asked < 4; asked += 1) await assert.rejects(alone.call(balance, 20), ChainUnavailableError);
    assert.deepEqual(alone.troubles(), []);
  });

  it('asks an endpoint that fails now and then again and again, while another one is silent', async () => {
    const silent: Transport = { post: () => new Promise(() => {}), close: () => {} };
    let requests = 0;
    const flapping: Transport = {
      post: async (body) => {
        requests += 1;
        if (requests <= 4) return { status: 502, text: '' };
        const calls = JSON.parse(body) as { id: number; method: string }[];
        const resultOf = (method: string) => (method === 'eth_chainId' ? '0x7a69' : '0x5');
        return {
          status: 200,
          text: JSON.stringify(calls.map(({ id, method }) => ({ jsonrpc: '2.0', id, result: resultOf(method) }))),
        };
      },
      close: () => {},
    };
    // The time of an option request. The silent endpoint is late within it, and must not be waited for a second time.
    const rpc = connect([], { endpoints: [silent, flapping], isYielding: true });
    assert.equal(await rpc.call(balance, 2_500), 5n);
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

  it('distinguishes errors that are answers, such as a revert, from other errors', async () => {
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
