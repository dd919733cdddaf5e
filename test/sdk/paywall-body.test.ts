import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bodyOf, type NodeRequest } from '../../sdk/src/paywall-ticket.ts';

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8', 'content-length': '12' };

describe('the body that a paywall binds a payment to', () => {
  const textOf = (request: Omit<NodeRequest, 'method'> & { method?: string }) =>
    new TextDecoder().decode(bodyOf({ method: 'POST', ...request }));

  for (const [title, request, text] of [
    ['is the raw one', { headers: JSON_TYPE, rawBody: Buffer.from('{"a": 1}'), body: { a: 1 } }, '{"a": 1}'],
    ['is the bytes of a parser', { headers: { 'content-length': '3' }, body: Buffer.from('abc') }, 'abc'],
    ['is the text of a parser', { headers: { 'content-length': '3' }, body: 'abc' }, 'abc'],
    ['is parsed JSON', { headers: JSON_TYPE, body: { a: 1 }, readableEnded: true }, '{"a":1}'],
    [
      'is parsed JSON of any kind',
      { headers: { ...JSON_TYPE, 'content-type': 'application/ld+json' }, body: [] },
      '[]',
    ],
    ['is an empty object of JSON that was read', { headers: JSON_TYPE, body: {}, readableEnded: true }, '{}'],
    [
      'is the fields of a form',
      { headers: { ...JSON_TYPE, 'content-type': 'application/x-www-form-urlencoded' }, body: { a: '1' } },
      '{"a":"1"}',
    ],
    ['is empty if there is none', { method: 'GET', headers: {} }, ''],
    ['is empty by HTTP/2, too', { method: 'GET', headers: { ':method': 'GET' } }, ''],
    ['may be empty in a POST', { headers: { 'content-length': '0' }, body: undefined }, ''],
  ] as const) {
    it(title, () => assert.equal(textOf(request), text));
  }

  for (const [title, request] of [
    ['nobody has read', { headers: JSON_TYPE, readableEnded: false }],
    ['nobody has read, of unknown length', { headers: { 'transfer-encoding': 'chunked' } }],
    ['nobody has read, by HTTP/2, which needs no length', { headers: { ':method': 'POST' } }],
    // Express 4 puts an empty object in the place of each body that no parser takes.
    ['an empty object stands for', { headers: JSON_TYPE, body: {}, readableEnded: false }],
    [
      'an empty object of another type stands for',
      { headers: { 'content-type': 'text/plain', 'content-length': '3' }, body: {} },
    ],
    // The files of a form are in another field of the request.
    [
      'a parser of forms has left the files out of',
      {
        headers: { 'content-type': 'multipart/form-data; boundary=x', 'content-length': '99' },
        body: { title: 'a' },
        readableEnded: true,
      },
    ],
  ] as const) {
    it(`is never one that ${title}: this is an error of the site`, () => {
      assert.throws(() => textOf(request), /needs the body of the request/);
    });
  }
});
