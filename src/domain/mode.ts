/** The modes. Test and live data are never mixed: every key, merchant, payment and network belongs to one mode. */
export const MODES = ['test', 'live'] as const;
export type Mode = (typeof MODES)[number];
