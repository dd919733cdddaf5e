import { readdir, readFile } from 'node:fs/promises';

/** Milliseconds of processor time a process has used, and what all processes below it have: for the gateway, PostgreSQL. */
export interface CpuUse {
  readonly ownMs: number;
  readonly belowMs: number;
}

/** Linux counts in hundredths of a second. */
const TICK_MS = 10;

/**
 * Ratios tell who is faster, this tells why: it hardly changes when the machine is busy with something else. Zero where
 * the system has no /proc.
 */
export async function readCpuUse(pid: number): Promise<CpuUse> {
  const names = await readdir('/proc').catch(() => []);
  const all = await Promise.all(names.filter((name) => /^\d+$/.test(name)).map((name) => readProcess(Number(name))));
  const childrenOf = Map.groupBy(all, ({ parent }) => parent);
  const below = (id: number): number =>
    (childrenOf.get(id) ?? []).reduce((sum, child) => sum + child.usedMs + below(child.pid), 0);
  return { ownMs: all.find((one) => one.pid === pid)?.usedMs ?? 0, belowMs: below(pid) };
}

async function readProcess(pid: number) {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name of the program stands in brackets and may hold anything; the numbers begin after it.
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [, parent = 0] = fields;
  return { pid, parent, usedMs: ((fields[11] ?? 0) + (fields[12] ?? 0)) * TICK_MS };
}
