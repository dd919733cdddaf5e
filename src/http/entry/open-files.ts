import { readFileSync } from 'node:fs';

/** Enough for ten thousand held requests beside everything else. */
const ENOUGH = 12_000;

/** A warning when the limit on open files is low, where the system shows the limit. */
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
