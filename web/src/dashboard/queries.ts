import { infiniteQueryOptions, keepPreviousData, queryOptions, useQueries, useQuery } from '@tanstack/react-query';
import { call, queryText, readPartner } from './api.ts';
import type {
  Asset,
  AttentionCounts,
  CurrentSession,
  Merchant,
  MerchantCurrencies,
  MerchantPage,
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

/** The size of the first page of merchants. A partner with more of them finds the others by a search. */
const LISTED_MERCHANTS = 100;
/** The most merchants that a search shows. The person types more to find others. */
const FOUND_MERCHANTS = 20;

function merchantPageQuery(search: string, limit: number) {
  return {
    queryKey: ['merchants', 'page', search, limit],
    staleTime: 60_000,
    queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
      call<MerchantPage>('GET', `/v1/merchants${queryText({ search, limit })}`, { signal }),
  };
}

/**
 * The newest merchants, and the error if they cannot be loaded. The list is undefined until it is loaded. `isAll` is true if the
 * partner has no other merchants.
 */
export function useMerchantList() {
  const enabled = useMay('merchants:read');
  const { data, error } = useQuery({ ...merchantPageQuery('', LISTED_MERCHANTS), enabled });
  return { merchants: data?.merchants, isAll: data?.nextCursor === null, error };
}

/** The merchants whose name or id contains the text. The previous ones stay until these have arrived. */
export function merchantSearchQuery(search: string) {
  return queryOptions({ ...merchantPageQuery(search, FOUND_MERCHANTS), placeholderData: keepPreviousData });
}

/** The names of merchants by id. A merchant that is not in the list of the newest ones is read alone. */
export function useMerchantNames(merchantIds: readonly string[]): ReadonlyMap<string, string> {
  const { merchants, isAll } = useMerchantList();
  const listed = new Map(merchants?.map(({ id, name }) => [id, name]));
  // A missing id is that of a deleted merchant if the list has all merchants.
  const isListPartial = merchants !== undefined && !isAll;
  const missing = isListPartial ? [...new Set(merchantIds)].filter((id) => !listed.has(id)) : [];
  const read = useQueries({ queries: missing.map((id) => ({ ...merchantQuery(id), staleTime: 60_000 })) });
  return new Map([
    ...listed,
    ...read.flatMap(({ data }) => (data === undefined ? [] : [[data.merchant.id, data.merchant.name] as const])),
  ]);
}

/** The name of a merchant. Undefined until it is known, and for a deleted merchant. */
export function useMerchantName(merchantId: string): string | undefined {
  return useMerchantNames([merchantId]).get(merchantId);
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
