import type { PaperSize } from '../../web/src/receipts/page-state.ts';

const POINTS_PER_MM = 72 / 25.4;

/** A format of paper. All lengths are in points. */
export interface Paper {
  readonly width: number;
  /** Undefined for a roll: the page is as long as its content. */
  readonly height?: number;
  readonly margin: number;
  readonly textSize: number;
}

export const PAPERS: Readonly<Record<PaperSize, Paper>> = {
  a4: { width: 210 * POINTS_PER_MM, height: 297 * POINTS_PER_MM, margin: 52, textSize: 10 },
  letter: { width: 612, height: 792, margin: 52, textSize: 10 },
  // Printers reach 72 mm of an 80 mm roll.
  roll: { width: 80 * POINTS_PER_MM, margin: 4 * POINTS_PER_MM, textSize: 8 },
};

/** The greatest height of a page, in points: PDF viewers refuse longer pages. */
export const MAX_HEIGHT = 14_400;

export function isPaperSize(text: unknown): text is PaperSize {
  return typeof text === 'string' && Object.hasOwn(PAPERS, text);
}
