import type { Timers } from '../../runtime/world.ts';

/**
 * The time that the other endpoints have after the first answer. It is far below a timeout, because a broadcast or a payer waits
 * for the result.
 */
const OTHERS_MS = 1_250;

/**
 * The answers of several endpoints to one question, in the order in which they arrive. A promise that resolves to undefined gives
 * no answer. A sufficient answer ends the wait. After the first answer, the other endpoints have only `OTHERS_MS` left. Otherwise
 * an endpoint that is silent to this question alone would cost its whole timeout each time, because its breaker stays closed. The
 * other requests are not aborted.
 */
export async function gatherAnswers<T>(
  timers: Timers,
  asked: readonly Promise<T | undefined>[],
  isSufficient: (answer: T) => boolean,
): Promise<readonly T[]> {
  const answers: T[] = [];
  const enough = Promise.withResolvers<void>();
  let cancelTimer = () => {};
  const all = asked.map(async (each) => {
    const answer = await each;
    if (answer === undefined) return;
    answers.push(answer);
    if (isSufficient(answer)) enough.resolve();
    else if (answers.length === 1) cancelTimer = timers.after(OTHERS_MS, enough.resolve);
  });
  try {
    await Promise.race([Promise.all(all), enough.promise]);
  } finally {
    cancelTimer();
  }
  return [...answers];
}
