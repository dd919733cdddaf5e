import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hostUrls } from './database-hosts.ts';

describe('the hosts of a database URL', () => {
  it('give a URL each, with the same user, database and parameters', () => {
    assert.deepEqual(hostUrls('postgres://till:s%2Ccret@one:5432,[::1]:5433,three/till?sslmode=require'), [
      'postgres://till:s%2Ccret@one:5432/till?sslmode=require',
      'postgres://till:s%2Ccret@[::1]:5433/till?sslmode=require',
      'postgres://till:s%2Ccret@three/till?sslmode=require',
    ]);
  });

  it('are one for a URL with one host or a socket, whose other parts may have commas', () => {
    for (const url of ['postgresql://u:a,b@one/till', 'postgres:///till?host=/run/a,b', 'postgres://one/a,b']) {
      assert.deepEqual(hostUrls(url), [url]);
    }
  });

  it('are not read from a text that is no such URL', () => {
    for (const text of ['jdbc:postgresql://one,two/till', 'postgres://one,two/till\n'])
      assert.deepEqual(hostUrls(text), [text]);
  });
});
