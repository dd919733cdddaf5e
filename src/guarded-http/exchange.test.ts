import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { systemWorld } from '../runtime/system-world.ts';
import { createExchange, ExchangeError, type ExchangeLimits } from './exchange.ts';

const { timers } = systemWorld;
const LIMITS: ExchangeLimits = { timeoutMs: 10_000, maxBytes: 64 * 1024, keptConnections: 4 };

describe('an exchange with a server that strangers chose', () => {
  let answer: RequestListener = () => {};
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => answer(request, response));
  server.on('connection', (socket) => sockets.add(socket));
  let url = '';
  before(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  const isAllowed = () => true;
  const exchangeWith = (limits: Partial<ExchangeLimits> = {}) =>
    createExchange({ timers, isAllowed }, { ...LIMITS, ...limits });
  const post = (exchange = exchangeWith(), to = url) =>
    exchange({ url: to, method: 'POST', headers: { 'x-own': 'yes' }, body: Buffer.from('{"a":1}') });
  const failure = async (answering: Promise<unknown>) => {
    const error = await answering.then(
      () => assert.fail('there was an answer'),
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof ExchangeError, String(error));
    return error;
  };

  it('sends the body with its length, and returns status, headers and body', async () => {
    let got = '';
    answer = (request, response) => {
      request.on('data', (part) => {
        got += part;
      });
      request.on('end', () => response.writeHead(202, { 'x-their': 'no' }).end('thanks'));
      assert.equal(request.headers['content-length'], '7');
      assert.equal(request.headers['x-own'], 'yes');
    };
    const { status, headers, bytes, isWhole } = await post();
    assert.deepEqual([status, headers['x-their'], bytes.toString(), isWhole], [202, 'no', 'thanks', true]);
    assert.equal(got, '{"a":1}');
  });

  it('uses a kept connection again, and makes a new one when the server has closed it', async () => {
    const exchange = exchangeWith();
    answer = (_request, response) => response.end('ok');
    const before = sockets.size;
    await post(exchange);
    await post(exchange);
    assert.equal(sockets.size, before + 1);
    // The server resets the kept connection in the moment of the next request.
    let requests = 0;
    answer = (request, response) => {
      requests += 1;
      if (requests === 1) request.socket.resetAndDestroy();
      else response.end('again');
    };
    assert.equal((await post(exchange)).bytes.toString(), 'again');
    assert.equal(requests, 2);
  });

  it('keeps the status of an answer that never ends, that floods, or that breaks off', async () => {
    answer = (_request, response) => void response.writeHead(200).write('a little');
    const slow = await post(exchangeWith({ timeoutMs: 200 }));
    assert.deepEqual([slow.status, slow.bytes.toString(), slow.isWhole], [200, 'a little', false]);

    let written = 0;
    answer = (_request, response) => {
      const chunk = Buffer.alloc(1024 * 1024, 'x');
      const write = () => {
        while (!response.destroyed && written < 1024 ** 3) {
          written += chunk.length;
          if (!response.write(chunk)) return void response.once('drain', write);
        }
      };
      response.writeHead(200);
      write();
    };
    const flood = await post();
    assert.deepEqual([flood.status, flood.bytes.length, flood.isWhole], [200, LIMITS.maxBytes, false]);
    assert.ok(written < 100 * 1024 * 1024, 'it stopped reading');

    answer = (request, response) => {
      response.writeHead(500, { 'content-length': '1000' });
      response.write('half', () => request.socket.destroy());
    };
    const broken = await post();
    assert.deepEqual([broken.status, broken.isWhole], [500, false]);
  });

  it('follows no redirect', async () => {
    let requests = 0;
    answer = (_request, response) => {
      requests += 1;
      response.writeHead(307, { location: url }).end();
    };
    assert.equal((await post()).status, 307);
    assert.equal(requests, 1);
  });

  it('fails where there is no answer, without words of the server', async () => {
    answer = () => {};
    assert.match((await failure(post(exchangeWith({ timeoutMs: 100 })))).message, /longer than 0.1 s/);
    answer = (request) => request.socket.resetAndDestroy();
    assert.match((await failure(post())).message, /closed the connection/);
    answer = (request) => request.socket.end('SECRET nonsense\r\n\r\n');
    assert.equal((await failure(post())).message, 'its server did not answer in HTTP');
    answer = (request) => request.socket.end(`HTTP/1.1 200 OK\r\n${'x-long: y\r\n'.repeat(10_000)}\r\n`);
    assert.equal((await failure(post())).message, 'its server did not answer in HTTP');
  });

  it('fails where nobody listens', async () => {
    const closed = createTcpServer();
    await once(closed.listen(0, '127.0.0.1'), 'listening');
    const { port } = closed.address() as AddressInfo;
    closed.close();
    await once(closed, 'close');
    const { message, isPassing } = await failure(post(exchangeWith(), `http://127.0.0.1:${port}/`));
    assert.deepEqual([message, isPassing], ['its server refused the connection', true]);
  });

  it('connects to no address that is not allowed, by name or by number', async () => {
    const guarded = createExchange({ timers }, LIMITS);
    answer = () => assert.fail('it was asked');
    const { port } = new URL(url);
    for (const host of ['localhost', 'shop.localhost', '127.0.0.1', '[::1]', '2130706433', '[::ffff:127.0.0.1]']) {
      const { message, isPassing } = await failure(post(guarded, `http://${host}:${port}/`));
      assert.deepEqual([message, isPassing], ['its address is not a public one', false], host);
    }
  });
});
