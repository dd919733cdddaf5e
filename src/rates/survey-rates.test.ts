import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LIVE, type PairAnswer, type RateSource, RateSourceError, type SourceKind } from './rates.ts';
import { surveyRates } from './survey-rates.ts';

const NOW_MS = Date.UTC(2026, 2, 2, 15);
const stop = new AbortController().signal;
const world = { clock: { nowMs: () => NOW_MS } };

function source(name: string, answer: PairAnswer | RateSourceError, kind: SourceKind = 'live'): RateSource {
  const read = async () => {
    if (answer instanceof RateSourceError) throw answer;
    return [answer];
  };
  const pair = answer instanceof RateSourceError ? { base: 'SEK', quote: 'USD' } : answer;
  return { ...LIVE, kind, name, requests: [{ pairs: [{ base: pair.base, quote: pair.quote }], read }] };
}
const says = (name: string, price: string, kind?: SourceKind) =>
  source(name, { base: 'USD', quote: 'SEK', price }, kind);

/** By source: why it is left out, or `used`. */
async function verdicts(...sources: readonly RateSource[]): Promise<Record<string, string>> {
  const { pairs } = await surveyRates({ world, stop }, sources);
  assert.deepEqual(
    pairs.map(({ base, quote }) => `${base}/${quote}`),
    ['SEK/USD'],
  );
  return Object.fromEntries(
    pairs.flatMap(({ opinions }) => opinions.map((one) => [one.source, one.leftOut ?? 'used'])),
  );
}

describe('a survey of rate sources', () => {
  it('shows which live sources agree, and by how much another one differs', async () => {
    assert.deepEqual(await verdicts(says('a', '10'), says('b', '10.02'), says('c', '12.012')), {
      a: 'used',
      b: 'used',
      c: 'differs from the rate by 20 %',
    });
  });

  it('shows what reference rates are for', async () => {
    const bank = (price: string) => says('bank', price, 'reference');
    assert.equal(
      (await verdicts(says('a', '10'), says('b', '10'), bank('10'))).bank,
      'is not needed beside live prices',
    );
    assert.deepEqual(await verdicts(says('a', '10'), bank('10')), { a: 'used', bank: 'used' });
    assert.deepEqual(await verdicts(says('a', '10'), bank('11')), {
      a: 'has too few others that agree',
      bank: 'has too few others that agree',
    });
    assert.equal(
      (await verdicts(source('a', new RateSourceError('answered 503')), bank('10'))).bank,
      'confirms no live price',
    );
  });

  it('repeats the reason of a source that has no price', async () => {
    assert.deepEqual(
      await verdicts(
        source('a', new RateSourceError('answered 503')),
        source('b', { base: 'USD', quote: 'SEK', fault: 'sent no price at the place it should stand' }),
        says('c', '-1'),
      ),
      { a: 'answered 503', b: 'sent no price at the place it should stand', c: 'sent something that is not a price' },
    );
  });
});
