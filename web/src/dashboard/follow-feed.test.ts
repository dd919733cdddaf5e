import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Feed, followFeed } from './follow-feed.ts';

const EVENT = { data: {} };

/** Follows a feed that gives these answers at once. Returns the requests, the pauses and the reloads, in their order. */
async function followed(answers: readonly (Feed['events'] | 'failure')[]): Promise<readonly string[]> {
  const log: string[] = [];
  const stop = new AbortController();
  let asked = 0;
  await followFeed({
    ask: async (after, maxPollMs) => {
      log.push(`ask ${after} ${maxPollMs}`);
      const answer = answers[asked];
      asked += 1;
      if (answer === undefined) stop.abort();
      if (answer === undefined || answer === 'failure') throw new Error('No answer.');
      return { events: answer, nextCursor: String(asked) };
    },
    onEvents: async () => void log.push('reload'),
    onLive: (isLive) => void log.push(isLive ? 'live' : 'away'),
    pause: async (ms) => void log.push(`pause ${ms}`),
    random: () => 0.5,
    signal: stop.signal,
  });
  return log;
}

describe('the event feed of the dashboard', () => {
  it('is asked once a second at most while a gateway that is stopping answers at once, without events', async () => {
    const expected = ['ask latest 0', 'live'];
    for (const cursor of [1, 2]) expected.push(`ask ${cursor} 25000`, 'live', 'pause 1000');
    assert.deepEqual(await followed([[], [], []]), [...expected, 'ask 3 25000']);
  });

  it('is asked again at once after an event, because the next one may be there already', async () => {
    assert.deepEqual(await followed([[], [EVENT, EVENT]]), [
      ...['ask latest 0', 'live'],
      ...['ask 1 25000', 'live', 'reload'],
      'ask 2 25000',
    ]);
  });

  it('is asked for the same events after a failure, with a growing pause', async () => {
    assert.deepEqual(await followed([[], 'failure', 'failure']), [
      ...['ask latest 0', 'live'],
      ...['ask 1 25000', 'away', 'pause 2000'],
      ...['ask 1 25000', 'away', 'pause 4000'],
      'ask 1 25000',
    ]);
  });
});
