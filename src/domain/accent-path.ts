export const ACCENT_SHEETS = '/brand/';

/** The path of the stylesheet that sets an accent colour. It has its own file, because the point of sale needs nothing else of accents. */
export function accentSheetPath(accent: string): string {
  return `${ACCENT_SHEETS}${accent.slice(1)}.css`;
}
