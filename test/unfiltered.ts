/** The filters of a list of payments, none of them set. */
export const UNFILTERED = {
  merchantIds: null,
  fromMs: undefined,
  untilMs: undefined,
  assets: undefined,
  networks: undefined,
  statuses: undefined,
  referencePart: undefined,
} as const;
