import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { verify } from '../../sdk/src/webhooks.ts';
import { runTill } from '../../src/cli/till.ts';
import { startTestGateway, type TestGateway } from '../gateway.ts';
import { until } from '../until.ts';
import { openShop, type Shop } from './shop.ts';

const SECRET = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';

describe('till listen', () => {
  let gateway: TestGateway;
  let url: string;
  let shop: Shop;
  let home: string;
  const servers: Server[] = [];
  before(async () => {
    gateway = await startTestGateway();
    url = await gateway.app.listen({ port: 0, host: '127.0.0.1' });
    shop = await openShop(gateway);
    home = await mkdtemp(join(tmpdir(), 'till-listen-'));
    await writeFile(join(home, 'sandbox.json'), JSON.stringify({ baseUrl: url, apiKey: shop.secret }));
  });
  after(async () => {
    for (const server of servers) server.closeAllConnections();
    await Promise.all(servers.map((server) => server.close()));
    await gateway.stop();
    await rm(home, { recursive: true, force: true });
  });

  async function serve(handle: Parameters<typeof createServer>[1]): Promise<string> {
    const server = createServer(handle).listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** Runs the command, and ends it as Ctrl-C does. */
  function listen(args: readonly string[], env: Record<string, string> = {}) {
    const interruption = new AbortController();
    let output = '';
    const sink = {
      write: (text: string) => {
        output += text;
      },
    };
    const ended = runTill(['listen', ...args], {
      env: { TILL_HOME: home, ...env },
      stdout: sink,
      stderr: sink,
      untilInterrupted: () => interruption.signal,
    });
    return {
      output: () => output,
      ended,
      prints: (text: string) => until(`it says ${text}`, () => output.includes(text)),
      async stop(): Promise<number> {
        interruption.abort();
        return ended;
      },
    };
  }

  const bodyOf = async (request: IncomingMessage) => Buffer.concat(await request.toArray());

  it('forwards each event, signed, and shows the answer', async () => {
    const got: unknown[] = [];
    const receiver = await serve(async (request, response) => {
      const event = await verify(await bodyOf(request), request.headers, SECRET);
      got.push([request.url, event.type, event.data.id]);
      response.writeHead(204).end();
    });
    const listening = listen(['--forward', `${receiver}/hook?shop=1`, '--secret', SECRET, '--events', 'payment.*']);
    await listening.prints(`Following ${url}. Events go to ${receiver}/hook?shop=1, signed with ${SECRET}`);
    const { paymentId } = await shop.created();
    await shop.cancel(paymentId);
    await listening.prints('payment.cancelled');
    assert.equal(await listening.stop(), 0);
    assert.deepEqual(got, [
      ['/hook?shop=1', 'payment.created', paymentId],
      ['/hook?shop=1', 'payment.cancelled', paymentId],
    ]);
    assert.match(
      listening.output(),
      new RegExp(
        `\\n\\d\\d:\\d\\d:\\d\\d  payment.created  ${paymentId}  10.00 USD  ORDER-42  your receiver took it \\(204\\) in \\d+ ms\\n`,
      ),
    );
    assert.match(listening.output(), /Stopped after 2 events\.\n$/);
    assert.ok(!listening.output().includes(shop.secret));
  });

  it('keeps its secret in the home, for its owner alone', async () => {
    const secrets: string[] = [];
    for (let run = 0; run < 2; run += 1) {
      const listening = listen(['--json']);
      await listening.prints('following');
      secrets.push(JSON.parse(listening.output().split('\n')[0] ?? '').secret);
      assert.equal(await listening.stop(), 0);
    }
    const file = join(home, 'listen-secret');
    assert.deepEqual([`${secrets[0]}\n`, (await stat(file)).mode & 0o777], [await readFile(file, 'utf8'), 0o600]);
    assert.equal(secrets[0], secrets[1]);
    const named = listen(['--json'], { LISTEN_SECRET: SECRET });
    await named.prints(SECRET);
    assert.equal(await named.stop(), 0);
  });

  it('goes on when the receiver refuses, redirects or is away', async () => {
    const answers = [500, 302];
    const receiver = await serve((_, response) => {
      const status = answers.shift();
      if (status === undefined) response.destroy();
      else response.writeHead(status, { location: 'http://127.0.0.1:1/' }).end();
    });
    const listening = listen(['--forward', receiver, '--json', '--events', 'payment.created']);
    await listening.prints('following');
    const ids: string[] = [];
    for (let count = 1; count <= 3; count += 1) {
      ids.push((await shop.created()).paymentId);
      await until('it was forwarded', () => listening.output().split('"forwarded"').length > count);
    }
    assert.equal(await listening.stop(), 0);
    const lines = listening
      .output()
      .split('\n')
      .slice(1, 4)
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      lines.map(({ event, forwarded }) => [event.data.id, forwarded.status, forwarded.isTaken]),
      [
        [ids[0], 500, false],
        [ids[1], 302, false],
        [ids[2], null, false],
      ],
    );
    assert.match(listening.output(), /"events": 3,\n {2}"refused": 3/);
  });

  it('says of each event that was not taken what the receiver did', async () => {
    const answers = [500, 302];
    const receiver = await serve((_, response) => {
      const status = answers.shift();
      if (status === undefined) response.destroy();
      else response.writeHead(status, { location: 'http://127.0.0.1:1/' }).end();
    });
    const listening = listen(['--forward', receiver, '--events', 'payment.created']);
    await listening.prints('Following');
    for (const sentence of [/refused it \(500/, /redirected, which webhooks do not follow/, /gave no answer: /]) {
      const { paymentId } = await shop.created();
      const lineOf = () =>
        listening
          .output()
          .split('\n')
          .find((line) => line.includes(paymentId) && line.includes('your receiver'));
      await until('it was forwarded', () => lineOf() !== undefined);
      assert.match(lineOf() ?? '', sentence);
    }
    assert.equal(await listening.stop(), 0);
  });

  it('loses no event while the gateway is out of reach', async () => {
    let isAway = false;
    const proxy = await serve(async (request, response) => {
      if (isAway) return void response.destroy();
      const answer = await fetch(`${url}${request.url}`, { headers: { 'api-key': shop.secret } });
      const body = await answer.text();
      // The connection is lost while the request is held.
      if (isAway) response.destroy();
      else response.writeHead(answer.status, { 'content-type': 'application/json' }).end(body);
    });
    const listening = listen(['--url', proxy, '--api-key', shop.secret, '--events', 'payment.created']);
    await listening.prints('Following');
    const first = (await shop.created()).paymentId;
    await listening.prints(first);
    isAway = true;
    const second = (await shop.created()).paymentId;
    await listening.prints('The gateway is out of reach');
    isAway = false;
    await listening.prints('The gateway is back.');
    await listening.prints(second);
    assert.equal(await listening.stop(), 0);
    assert.match(listening.output(), /Stopped after 2 events\./);
  });

  it('refuses what cannot work, and repeats no secret', async () => {
    const cases: [args: string[], code: number, expected: RegExp][] = [
      // The key of the sandbox is not sent elsewhere.
      [['--url', url], 1, /missing_api_key/],
      [['--url', url, '--api-key', 'till_test_nothing'], 1, /invalid_api_key/],
      [['--url', url, '--api-key', `${shop.secret}\n`], 1, /without white space/],
      [['--forward', 'localhost:3000'], 2, /--forward must be an http or https URL/],
      [['--forward', 'http://localhost:3000', '--secret', 'whsec_short*'], 2, /--secret must be whsec_/],
      [['--events', 'payment'], 2, /--events must be a type of events/],
      [['--events', 'payment.unheard'], 1, /params_validation/],
    ];
    for (const [args, code, expected] of cases) {
      const listening = listen(args);
      assert.equal(await listening.ended, code, listening.output());
      assert.match(listening.output(), expected);
      assert.ok(!/short\*|till_test_[0-9A-Za-z]{20}/.test(listening.output()), listening.output());
    }
    const misnamed = listen([], { LISTEN_SECRET: 'whsec_short*' });
    assert.equal(await misnamed.ended, 1);
    assert.match(misnamed.output(), /LISTEN_SECRET must be whsec_(?!short)/);
    const nowhere = listen([], { TILL_HOME: join(home, 'empty') });
    assert.equal(await nowhere.ended, 1);
    assert.match(nowhere.output(), /There is no sandbox under .*empty: start one with `npm start`/);
  });
});
