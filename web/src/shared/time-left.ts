import { numberFormat } from './money.ts';

/**
 * The remaining time at which the ring of the countdown begins to empty: five minutes for every payment. A fixed time makes all tabs
 * and devices show the same ring.
 */
const RING_MS = 300_000;

export interface TimeLeft {
  readonly text: string;
  /** The filled part of the ring, 0 to 100. */
  readonly percent: number;
  readonly isShort: boolean;
}

export function timeLeft(expiresAtS: number, nowMs: number, locale: string): TimeLeft {
  const leftMs = Math.max(0, expiresAtS * 1000 - nowMs);
  return {
    text: durationText(Math.ceil(leftMs / 1000), locale),
    percent: Math.round((Math.min(leftMs, RING_MS) / RING_MS) * 100),
    isShort: leftMs <= 60_000,
  };
}

/** The remaining time, such as `4:07`, `1:02:00` or `3 days`. */
function durationText(seconds: number, locale: string): string {
  if (seconds >= 172_800) return unitText(Math.floor(seconds / 86_400), 'day', locale);
  const two = (value: number) => String(value).padStart(2, '0');
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

/** A number with its unit, such as `10 seconds`, in the words and plural forms of the language. */
export function unitText(value: number, unit: 'second' | 'minute' | 'day', locale: string): string {
  return numberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).format(value);
}
