import { type FetchDeps, type FetchInput, fetchActions } from './fetch-actions.ts';
import type { ListedOption } from './list-options.ts';

/**
 * The options for a client that never fetches, but carries out the first option of the list. If this option is in native coin, its action
 * is handed out with the list: it is stored, as `fetch` does, because the payer can send it from then on. The other options stay as they
 * are, so that a list stores at most one action.
 */
export async function handOutFirst(
  deps: FetchDeps,
  { options, ...input }: Omit<FetchInput, 'optionId' | 'data'> & { readonly options: readonly ListedOption[] },
): Promise<readonly ListedOption[]> {
  const [first, ...others] = options;
  if (first?.option.item.method !== 'native') return options;
  const requests = await fetchActions(deps, { ...input, optionId: first.id, data: '' });
  return [{ ...first, actions: requests.map((data) => ({ type: 'walletRpc', data })) }, ...others];
}
