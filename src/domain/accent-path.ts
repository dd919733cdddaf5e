export const ACCENT_SHEETS = '/brand/';

/** In a file of its own, because the point of sale needs nothing else of accents. */
export function accentSheetPath(accent: string): string {
  return `${ACCENT_SHEETS}${accent.slice(1)}.css`;
}
