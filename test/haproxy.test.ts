import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { selfSignedCertificate } from './certificate.ts';
import { checkConfiguration, missingHaproxy } from './haproxy.ts';

describe('the configuration of HAProxy', { skip: missingHaproxy() }, () => {
  let folder = '';
  let certificate = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'till-haproxy-'));
    certificate = join(folder, 'till.pem');
    const { key, cert } = selfSignedCertificate();
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

  it('is refused without a node', () => assert.match(checkConfiguration({}), /TILL_NODE_1 or TILL_NODES/));
});
