import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LIMIT_PATTERN, limitsFrom, limitText, otherUnits } from './refund-limits.ts';

const YEN = { unit: 'iso4217/JPY', value: '5000' };
const TOKEN = { unit: 'caip19/eip155:8453/slip44:60', value: '1000000000000000000' };
const DOLLARS = { unit: 'iso4217/USD', value: '10050' };

describe('limits of refunds in the form', () => {
  const saved = (texts: { USD?: string; EUR?: string }, before: Parameters<typeof limitsFrom>[1] = null) =>
    limitsFrom((currency) => texts[currency] ?? '', before);

  it('keep their cents', () => {
    assert.equal(limitText([DOLLARS], 'USD'), '100.50');
    assert.deepEqual(saved({ USD: limitText([DOLLARS], 'USD') }, [DOLLARS]), [DOLLARS]);
    assert.deepEqual(saved({ USD: '0,05' }), [{ unit: 'iso4217/USD', value: '5' }]);
    assert.equal(limitText([{ unit: 'iso4217/EUR', value: '10000' }], 'EUR'), '100');
    assert.equal(limitText([{ unit: 'iso4217/EUR', value: '7' }], 'EUR'), '0.07');
  });

  it('keep limits in units that the form has no field for', () => {
    const before = [YEN, DOLLARS, TOKEN];
    assert.deepEqual(saved({ USD: '100.50', EUR: '20' }, before), [
      DOLLARS,
      { unit: 'iso4217/EUR', value: '2000' },
      YEN,
      TOKEN,
    ]);
    assert.deepEqual(otherUnits(before), ['JPY', 'caip19/eip155:8453/slip44:60']);
  });

  it('end when their field is empty or zero', () => {
    assert.deepEqual(saved({ USD: '', EUR: '0' }, [DOLLARS, YEN]), [YEN]);
  });

  it('are written as the field takes them, and nothing else is read as an amount', () => {
    const pattern = new RegExp(`^${LIMIT_PATTERN}$`);
    for (const text of ['100', '100.5', '100,50', '0.07']) assert.ok(pattern.test(text) && saved({ USD: text }), text);
    for (const text of ['1.234', '-1', '1e3', 'x']) {
      assert.ok(!pattern.test(text));
      assert.throws(() => saved({ USD: text }), RangeError);
    }
  });
});
