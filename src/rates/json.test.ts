import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseJson, parsePointer, textAt } from './json.ts';

const at = (json: string, pointer: string) => {
  const path = parsePointer(pointer);
  assert.ok(path);
  return textAt(parseJson(json), path);
};

describe('a place in a JSON answer', () => {
  it('gives a number back digit by digit, as no float could', () => {
    assert.equal(
      at('{"price": 0.1000000000000000055511151231257827}', '/price'),
      '0.1000000000000000055511151231257827',
    );
    assert.equal(at('{"price": 12345678901234567890.10}', '/price'), '12345678901234567890.10');
    assert.equal(at('{"price": 1e-7}', '/price'), '1e-7');
    assert.equal(at('{"price": "3500.10"}', '/price'), '3500.10');
  });

  it('reads the answers of well-known exchanges', () => {
    const coinbase = '{"data":{"amount":"3500.115","base":"ETH","currency":"USD"}}';
    const kraken = '{"error":[],"result":{"XETHZUSD":{"a":["1","2","3"],"c":["3500.10000","0.02"]}}}';
    const binance = '{"symbol":"ETHUSDT","price":"3500.01000000"}';
    const several = '{"ethereum":{"usd":3500.12,"eur":3200}}';
    assert.equal(at(coinbase, '/data/amount'), '3500.115');
    assert.equal(at(kraken, '/result/*/c/0'), '3500.10000');
    assert.equal(at(binance, '/price'), '3500.01000000');
    assert.equal(at(several, '/ethereum/usd'), '3500.12');
  });

  it('takes `*` only where there is one member to take', () => {
    assert.equal(at('{"a":{"x":"1"},"b":{"x":"2"}}', '/*/x'), undefined);
    assert.equal(at('{}', '/*'), undefined);
    assert.equal(at('[["7"]]', '/*/*'), '7');
  });

  it('finds nothing at missing or inherited members, or in text that is not JSON', () => {
    for (const json of [
      '',
      '<html>',
      '{"price":',
      'null',
      '3',
      '"text"',
      '{"price":null}',
      '{"price":{}}',
      '{"price":true}',
    ]) {
      assert.equal(at(json, '/price'), undefined, json);
    }
    assert.equal(at('{}', '/__proto__/constructor/name'), undefined);
    assert.equal(at('{"price":"abc"}', '/price/0'), undefined);
    assert.equal(at('{"price":12}', '/price/text'), undefined);
    assert.equal(at('[1]', '/length'), undefined);
  });

  it('is spelled as a JSON Pointer', () => {
    assert.deepEqual(parsePointer('/a~1b/~0c/0'), ['a/b', '~c', '0']);
    for (const wrong of ['', '/', 'a', 'a/b', '/a//b', '/a~2', '/a~'])
      assert.equal(parsePointer(wrong), undefined, wrong);
  });
});
