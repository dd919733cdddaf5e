/** Test and live data never meet: every key, merchant, payment and network belongs to one mode. */
export const MODES = ['test', 'live'] as const;
export type Mode = (typeof MODES)[number];
