import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isAllowedReceiver, receiverProblem } from './webhook-url.ts';

const live = (url: string) => receiverProblem(url, { allowsLocal: false });
const sandbox = (url: string) => receiverProblem(url, { allowsLocal: true });

describe('the URL of a receiver', () => {
  it('is HTTPS with a public host', () => {
    for (const url of [
      'https://shop.example/hook',
      'https://shop.example:8443/hook?token=1',
      'https://93.184.215.14/hook',
      'https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/',
      'https://bücher.example/',
    ]) {
      assert.equal(live(url), undefined, url);
      assert.equal(sandbox(url), undefined, url);
    }
  });

  it('may be as long as the limit, also in the spelling of the request', () => {
    const url = (length: number) => `https://shop.example/${'a'.repeat(length - 'https://shop.example/'.length)}`;
    assert.deepEqual([live(url(2_048)), live(url(2_049))], [undefined, 'must not be longer than 2048 characters']);
    assert.match(
      live(`https://shop.example/#${'a'.repeat(2_048)}`) ?? '',
      /2048/,
      'before anything else of it is read',
    );
  });

  it('may have an @ behind its host, and names that only contain those of local networks', () => {
    for (const url of [
      ...['https://shop.example/@user', 'https://shop.example/?next=https://a@b.example/', 'https://local.example/'],
      ...['https://localhost.example/', 'https://mylocal.lanx/', 'https://shop.notlocal/', 'https://shop.mylan/'],
    ]) {
      assert.equal(live(url), undefined, url);
      assert.equal(sandbox(url), undefined, url);
    }
    assert.equal(sandbox('https://notlocalhost/'), 'must have a public host');
    assert.equal(sandbox('https://localhost-other/'), 'must have a public host');
    assert.match(live('https://:secret@shop.example/') ?? '', /credentials/);
  });

  it('is refused for its form', () => {
    for (const [url, problem] of [
      ['', /must be a URL/],
      ['shop.example/hook', /must be a URL/],
      ['https://', /must be a URL/],
      ['https://shop.example/ hook', /must be a URL/],
      ['https://shop.example/\thook', /must be a URL/],
      ['https://shop.example\\@evil.example/', /must be a URL/],
      ['https://shop.example:99999/', /must be a URL/],
      ['ftp://shop.example/', /HTTP/],
      ['file:///etc/passwd', /HTTP/],
      ['javascript:alert(1)', /HTTP/],
      ['https://user@shop.example/', /credentials/],
      ['https://user:secret@shop.example/', /credentials/],
      ['https://@shop.example/', /credentials/],
      ['https://shop.example/#part', /fragment/],
      ['https://shop.example/#', /fragment/],
      [`https://shop.example/${'a'.repeat(2_048)}`, /2048/],
      [`https://shop.example/${'ü'.repeat(700)}`, /2048/],
      [`https://shop.example/${'a'.repeat(10_240)}`, /2048/],
    ] as const) {
      assert.match(live(url) ?? '', problem, url);
      assert.match(sandbox(url) ?? '', problem, url);
    }
  });

  it('leads to this machine only in a sandbox, and to a private network never', () => {
    for (const host of [
      'localhost',
      'LOCALHOST',
      'shop.localhost',
      '127.0.0.1',
      '127.9.9.9',
      '[::1]',
      '2130706433',
      '0x7f.1',
    ]) {
      assert.equal(live(`https://${host}/`), 'must have a public host', host);
      assert.equal(live(`http://${host}/`), 'must be an HTTPS URL', host);
      assert.equal(sandbox(`http://${host}:3000/hook`), undefined, host);
    }
    for (const host of [
      '10.0.0.1',
      '192.168.1.1',
      '172.16.0.1',
      '169.254.169.254',
      '100.64.0.1',
      '0.0.0.0',
      '224.0.0.1',
      '[::]',
      '[fd00::1]',
      '[fe80::1]',
      '[::ffff:10.0.0.1]',
      '[64:ff9b::a00:1]',
      'intranet',
      'printer.local',
      'metadata.google.internal',
      'router.home.arpa',
    ]) {
      for (const check of [live, sandbox]) assert.equal(check(`https://${host}/`), 'must have a public host', host);
    }
  });
});

describe('the address of a receiver', () => {
  it('is public, or this machine in a sandbox', () => {
    for (const [address, isLive, isSandbox] of [
      ['93.184.215.14', true, true],
      ['127.0.0.1', false, true],
      ['::1', false, true],
      ['10.0.0.1', false, false],
      ['169.254.169.254', false, false],
      ['::ffff:127.0.0.1', false, false],
      ['nonsense', false, false],
    ] as const) {
      assert.equal(isAllowedReceiver(address, { allowsLocal: false }), isLive, address);
      assert.equal(isAllowedReceiver(address, { allowsLocal: true }), isSandbox, address);
    }
  });
});
