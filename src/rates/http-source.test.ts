import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { manualTime } from '../../test/manual-time.ts';
import { until } from '../../test/until.ts';
import { systemWorld } from '../runtime/system-world.ts';
import { createHttpSource } from './http-source.ts';

const PAIR = { base: 'ETH', quote: 'USD' };
const never = new AbortController().signal;

async function sourceThat(t: TestContext, answer: RequestListener, timers = systemWorld.timers) {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/spot?key=hunter2`;
  const source = createHttpSource(timers, { name: 'test', requests: [{ ...PAIR, url, path: ['price'] }] });
  const [request] = source.requests;
  assert.ok(request);
  return request;
}

/** Fails with the reason, and without a word of the address. */
async function failure(reading: Promise<unknown>): Promise<string> {
  const error = await reading.then(
    () => assert.fail('a price was read'),
    (thrown: Error) => thrown,
  );
  assert.equal(error.name, 'RateSourceError');
  assert.equal(error.cause, undefined);
  assert.doesNotMatch(`${error.message} ${error.stack}`, /127\.0\.0\.1|hunter2/);
  return error.message;
}

describe('an HTTP source', () => {
  it('reads the price at its place, digit by digit', async (t) => {
    const source = await sourceThat(t, (request, response) => {
      assert.equal(request.url, '/spot?key=hunter2');
      response.end('{"price": 3500.1000000000000000001}');
    });
    assert.deepEqual(await source.read(never), [{ ...PAIR, price: '3500.1000000000000000001' }]);
  });

  it('takes no answer but 200, and follows no redirect', async (t) => {
    for (const status of [204, 302, 404, 429, 500, 503]) {
      let requests = 0;
      const source = await sourceThat(t, (_request, response) => {
        requests += 1;
        response.writeHead(status, { location: '/elsewhere' }).end(status === 204 ? undefined : '{"price":"1"}');
      });
      assert.equal(await failure(source.read(never)), `answered ${status}`);
      assert.equal(requests, 1);
    }
  });

  it('takes garbage for no price', async (t) => {
    for (const body of ['', '<html>', '{"price":', '{"other":"1"}', '{"price":[1]}']) {
      const source = await sourceThat(t, (_request, response) => response.end(body));
      assert.equal(await failure(source.read(never)), 'sent no price at the place it should stand');
    }
  });

  it('stops reading an answer that is too long', async (t) => {
    const source = await sourceThat(t, (_request, response) => {
      response.write('{"price":"');
      const more = () => {
        while (response.write('1'.repeat(16_384)));
      };
      response.on('drain', more);
      more();
    });
    assert.equal(await failure(source.read(never)), 'sent more than 256 KiB');
  });

  it('gives up on half an answer after its time', async (t) => {
    const time = manualTime();
    let isAsked = false;
    const source = await sourceThat(
      t,
      (_request, response) => {
        response.write('{"price":');
        isAsked = true;
      },
      time.timers,
    );
    const failed = failure(source.read(never));
    await until('the request arrives', () => isAsked);
    await time.advance(5_000);
    assert.equal(await failed, 'took longer than 5 s');
  });

  it('stops at once when told to', async (t) => {
    const stop = new AbortController();
    const source = await sourceThat(t, () => stop.abort());
    assert.equal(await failure(source.read(stop.signal)), 'could not be reached');
    assert.equal(await failure(source.read(stop.signal)), 'could not be reached');
  });

  it('reports an unreachable source without its URL', async (t) => {
    const source = await sourceThat(t, (request) => request.socket.destroy());
    assert.equal(await failure(source.read(never)), 'could not be reached');
  });
});
