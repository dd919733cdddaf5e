import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, it } from 'node:test';
import { runCommand } from '../../test/run-command.ts';

const ACCOUNT = '0x71C7656EC7ab88b098defB751B7401B5f6d8976F';
const NETWORK = {
  RPC_URLS: 'eip155:8453=http://127.0.0.1:1',
  FEE_ACCOUNT: ACCOUNT,
  INTERMEDIATE_ACCOUNT: ACCOUNT,
};

describe('the command about rates', () => {
  /** By path: what a source answers. */
  let answers: Record<string, string>;
  let server: Server;
  let env: Record<string, string>;
  before(async () => {
    server = createServer((request, response) => {
      const answer = answers[request.url ?? ''];
      response.writeHead(answer === undefined ? 503 : 200).end(answer);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const line = (host: string, name: string) =>
      `${name} http://${host}:${port}/${name}/{base}{quote}?key=hunter2#/price ETH/USD USD/EUR`;
    // Two hosts, because two sources on one host are refused.
    const sources = [line('127.0.0.1', 'one'), line('localhost', 'two')];
    env = { ...NETWORK, RATE_SOURCES: sources.join(';') };
  });
  beforeEach(() => {
    answers = Object.fromEntries(
      ['one', 'two'].flatMap((name) => [
        [`/${name}/ETHUSD?key=hunter2`, '{"price":"3000.00"}'],
        [`/${name}/USDEUR?key=hunter2`, '{"price":0.8}'],
      ]),
    );
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  const till = (argv: readonly string[], environment = env) => runCommand(argv, { env: environment });

  it('shows each reading, and the rate in which they agree', async () => {
    const { exitCode, stdout, stderr } = await till(['rates']);
    assert.deepEqual([exitCode, stderr], [0, '']);
    assert.match(stdout, /PAIR +SOURCE +PRICE +AGE +RATE +LEFT OUT/);
    assert.match(stdout, /ETH\/USD +one +3000 +- +3000 +-/);
    assert.match(stdout, /EUR\/USD +two +1\.25 +- +1\.25 +-/);
    assert.match(stdout, /Every pair has a rate\./);
  });

  it('says why a source is left out, with exit code 1 when a pair has no rate', async () => {
    answers['/two/ETHUSD?key=hunter2'] = '<html>';
    answers['/one/USDEUR?key=hunter2'] = '{"price":"0.9"}';
    const { exitCode, stdout } = await till(['rates', '--json']);
    assert.equal(exitCode, 1);
    assert.doesNotMatch(stdout, /hunter2|127\.0\.0\.1|localhost/);
    const reading = { kind: 'live', statedAt: null, ageS: null, isUsed: false };
    assert.deepEqual(JSON.parse(stdout), {
      settings: 'own',
      pairs: [
        {
          pair: 'ETH/USD',
          rate: null,
          readings: [
            { ...reading, source: 'one', pair: 'ETH/USD', price: '3000.00', leftOut: 'has too few others that agree' },
            {
              ...reading,
              source: 'two',
              pair: 'ETH/USD',
              price: null,
              leftOut: 'sent no price at the place it should stand',
            },
          ],
        },
        {
          pair: 'EUR/USD',
          rate: null,
          readings: [
            { ...reading, source: 'one', pair: 'USD/EUR', price: '0.9', leftOut: 'has too few others that agree' },
            { ...reading, source: 'two', pair: 'USD/EUR', price: '0.8', leftOut: 'has too few others that agree' },
          ],
        },
      ],
      withoutSources: [],
    });
    answers = {};
    assert.match((await till(['rates'])).stdout, /ETH\/USD +one +- +- +- +answered 503/);
  });

  it('shows the pairs that make up one, and refuses a pair that has no sources', async () => {
    const crossed = await till(['rates', '--pair', 'ETH/EUR']);
    assert.equal(crossed.exitCode, 0);
    assert.match(crossed.stdout, /ETH\/USD(.|\n)*EUR\/USD/);
    const direct = await till(['rates', '--pair', 'EUR/USD']);
    assert.doesNotMatch(direct.stdout, /ETH\/USD/);
    const none = await till(['rates', '--pair', 'ETH/JPY']);
    assert.deepEqual(
      [none.exitCode, none.stdout.trim()],
      [1, 'ETH/JPY has no sources. Options that need it are not offered.'],
    );
    const wrong = await till(['rates', '--pair', 'eth-usd']);
    assert.equal(wrong.exitCode, 2);
    assert.match(wrong.stderr, /--pair must be two symbols, such as ETH\/EUR/);
  });

  it('names the coins of the networks in use that no source prices', async () => {
    const { exitCode, stdout } = await till(['rates'], { ...env, RPC_URLS: 'eip155:56=http://127.0.0.1:1' });
    assert.equal(exitCode, 0);
    assert.match(stdout, /BNB\/USD has no sources\. Options that need it are not offered\./);
  });

  it('says what a gateway without sources does', async () => {
    const none = await till(['rates'], NETWORK);
    assert.deepEqual([none.exitCode, none.stderr], [0, '']);
    assert.match(none.stdout, /^No rate sources are configured: .* Set RATES=public\.$/m);
    const sandbox = await till(['rates', '--json'], { RPC_URLS: 'eip155:31337=http://127.0.0.1:1' });
    assert.deepEqual(JSON.parse(sandbox.stdout), { settings: 'sandbox table', pairs: [], withoutSources: [] });
  });
});
