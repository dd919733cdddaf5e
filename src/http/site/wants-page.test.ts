import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wantsPage } from './wants-page.ts';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8';

test('a page is only for a browser that opens a URL', () => {
  const asks = (accept: string | undefined, url = '/x', method = 'GET') =>
    wantsPage({ method, url, headers: accept === undefined ? {} : { accept } });
  for (const accept of [BROWSER, 'text/html', 'TEXT/HTML; charset=utf-8', 'application/json;q=0.5, text/html;q=0.9']) {
    assert.equal(asks(accept), true, accept);
  }
  for (const accept of [
    undefined,
    '',
    '*/*',
    'text/*',
    'application/json',
    'application/json, text/plain, */*',
    'text/html;q=0, */*',
    'application/json, text/html;q=0.9',
    'image/avif,image/webp,*/*;q=0.8',
    'text/htmlx',
  ]) {
    assert.equal(asks(accept), false, accept);
  }
  assert.equal(asks(BROWSER, '/x', 'HEAD'), true);
  assert.equal(asks(BROWSER, '/x', 'POST'), false);
  assert.equal(asks(BROWSER, '/v1/payments'), false, 'the API answers JSON, whoever asks');
  assert.equal(asks(BROWSER, '/v1'), true);
});
