/**
 * A histogram of how long requests took, by method, route and status, in the text format of Prometheus. It is kept here
 * and not by the metrics library because it is written on every request: this way that costs a few additions.
 */
export interface RequestTimes {
  /** The counters of one kind of request; ask once and keep them. */
  of(labels: { readonly method: string; readonly route: string; readonly status: number }): RequestTimer;
  text(): string;
}

export interface RequestTimer {
  record(ms: number): void;
}

const NAME = 'till_http_request_seconds';
const BOUNDS_MS = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 10_000, 30_000];

export function createRequestTimes(): RequestTimes {
  const counters = new Map<string, { counts: number[]; sumMs: number }>();
  return {
    of({ method, route, status }) {
      const labels = `method="${method}",route="${route}",status="${status}"`;
      const counter = counters.get(labels) ?? { counts: Array<number>(BOUNDS_MS.length + 1).fill(0), sumMs: 0 };
      counters.set(labels, counter);
      return {
        record(ms) {
          let bucket = 0;
          while (bucket < BOUNDS_MS.length && ms > (BOUNDS_MS[bucket] ?? 0)) bucket += 1;
          counter.counts[bucket] = (counter.counts[bucket] ?? 0) + 1;
          counter.sumMs += ms;
        },
      };
    },
    text() {
      const lines = [
        `# HELP ${NAME} How long requests took until their answer was sent, by route.`,
        `# TYPE ${NAME} histogram`,
      ];
      for (const [labels, { counts, sumMs }] of counters) {
        let total = 0;
        for (const [index, count] of counts.entries()) {
          total += count;
          const bound = BOUNDS_MS[index];
          lines.push(`${NAME}_bucket{${labels},le="${bound === undefined ? '+Inf' : bound / 1000}"} ${total}`);
        }
        lines.push(`${NAME}_sum{${labels}} ${sumMs / 1000}`, `${NAME}_count{${labels}} ${total}`);
      }
      return `${lines.join('\n')}\n`;
    },
  };
}
