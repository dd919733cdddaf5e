import { hash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createBatcher } from '../src/runtime/batcher.ts';
import { systemWorld } from '../src/runtime/system-world.ts';
import { openTelemetry } from '../src/runtime/telemetry.ts';
import { type Tracing, traced } from '../src/runtime/tracing.ts';
import { type Figure, type Measurement, median, round } from './figures.ts';

const WORKS = 40_000;
const ROUNDS = 9;
/** The statements of a request, and the action around them. */
const STATEMENTS = 3;
const SHARES = { off: undefined, 'at 1 %': 0.01, 'at 100 %': 1 } as const;
type Way = keyof typeof SHARES;

/**
 * The processor time that spans add to one request with one action and three statements, without the gateway around it. The work of
 * a statement is one hash. `traces_off` compares the composed code without a receiver with the bare code: they are the same functions.
 */
export const tracingMeasurement: Measurement = {
  names: ['traces_off', 'traces_us'],
  async measure(wanted) {
    const receiver = createServer((request, response) => {
      request.resume().on('end', () => response.end('{}'));
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    const { port } = receiver.address() as AddressInfo;
    const times = new Map<Way | 'bare', number[]>();
    const note = (way: Way | 'bare', us: number) => times.set(way, [...(times.get(way) ?? []), us]);
    try {
      for (const way of Object.keys(SHARES) as Way[]) {
        const share = SHARES[way];
        const telemetry =
          share === undefined
            ? undefined
            : await openTelemetry({
                endpoint: `http://127.0.0.1:${port}`,
                headers: {},
                share,
                service: 'bench',
                node: 'bench',
                log: { debug() {}, info() {}, warn() {}, error() {}, fatal() {} },
                clock: systemWorld.clock,
              });
        for (let done = 0; done < ROUNDS; done += 1) {
          if (way === 'off') note('bare', await timed(bareRequest));
          note(way, await timed(requestOf(telemetry?.tracing)));
        }
        await telemetry?.stop();
      }
    } finally {
      receiver.closeAllConnections();
      receiver.close();
    }
    const of = (way: Way | 'bare') => median(times.get(way) ?? []);
    const detail = Object.fromEntries(
      [...times].map(([way, all]) => [`${way}, processor time of a request in µs`, all.map((us) => round(us, 2))]),
    );
    const figures: Figure[] = [
      { name: 'traces_off', value: round(of('off') / of('bare'), 3), target: { atMost: 1.1 }, unit: 'x', detail },
      {
        name: 'traces_us',
        value: round(of('at 1 %') - of('off'), 2),
        target: { atMost: 5 },
        unit: 'us',
        detail: { 'at 100 %, more than off, in µs': round(of('at 100 %') - of('off'), 2) },
      },
    ];
    return figures.filter(({ name }) => wanted.has(name));
  },
};

type Request = () => Promise<unknown>;
const statement = async () => hash('sha256', 'a statement', 'hex');

async function action(run: typeof statement): Promise<void> {
  for (let count = 0; count < STATEMENTS; count += 1) await run();
}

const bareBatch = createBatcher<undefined, undefined>(
  { timers: systemWorld.timers },
  {
    run: async (items) => {
      await action(statement);
      return items.map(() => undefined);
    },
    maxItems: 100,
    maxConcurrent: 2,
    isItemsFault: () => false,
  },
);
const bareRequest: Request = () => bareBatch(undefined);

/** Composed as the gateway composes its requests, actions, batches and statements. */
function requestOf(tracing: Tracing | undefined): Request {
  const run = traced(tracing, statement, () => ({ name: 'statement', about: { kind: 'client', place: 'child' } }));
  const batch = createBatcher<undefined, undefined>(
    { timers: systemWorld.timers, tracing },
    {
      run: async (items) => {
        await action(run);
        return items.map(() => undefined);
      },
      maxItems: 100,
      maxConcurrent: 2,
      isItemsFault: () => false,
    },
  );
  const act = traced(
    tracing,
    () => batch(undefined),
    () => ({ name: 'create-payment', about: { kind: 'internal', place: 'child' } }),
  );
  return traced(tracing, act, () => ({ name: 'POST /v1/payments', about: { kind: 'server', place: 'root' } }));
}

/** Microseconds of processor time of one request, with as many at once as a batch holds. */
async function timed(request: Request): Promise<number> {
  const before = process.cpuUsage();
  for (let done = 0; done < WORKS; done += 100) await Promise.all(Array.from({ length: 100 }, request));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / WORKS;
}
