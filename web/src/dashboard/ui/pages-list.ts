import { type QueryKey, useInfiniteQuery } from '@tanstack/react-query';
import { call } from '../api.ts';

interface Options {
  /** How often the list is loaded again, if its changes cause no events. */
  readonly refreshMs?: number;
  /** True for the last page. Given for a list whose pages always have a cursor, such as the event feed. */
  readonly isLast?: (page: unknown) => boolean;
  /** The merchant of the list. Undefined if the list is not of one merchant. The list is not loaded before the id is known. */
  readonly merchant?: { readonly id: string | undefined };
}

export function usePages<Page extends { readonly nextCursor: string | null }>(
  queryKey: QueryKey,
  pathOf: (cursor: string | undefined) => string,
  { refreshMs, isLast = () => false, merchant }: Options = {},
) {
  return useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => call<Page>('GET', pathOf(pageParam), { signal, merchantId: merchant?.id }),
    enabled: merchant === undefined || merchant.id !== undefined,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => (isLast(page) ? undefined : (page.nextCursor ?? undefined)),
    ...(refreshMs !== undefined && { refetchInterval: refreshMs }),
  });
}
