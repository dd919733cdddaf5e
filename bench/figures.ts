/** One line of the scoreboard. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly target: { readonly atLeast: number } | { readonly atMost: number };
  readonly unit: 'x' | 'us' | 'ms' | 'KB' | 'MB' | '/s' | 'score';
  /** The inputs of the value, each printed on a line of its own. */
  readonly detail: Readonly<Record<string, number | string | readonly number[]>>;
}

/** A measurement, with the figures that it yields. */
export interface Measurement {
  /** A common beginning, up to an underscore, chooses all of them. */
  readonly names: readonly string[];
  /** Takes much longer than the others, so it runs only on request. */
  readonly isLarge?: true;
  measure(wanted: ReadonlySet<string>, options: MeasureOptions): Promise<Figure[]>;
}

export interface MeasureOptions {
  /** The payments in the database, for figures that load them. Undefined: as many as the target is about. */
  readonly payments: number | undefined;
  /** Counts the statements, rows, WAL and processor time of one payment instead of comparing. */
  readonly isCounting: boolean;
}

export function isMet({ value, target }: Figure): boolean {
  return 'atLeast' in target ? value >= target.atLeast : value <= target.atMost;
}

/** The ratio of ours to theirs, from alternating rounds, so that a busy moment of the machine affects both. */
export function compare(ours: readonly number[], theirs: readonly number[]) {
  return {
    ratio: round(median(ours) / median(theirs), 3),
    byRound: ours.map((value, index) => round(value / (theirs[index] ?? Number.NaN), 3)),
  };
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The value that this share of the values does not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
  if (value === undefined) throw new Error('Nothing was measured.');
  return value;
}

export function round(value: number, digits = 0): number {
  return Number(value.toFixed(digits));
}

export function print(lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${line}\n`).join(''));
}
