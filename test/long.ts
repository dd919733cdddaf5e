/** True in `npm run test:long`, which has time for everything. */
export const IS_LONG = process.env.TILL_TEST_LONG !== undefined;

/**
 * The options of a test that only the long run has time for: one that starts several processes or pages for a rare case, or
 * that repeats what another test proves with other parts.
 */
export const ONLY_LONG = onlyLongIf(true);

export function onlyLongIf(isRare: boolean): { readonly skip: string | false } {
  return { skip: isRare && !IS_LONG && 'part of npm run test:long' };
}
