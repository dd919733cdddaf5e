import { readFileSync } from 'node:fs';

/** A limit of open files that is enough for ten thousand held requests (long polls) and everything else. */
const ENOUGH = 12_000;

/** A warning if too few files may be open. Undefined if the limit is high enough, or if the system does not show it. */
export function openFilesWarning(): string | undefined {
  const limit = openFilesLimit();
  if (limit === undefined || limit >= ENOUGH) return undefined;
  return `at most ${limit} files may be open, so about ${Math.max(0, limit - 200)} connections: raise it (ulimit -n ${ENOUGH} or more)`;
}

function openFilesLimit(): number | undefined {
  try {
    const soft = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return soft === undefined || soft === 'unlimited' ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}
