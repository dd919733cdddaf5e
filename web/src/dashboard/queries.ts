import { queryOptions, useQuery } from '@tanstack/react-query';
import { call } from './api.ts';
import type { CurrentSession, Merchant, PayableAsset } from './shapes.ts';

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) => call<CurrentSession>('GET', '/v1/sessions/current', { signal }),
  staleTime: 60_000,
});

/** The session of a page that is shown to somebody who is signed in. */
export function useSession(): CurrentSession {
  const { data } = useQuery(sessionQuery);
  if (data === undefined) throw new Error('Nobody is signed in.');
  return data;
}

export function useMay(right: string): boolean {
  return useSession().rights.includes(right);
}

/** The merchants that the person sees, for names and choices. */
export function useMerchants(): readonly Merchant[] {
  const isAllowed = useMay('merchants:read');
  const { data } = useQuery({
    queryKey: ['merchants'],
    enabled: isAllowed,
    staleTime: 60_000,
    queryFn: ({ signal }) => call<{ merchants: Merchant[] }>('GET', '/v1/merchants?limit=100', { signal }),
  });
  return data?.merchants ?? [];
}

/** The assets that payers can pay with now. */
export function useAssets(): readonly PayableAsset[] {
  const { data } = useQuery({
    queryKey: ['assets'],
    staleTime: 60_000,
    queryFn: ({ signal }) => call<{ assets: PayableAsset[] }>('GET', '/v1/assets', { signal }),
  });
  return data?.assets ?? [];
}
