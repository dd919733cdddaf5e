import { readFileSync } from 'node:fs';

/** Fields 16 and 17 of `/proc/self/stat`, counted from the field after the name of the program. */
const CHILDREN_USER_TICKS = 13;
const CHILDREN_SYSTEM_TICKS = 14;
/** Linux counts 100 ticks in a second on every architecture. */
const TICK_MS = 10;

let takenMs = 0;

/**
 * The processor time of the children that have ended since the last call, with all of their descendants. The kernel
 * adds it when a child is waited for, which is just before its `exit` event. It is 0 where there is no `/proc`.
 */
export function takeProcessorMs(): number {
  let stat: string;
  try {
    stat = readFileSync('/proc/self/stat', 'utf8');
  } catch {
    return 0;
  }
  // The name of the program is in parentheses, and may hold any character.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const allMs = (Number(fields[CHILDREN_USER_TICKS]) + Number(fields[CHILDREN_SYSTEM_TICKS])) * TICK_MS;
  const ms = allMs - takenMs;
  takenMs = allMs;
  return ms;
}
