import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { pino } from 'pino';
import { manualTime } from '../../test/manual-time.ts';
import { ratio } from '../domain/rate.ts';
import { systemWorld } from '../runtime/system-world.ts';
import { followRates } from './follow-rates.ts';
import { LIVE, type RateSource, RateSourceError } from './rates.ts';

const ETH = { base: 'ETH', quote: 'USD' };

/** A source that says what it is told to; undefined is silence. */
function scripted(name: string, price: string | undefined) {
  const source = { name, price, asked: 0 };
  const read = async () => {
    source.asked += 1;
    if (source.price === undefined) throw new RateSourceError('answered 503');
    return [{ ...ETH, price: source.price }];
  };
  const port: RateSource = { ...LIVE, name, requests: [{ pairs: [ETH], read }] };
  return Object.assign(source, { port });
}

function follow(t: TestContext, ...sources: { readonly port: RateSource }[]) {
  const time = manualTime();
  const reports: string[] = [];
  const state = { isReportable: true };
  const record = async (text: string) => {
    if (!state.isReportable) throw new Error('The database is away.');
    reports.push(text);
  };
  const rates = followRates({
    world: { ...systemWorld, clock: time.clock, timers: time.timers },
    log: pino({ level: 'silent' }),
    sources: sources.map(({ port }) => port),
    report: (pair, problem) => record(problem === undefined ? `${pair} well` : `${pair} in trouble: ${problem}`),
  });
  t.after(async () => {
    const stopped = rates.stop();
    await time.advance(1_000_000);
    await stopped;
  });
  const rate = () => rates.rateOf('ETH', 'USD', time.clock.nowMs())?.value;
  /** In steps that are short enough for every retry to come at its time. */
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 1_000) await time.advance(1_000);
  };
  return { rates, time, reports, state, rate, pass };
}

describe('following rates', () => {
  it('has a rate as soon as two sources have answered alike, and never before', async (t) => {
    const [a, b] = [scripted('a', '3000'), scripted('b', undefined)];
    const { rate, time, pass } = follow(t, a, b);
    assert.equal(rate(), undefined);
    await time.advance(0);
    assert.equal(rate(), undefined);
    b.price = '3010';
    await pass(3_000);
    assert.deepEqual(rate(), ratio(3_005n, 1n));
  });

  it('keeps asking, and follows the market', async (t) => {
    const [a, b] = [scripted('a', '3000'), scripted('b', '3000')];
    const { rate, pass } = follow(t, a, b);
    await pass(1_000);
    [a.price, b.price] = ['3300', '3300'];
    await pass(20_000);
    assert.deepEqual(rate(), ratio(3_300n, 1n));
  });

  it('holds a rate over a short silence, and drops it when it is too old', async (t) => {
    const [a, b] = [scripted('a', '3000'), scripted('b', '3000')];
    const { rate, pass } = follow(t, a, b);
    await pass(1_000);
    b.price = undefined;
    await pass(40_000);
    assert.ok(rate());
    await pass(40_000);
    assert.equal(rate(), undefined);
  });

  it('asks a silent source soon again, then less and less, but never stops', async (t) => {
    const [a, b] = [scripted('a', '3000'), scripted('b', undefined)];
    const { pass } = follow(t, a, b);
    await pass(20_000);
    assert.ok(b.asked >= 3, `asked ${b.asked} times in the first 20 s`);
    await pass(600_000);
    const before = b.asked;
    await pass(3_600_000);
    const later = b.asked - before;
    assert.ok(later >= 9 && later <= 12, `asked ${later} times in a later hour`);
  });

  it('reports a pair without a rate with the answer of each source, and its return, at every round', async (t) => {
    const [a, b] = [scripted('a', '3000'), scripted('b', '6000')];
    const { reports, pass } = follow(t, a, b);
    await pass(46_000);
    assert.deepEqual(
      reports,
      Array(3).fill(
        'ETH/USD in trouble: There is no rate for ETH/USD, because too few sources agree: ' +
          'a says ETH/USD is 3000; b says ETH/USD is 6000.',
      ),
    );
    reports.length = 0;
    b.price = '3000';
    await pass(60_000);
    assert.deepEqual(reports.slice(-2), ['ETH/USD well', 'ETH/USD well']);
    reports.length = 0;
    a.price = undefined;
    await pass(120_000);
    assert.match(reports.at(-1) ?? '', /: a answered 503; b says/);
  });

  it('treats an invalid price as a fault of the source', async (t) => {
    const [a, b] = [scripted('a', '3000'), scripted('b', '3e3')];
    const { reports, pass } = follow(t, a, b);
    await pass(16_000);
    assert.match(reports[0] ?? '', /b sent something that is not a price/);
  });

  it('goes on after a report that failed', async (t) => {
    const { reports, state, pass } = follow(t, scripted('a', '3000'), scripted('b', '3000'));
    state.isReportable = false;
    await pass(16_000);
    state.isReportable = true;
    await pass(16_000);
    assert.deepEqual(reports, ['ETH/USD well']);
  });

  it('takes the prices of an answer for many pairs, and reports those that it lacks', async (t) => {
    const pairs = [ETH, { base: 'SOL', quote: 'USD' }];
    const asked = { wide: 0 };
    const read = async () => {
      asked.wide += 1;
      return [
        { ...ETH, price: '3000' },
        { base: 'SOL', quote: 'USD', fault: 'states no time' },
      ];
    };
    const wide: RateSource = { ...LIVE, name: 'wide', requests: [{ pairs, read }] };
    const { rate, reports, pass } = follow(t, { port: wide }, scripted('b', '3000'));
    await pass(46_000);
    assert.deepEqual(rate(), ratio(3_000n, 1n));
    assert.ok(asked.wide >= 3, 'one missing pair is no reason to ask less');
    assert.ok(reports.includes('ETH/USD well'));
    assert.match(reports.find((one) => one.startsWith('SOL/USD')) ?? '', /: wide states no time\.$/);
  });

  it('asks a source as often as its terms say', async (t) => {
    let asked = 0;
    const read = async () => {
      asked += 1;
      return [{ ...ETH, price: '3000' }];
    };
    const slow: RateSource = {
      kind: 'reference',
      everyMs: 900_000,
      validMs: 3_600_000,
      name: 'slow',
      requests: [{ pairs: [ETH], read }],
    };
    const { rate, pass } = follow(t, { port: slow }, scripted('b', '3000'));
    await pass(3_590_000);
    assert.ok(asked >= 3 && asked <= 4, `asked ${asked} times in an hour`);
    assert.deepEqual(rate(), ratio(3_000n, 1n));
  });

  it('stops asking when it is stopped', async (t) => {
    const [a, b] = [scripted('a', '3000'), scripted('b', '3000')];
    const { rates, time, pass } = follow(t, a, b);
    await pass(1_000);
    const stopped = rates.stop();
    await time.advance(100_000);
    await stopped;
    assert.deepEqual([a.asked, b.asked], [1, 1]);
  });
});
