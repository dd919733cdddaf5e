import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { manualTime } from '../../test/manual-time.ts';
import { until } from '../../test/until.ts';
import { systemWorld } from '../runtime/system-world.ts';
import type { Chain } from './chain.ts';
import type { ChainCheck } from './chain-check.ts';
import { ChainUnavailableError } from './chain-errors.ts';
import { type ChainTerms, connectChains } from './connect.ts';

const GOOD: ChainCheck = { payable: ['asset'], unchecked: [], problems: [], disputes: [] };
const ACCOUNTS = { relayers: [], feeAccount: 'fee', intermediateAccount: 'keeper' };

/** A network whose check does, time after time, what the test says; the last answer stays. */
function scripted(chainId: string, answers: (ChainCheck | Error)[]) {
  let checks = 0;
  let isClosed = false;
  const chain = {
    network: { chainId, name: chainId, mode: 'test' },
    async check() {
      const answer = answers[Math.min(checks, answers.length - 1)];
      checks += 1;
      if (answer instanceof Error || answer === undefined) throw answer;
      return answer;
    },
    close() {
      isClosed = true;
    },
  } as Partial<Chain> as Chain;
  return { terms: { chain, ...ACCOUNTS } satisfies ChainTerms, checks: () => checks, isClosed: () => isClosed };
}

function connect(terms: readonly ChainTerms[]) {
  const time = manualTime();
  const lines: string[] = [];
  const note = (_fields: unknown, text?: string) => void lines.push(text ?? '');
  const log = { debug: note, info: note, warn: note, error: note, fatal: note };
  const sleep = (ms: number, signal?: AbortSignal) =>
    new Promise<void>((resolve) => {
      time.timers.after(ms, resolve);
      signal?.addEventListener('abort', () => resolve(), { once: true });
    });
  const world = { ...systemWorld, clock: time.clock, timers: { ...time.timers, sleep } };
  const reports: ChainCheck[] = [];
  const onChecked = async (_network: string, check: ChainCheck) => void reports.push(check);
  return { chains: connectChains({ world, log, onChecked }, terms), time, lines, reports };
}

const away = (network: string) => new ChainUnavailableError(network, 'down');

