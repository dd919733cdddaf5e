import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { get } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { selfSignedCertificate } from './certificate.ts';
import { checkConfiguration, missingHaproxy, startHaproxy } from './haproxy.ts';
import { until } from './until.ts';

describe('the configuration of HAProxy', { skip: missingHaproxy() }, () => {
  let folder = '';
  let certificate = '';
  let ca = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'till-haproxy-'));
    certificate = join(folder, 'till.pem');
    const { key, cert } = selfSignedCertificate();
    ca = cert;
    await writeFile(certificate, cert + key);
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const nodes = (count: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, index) => [`TILL_NODE_${index + 1}`, `127.0.0.1:${3000 + index}`]),
    );

  for (const count of [1, 2, 3, 9]) {
    it(`is accepted with ${count} nodes by their addresses`, () => assert.equal(checkConfiguration(nodes(count)), ''));
  }

  it('is accepted with any number of nodes behind one name', () => {
    assert.equal(checkConfiguration({ TILL_NODES: 'till.internal:3000', TILL_RESOLVER: '127.0.0.11:53' }), '');
  });

  it('is accepted with a certificate, and refused with one that is not there', () => {
    assert.equal(checkConfiguration({ ...nodes(2), TILL_CERTIFICATE: certificate }), '');
    assert.notEqual(checkConfiguration({ ...nodes(2), TILL_CERTIFICATE: `${certificate}.not` }), '');
  });

  it('serves four nodes by TLS, with HTTP/1.1 and HTTP/2, and marks requests and answers as made by TLS', async () => {
    const seen: [node: number, forwarded: unknown, from: unknown][] = [];
    const servers = [0, 1, 2, 3].map((node) =>
      createServer(({ url, headers }, response) => {
        if (url !== '/ready') seen.push([node, headers['x-forwarded-proto'], headers['x-forwarded-for']]);
        response.end(`node ${node}`);
      }).listen(0, '127.0.0.1'),
    );
    await Promise.all(servers.map((server) => once(server, 'listening')));
    const origins = servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const balancer = await startHaproxy(origins, { certificate });
    try {
      await until('every node has served a request', async () => {
        const { headers, statusCode } = await getByTls(`${balancer.url}/`, ca);
        assert.deepEqual([statusCode, headers['strict-transport-security']], [200, 'max-age=31536000']);
        return new Set(seen.map(([node]) => node)).size === servers.length;
      });
      assert.deepEqual(new Set(seen.map(([, ...headers]) => headers.join())), new Set(['https,127.0.0.1']));
      assert.deepEqual(await byHttp2(balancer.url, ca), ['h2', 200]);
      await assert.rejects(fetch(balancer.url.replace('https:', 'http:')), 'nothing is served without TLS');
    } finally {
      await balancer.stop();
      for (const server of servers) server.close();
    }
  });

  it('is refused without a node', () => assert.match(checkConfiguration({}), /TILL_NODE_1 or TILL_NODES/));
});

/** The certificate names localhost, while the proxy listens at an address. */
async function getByTls(url: string, ca: string): Promise<IncomingMessage> {
  const [response] = (await once(get(url, { ca, servername: 'localhost', agent: false }), 'response')) as [
    IncomingMessage,
  ];
  response.resume();
  await once(response, 'end');
  return response;
}

/** The protocol that was agreed on, and the status of the answer. */
async function byHttp2(url: string, ca: string): Promise<unknown[]> {
  const session = connectHttp2(url, { ca, servername: 'localhost' });
  try {
    const stream = session.request({ ':path': '/' });
    const [headers] = await once(stream, 'response');
    stream.resume();
    await once(stream, 'end');
    return [session.alpnProtocol, headers[':status']];
  } finally {
    session.close();
  }
}
