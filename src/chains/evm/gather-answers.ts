import type { Timers } from '../../runtime/world.ts';

/** The wait for further answers after the first one. It is far below a timeout, because a broadcast or a payer waits for it. */
const OTHERS_MS = 1_250;

/**
 * The answers of several endpoints to one question, in the order in which they arrive. Undefined stands for no answer. A sufficient
 * answer ends the wait. After the first answer the others have a moment: an endpoint that is silent to this question alone, so that
 * its breaker stays closed, must not cost its timeout each time. The requests to it go on.
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
