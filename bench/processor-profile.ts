import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
    readonly children?: readonly number[];
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

const SHOWN = 40;
const ROOT = new URL('..', import.meta.url).pathname;

/** Begins a processor profile of a process that was started with `--inspect`; the returned function ends it and prints where time went. */
export async function beginProfile(
  inspectPort: number,
  name: string,
): Promise<(payments: number) => Promise<string[]>> {
  const [target] = (await (await fetch(`http://127.0.0.1:${inspectPort}/json/list`)).json()) as {
    webSocketDebuggerUrl: string;
  }[];
  const socket = new WebSocket(target?.webSocketDebuggerUrl ?? '');
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = reject;
  });
  let last = 0;
  const waiting = new Map<number, (result: unknown) => void>();
  socket.onmessage = ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { id?: number; result: unknown };
    if (id !== undefined) waiting.get(id)?.(result);
  };
  const send = <T>(method: string, params = {}) =>
    new Promise<T>((resolve) => {
      last += 1;
      waiting.set(last, resolve as (result: unknown) => void);
      socket.send(JSON.stringify({ id: last, method, params }));
    });
  await send('Profiler.enable');
  await send('Profiler.setSamplingInterval', { interval: 500 });
  await send('Profiler.start');
  return async (payments) => {
    const { profile } = await send<{ profile: Profile }>('Profiler.stop');
    socket.close();
    const file = new URL(`./profiles/${name}.cpuprofile`, import.meta.url);
    await mkdir(new URL('.', file), { recursive: true });
    await writeFile(file, JSON.stringify(profile));
    return [`profile: ${fileURLToPath(file).replace(ROOT, '')}`, ...describe(profile, payments)];
  };
}

/** Functions by their own time, and files by the time of all that they call. */
function describe(profile: Profile, payments: number): string[] {
  const own = new Map<number, number>();
  for (const [index, id] of profile.samples.entries()) {
    own.set(id, (own.get(id) ?? 0) + (profile.timeDeltas[index] ?? 0));
  }
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const selfs = new Map<string, number>();
  const totals = new Map<string, number>();
  const visit = (id: number, above: ReadonlySet<string>): number => {
    const node = nodes.get(id);
    if (node === undefined) return 0;
    const { functionName, url, lineNumber } = node.callFrame;
    const label = `${functionName || '(anonymous)'} ${url.split(ROOT).at(-1)}:${lineNumber + 1}`;
    const within = above.has(label) ? above : new Set([...above, label]);
    const time = own.get(id) ?? 0;
    selfs.set(label, (selfs.get(label) ?? 0) + time);
    const total = time + (node.children ?? []).reduce((sum, child) => sum + visit(child, within), 0);
    if (within !== above) totals.set(label, (totals.get(label) ?? 0) + total);
    return total;
  };
  const [root] = profile.nodes;
  if (root !== undefined) visit(root.id, new Set());
  const top = (times: ReadonlyMap<string, number>) =>
    [...times]
      .toSorted(([, a], [, b]) => b - a)
      .slice(0, SHOWN)
      .map(([label, us]) => `  ${(us / payments).toFixed(1)}  ${label}`);
  return ['µs of a payment, own time:', ...top(selfs), 'µs of a payment, with what it calls:', ...top(totals)];
}
