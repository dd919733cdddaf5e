import { readdir, readFile } from 'node:fs/promises';

/** Signals a process and its children, such as a PostgreSQL server with the processes of its connections. */
export async function signalTree(pid: number, name: NodeJS.Signals): Promise<void> {
  for (const each of [pid, ...(await childrenOf(pid))]) {
    try {
      process.kill(each, name);
    } catch (error) {
      // It has ended meanwhile.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

async function childrenOf(pid: number): Promise<number[]> {
  const all = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const parents = await Promise.all(all.map(parentOf));
  return all.map(Number).filter((_, index) => parents[index] === pid);
}

async function parentOf(pid: string): Promise<number | undefined> {
  // The name of the program is in parentheses, and may hold any character.
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return Number(/^.*\) \S (\d+)/s.exec(stat)?.[1]);
}
