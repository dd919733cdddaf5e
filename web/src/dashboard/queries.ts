import { infiniteQueryOptions, keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { call, queryText, readPartner } from './api.ts';
import type {
  Asset,
  AttentionCounts,
  CurrentSession,
  ListedMerchant,
  Merchant,
  MerchantCurrencies,
  PaymentPage,
  PaymentStatistics,
} from './api-types.ts';
import { countPath, type Filters, listPath } from './filters.ts';

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) => call<CurrentSession>('GET', '/v1/sessions/current', { signal }),
  staleTime: 60_000,
});

/** The session, for pages that are shown only to a signed-in person. */
export function useSession(): CurrentSession {
  const { data } = useQuery(sessionQuery);
  if (data === undefined) throw new Error('Nobody is signed in.');
  return data;
}

export function useMay(right: string): boolean {
  return useSession().rights.includes(right);
}

/** True if it is known whose objects to show. A person of the operator must select a partner; every other person belongs to one. */
export function hasPartner({ person }: Pick<CurrentSession, 'person'>): boolean {
  return person.belongsTo !== 'operator' || readPartner() !== undefined;
}

/** The rows of the payments' table. The previous rows stay until the new ones have arrived. */
export function paymentsQuery(filters: Filters) {
  return infiniteQueryOptions({
    queryKey: ['payments', 'list', filters],
    queryFn: ({ pageParam, signal }) => call<PaymentPage>('GET', listPath(filters, pageParam), { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    placeholderData: keepPreviousData,
  });
}

export function paymentTotalsQuery(filters: Filters) {
  return queryOptions({
    // The sort order does not change the totals.
    queryKey: ['payments', 'totals', { ...filters, sort: undefined }],
    queryFn: async ({ signal }) => {
      await nextPaint();
      return call<PaymentPage>('GET', countPath(filters), { signal });
    },
  });
}

const REFRESH_MS = 15_000;

export function statisticsQuery(from: string | undefined) {
  return queryOptions({
    queryKey: ['statistics', from],
    queryFn: ({ signal }) =>
      call<PaymentStatistics>('GET', `/v1/statistics/payments${queryText({ from })}`, { signal }),
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  });
}

export const attentionQuery = queryOptions({
  queryKey: ['attention'],
  queryFn: ({ signal }) => call<AttentionCounts>('GET', '/v1/statistics/attention', { signal }),
  refetchInterval: REFRESH_MS,
});

export function merchantQuery(merchantId: string) {
  return queryOptions({
    queryKey: ['merchants', 'one', merchantId],
    queryFn: ({ signal }) =>
      call<{ merchant: Merchant }>('GET', `/v1/merchants/${encodeURIComponent(merchantId)}`, { signal }),
  });
}

/**
 * The currencies that can be paid with the assets that the merchant accepts. The query key begins with that of the merchant, so the
 * currencies are loaded again after a change of the merchant.
 */
export function currenciesQuery(merchantId: string) {
  return queryOptions({
    queryKey: ['merchants', 'one', merchantId, 'currencies'],
    queryFn: ({ signal }) =>
      call<MerchantCurrencies>('GET', `/v1/merchants/${encodeURIComponent(merchantId)}/currencies`, { signal }),
  });
}

/** The empty list is a constant, because a new array in each render would cause another render. */
const NO_MERCHANTS: readonly ListedMerchant[] = [];

export function useMerchants(): readonly ListedMerchant[] {
  return useMerchantList().merchants ?? NO_MERCHANTS;
}

/**
 * The merchants, and the error if they cannot be loaded, for pages on which one merchant must be selected. The list is undefined
 * until it is loaded.
 */
export function useMerchantList(): { merchants: readonly ListedMerchant[] | undefined; error: Error | null } {
  const enabled = useMay('merchants:read');
  const { data, error } = useQuery({
    queryKey: ['merchants'],
    enabled,
    staleTime: 60_000,
    queryFn: ({ signal }) => call<{ merchants: ListedMerchant[] }>('GET', '/v1/merchants?limit=100', { signal }),
  });
  return { merchants: data?.merchants, error };
}

const NO_ASSETS: readonly Asset[] = [];

/** The assets that payers can pay with at present. */
export function useAssets(): readonly Asset[] {
  const { data } = useQuery({
    queryKey: ['assets'],
    staleTime: 60_000,
    queryFn: ({ signal }) => call<{ assets: Asset[] }>('GET', '/v1/assets', { signal }),
  });
  return data?.assets ?? NO_ASSETS;
}

/** Resolves after the present state has been painted. */
function nextPaint(): Promise<void> {
  return new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
}
