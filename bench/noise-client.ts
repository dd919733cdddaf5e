import { Agent, request } from 'node:http';

/** One kind of request that a noisy partner sends, at a steady rate. */
export interface Noise {
  readonly perSecond: number;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}
export interface NoiseOrder {
  readonly port: number;
  readonly noises: readonly Noise[];
}
/** Answers by status; 0 for requests without one. */
export type NoiseReport = Readonly<Record<string, number>>;

const TICK_MS = 20;
const MAX_IN_FLIGHT = 40;
const agent = new Agent({ keepAlive: true, maxSockets: 200 });
const answers: Record<string, number> = {};

process.on('disconnect', () => process.exit());
process.on('message', (message: NoiseOrder | 'report') => {
  if (message === 'report') process.send?.(answers satisfies NoiseReport);
  else for (const noise of message.noises) make(message.port, noise);
});

/** Keeps the rate whatever the answers are, with a bound on the requests in flight. */
function make(port: number, { perSecond, ...noise }: Noise): void {
  let owed = 0;
  let inFlight = 0;
  const count = (status: number) => {
    inFlight -= 1;
    answers[status] = (answers[status] ?? 0) + 1;
  };
  setInterval(() => {
    owed = Math.min(owed + (perSecond * TICK_MS) / 1000, MAX_IN_FLIGHT);
    for (; owed >= 1 && inFlight < MAX_IN_FLIGHT; owed -= 1) {
      inFlight += 1;
      const sent = request({ agent, host: '127.0.0.1', port, ...noise }, (answer) => {
        answer.resume().on('close', () => count(answer.statusCode ?? 0));
      });
      sent.on('error', () => count(0));
      sent.end(noise.body);
    }
  }, TICK_MS);
}
