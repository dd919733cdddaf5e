import { readdir, readFile } from 'node:fs/promises';

/** Processor time in milliseconds, since the start of each process. */
export interface CpuUse {
  /** The time of the process itself. */
  readonly ownMs: number;
  /** The time of its child processes: for the gateway, PostgreSQL. */
  readonly belowMs: number;
}

/** Linux counts in hundredths of a second (USER_HZ). */
const TICK_MS = 10;

/**
 * Processor time explains the ratios: it hardly changes when the machine is busy with other programs. Zero where the
 * system has no /proc.
 */
export async function readCpuUse(pid: number): Promise<CpuUse> {
  const processes = await readProcesses();
  return { ownMs: processes.find((one) => one.pid === pid)?.usedMs ?? 0, belowMs: belowOf(processes, pid) };
}

/** The processor time of the whole machine, and the part that other programs used. */
export async function readMachineUse(): Promise<{ readonly offeredMs: number; readonly othersMs: number }> {
  const [line = ''] = (await readFile('/proc/stat', 'utf8').catch(() => '')).split('\n', 1);
  const [user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, softirq = 0, steal = 0] = numbersAfter(line, 5);
  const busyMs = (user + nice + system + irq + softirq + steal) * TICK_MS;
  const processes = await readProcesses();
  const self = processes.find((one) => one.pid === process.pid);
  const oursMs = (self?.usedMs ?? 0) + (self?.endedMs ?? 0) + belowOf(processes, process.pid);
  return { offeredMs: busyMs + (idle + wait) * TICK_MS, othersMs: busyMs - oursMs };
}

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly usedMs: number;
  /** The time of children that have ended. */
  readonly endedMs: number;
}

async function readProcesses(): Promise<Process[]> {
  const names = await readdir('/proc').catch(() => []);
  return Promise.all(names.filter((name) => /^\d+$/.test(name)).map((name) => readProcess(Number(name))));
}

async function readProcess(pid: number): Promise<Process> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The program name is in brackets and may hold any character; the numbers follow the name and the state.
  const fields = numbersAfter(text, text.lastIndexOf(')') + 4);
  const ticks = (first: number) => ((fields[first] ?? 0) + (fields[first + 1] ?? 0)) * TICK_MS;
  return { pid, parent: fields[0] ?? 0, usedMs: ticks(10), endedMs: ticks(12) };
}

function belowOf(processes: readonly Process[], pid: number): number {
  const childrenOf = Map.groupBy(processes, ({ parent }) => parent);
  const below = (id: number): number =>
    (childrenOf.get(id) ?? []).reduce((sum, child) => sum + child.usedMs + child.endedMs + below(child.pid), 0);
  return below(pid);
}

function numbersAfter(text: string, start: number): number[] {
  return text.slice(start).trim().split(/\s+/).map(Number);
}