describe('connected chains', () => {
  it('offer no asset of a network before its check, and the assets that the check found afterwards', async () => {
    const base = scripted('a:1', [{ ...GOOD, payable: ['x', 'y'] }]);
    const { chains } = connect([base.terms]);
    assert.deepEqual(chains.find('a:1')?.payable(), []);
    await chains.firstCheck;
    assert.deepEqual(chains.find('a:1')?.payable(), ['x', 'y']);
    assert.deepEqual([chains.find('a:2'), chains.list().length], [undefined, 1]);
    await chains.stop();
    assert.ok(base.isClosed());
  });

  it('leave out an asset that another node uses in another way, and say so', async () => {
    const problem = { subject: 'z', message: 'z is switched off.' };
    const base = scripted('a:1', [{ ...GOOD, payable: ['x', 'y'], problems: [problem] }]);
    const asked: (readonly string[])[] = [];
    const admit = async (assets: readonly string[]) => {
      asked.push(assets);
      return new Map([['y', 'y is another one.']]);
    };
    const { chains, reports } = connect([{ ...base.terms, admit }]);
    await chains.firstCheck;
    assert.deepEqual(asked, [['x', 'y']]);
    assert.deepEqual(chains.find('a:1')?.payable(), ['x']);
    assert.deepEqual(reports[0]?.problems, [{ subject: 'y', message: 'y is another one.' }, problem]);
    await chains.stop();
  });

  it('remember no asset of a network that there is an objection to', async () => {
    const base = scripted('a:1', [GOOD]);
    const objection = async () => 'It is another chain.';
    const admit = async () => assert.fail('nothing is remembered');
    const { chains, reports } = connect([{ ...base.terms, objection, admit }]);
    await chains.firstCheck;
    assert.deepEqual(chains.find('a:1')?.payable(), []);
    assert.deepEqual(reports[0]?.problems, [{ subject: 'a:1', message: 'It is another chain.' }]);
    await chains.stop();
  });

  it('wait for none that is down, and take it in when it answers', async () => {
    const up = scripted('a:1', [GOOD]);
    const down = scripted('a:2', [away('a:2'), away('a:2'), GOOD]);
    const { chains, time } = connect([up.terms, down.terms]);
    await chains.firstCheck;
    assert.deepEqual([chains.find('a:1')?.payable(), chains.find('a:2')?.payable()], [['asset'], []]);
    await until('it is taken in', async () => {
      await time.advance(1_000);
      return chains.find('a:2')?.payable().length === 1;
    });
    assert.equal(down.checks(), 3);
    await time.advance(300_000);
    assert.deepEqual([up.checks(), down.checks()], [1, 3], 'what is well is not asked again so soon');
    await chains.stop();
  });

  it('check problems again, and report them once', async () => {
    const problem = { subject: 'a:1', message: 'The Collector is missing.' };
    const wrong = { ...GOOD, payable: [], problems: [problem] };
    const { terms } = scripted('a:1', [wrong, wrong, GOOD]);
    const { chains, time, lines } = connect([terms]);
    await chains.firstCheck;
    assert.deepEqual(chains.find('a:1')?.problems(), ['The Collector is missing.']);
    await until('it is well', async () => {
      await time.advance(72_000);
      return chains.find('a:1')?.payable().length === 1;
    });
    assert.equal(lines.filter((line) => /switched off/.test(line)).length, 1);
    await chains.stop();
  });

  it('keep offering an asset that a later check could not ask about, and ask again soon', async () => {
    const problem = (subject: string) => ({ subject, message: `${subject} is switched off.` });
    const { terms, checks } = scripted('a:1', [
      { ...GOOD, payable: ['x', 'y'], problems: [problem('z')] },
      { ...GOOD, payable: ['x'], unchecked: ['y', 'z'], problems: [problem('y'), problem('z')] },
      { ...GOOD, payable: ['x', 'y'], problems: [problem('z')] },
    ]);
    const { chains, time, reports } = connect([terms]);
    await chains.firstCheck;
    const hasChecked = (count: number) => async () => {
      await time.advance(1_000);
      return checks() === count && reports.length === count;
    };
    await until('it is checked again', hasChecked(2), { withinMs: 60_000 });
    assert.deepEqual(chains.find('a:1')?.payable(), ['x', 'y']);
    const beforeMs = time.clock.nowMs();
    await until('it is checked a third time', hasChecked(3), { withinMs: 60_000 });
    assert.ok(time.clock.nowMs() - beforeMs < 10_000);
    assert.deepEqual(chains.find('a:1')?.payable(), ['x', 'y']);
    assert.deepEqual(
      reports.map(({ unchecked }) => unchecked),
      [[], ['y', 'z'], []],
    );
    await chains.stop();
  });

  it('notice an asset that is not right any more, and stop offering it', async () => {
    const problem = { subject: 'y', message: 'y is switched off.' };
    const { terms } = scripted('a:1', [
      { ...GOOD, payable: ['x', 'y'] },
      { ...GOOD, payable: ['x'], problems: [problem] },
    ]);
    const { chains, time, lines, reports } = connect([terms]);
    await chains.firstCheck;
    await until('it is checked again', async () => {
      await time.advance(60_000);
      return reports.length === 2;
    });
    assert.deepEqual(chains.find('a:1')?.payable(), ['x']);
    assert.equal(lines.filter((line) => /switched off/.test(line)).length, 1);
    await chains.stop();
  });

  it('leave out a network there is an objection to', async () => {
    const { terms } = scripted('a:1', [GOOD]);
    const { chains } = connect([{ ...terms, objection: async () => 'Not this one.' }]);
    await chains.firstCheck;
    assert.deepEqual([chains.find('a:1')?.payable(), chains.find('a:1')?.problems()], [[], ['Not this one.']]);
    await chains.stop();
  });

  it('survive a check with an unexpected failure', async () => {
    const { terms } = scripted('a:1', [new TypeError('odd'), GOOD]);
    const { chains, time } = connect([terms]);
    await chains.firstCheck;
    await until('it is well', async () => {
      await time.advance(2_000);
      return chains.find('a:1')?.payable().length === 1;
    });
    await chains.stop();
  });

  it('stop at once, in the middle of a check too', async () => {
    const { terms } = scripted('a:1', [GOOD]);
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const chain = { ...terms.chain, check: () => held.then(() => GOOD), close: () => release() } as Chain;
    const { chains } = connect([{ ...terms, chain }]);
    await chains.stop();
    await chains.firstCheck;
  });
});
