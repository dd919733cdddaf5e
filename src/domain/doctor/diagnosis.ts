import type { CheckName } from './facts.ts';

/**
 * The levels of a finding, from the best to the worst. `remark`: worth knowing, no action is needed. `unknown`: the check could
 * not be made. `warning`: the operator has to act. `fault`: a function has failed, or is about to fail.
 */
export const LEVELS = ['well', 'remark', 'unknown', 'warning', 'fault'] as const;
export type Level = (typeof LEVELS)[number];

export interface Finding {
  readonly level: Exclude<Level, 'well'>;
  /** The finding in a sentence. */
  readonly message: string;
  /** The remedy, in a sentence. */
  readonly remedy: string;
}

/** A fact of the report, in words. */
export interface Fact {
  readonly name: string;
  readonly value: string;
}

export interface Judged {
  readonly facts: readonly Fact[];
  readonly findings: readonly Finding[];
}

export interface Section extends Judged {
  readonly check: CheckName;
  readonly title: string;
  readonly level: Level;
}

export interface Diagnosis {
  readonly level: Level;
  readonly sections: readonly Section[];
}

export function worstOf(levels: readonly Level[]): Level {
  return LEVELS.findLast((level) => levels.includes(level)) ?? 'well';
}

const of = (level: Finding['level']) => (message: string, remedy: string) => ({ level, message, remedy });
export const remark = of('remark');
export const unknown = of('unknown');
export const warning = of('warning');
export const fault = of('fault');

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** A number of bytes as text: `812 bytes`, `4.2 GiB`. */
export function bytesText(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const size = bytes / 1024 ** power;
  return `${power === 0 || size >= 100 ? Math.round(size) : Math.round(size * 10) / 10} ${UNITS[power]}`;
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** A duration as text: `850 ms`, `45 s`, `3 min`, `5 h`, `12 days`. */
export function spanText(ms: number): string {
  if (ms < SECOND_MS) return `${Math.round(ms)} ms`;
  if (ms < 2 * MINUTE_MS) return `${Math.round(ms / SECOND_MS)} s`;
  if (ms < 2 * HOUR_MS) return `${Math.round(ms / MINUTE_MS)} min`;
  return ms < 2 * DAY_MS ? `${Math.round(ms / HOUR_MS)} h` : `${Math.floor(ms / DAY_MS)} days`;
}

/** A number with its noun: `1 node`, `3 nodes`. */
export function countText(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}
