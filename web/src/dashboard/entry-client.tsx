import './styles/dashboard.css';
import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { ApiProblem } from './api.ts';
import type { DashboardState } from './page-state.ts';
import { sessionQuery } from './queries.ts';
import { makeRouter } from './router.tsx';
import { StateContext } from './words.ts';

/** A request is repeated only if its `Retry-After` is at most this long. During a longer wait the page would seem to hang. */
const LONGEST_RETRY_AFTER_MS = 10_000;

const root = document.getElementById('root');
const text = document.getElementById('state')?.textContent;
if (root !== null && text != null) {
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({
      // After a 401 the session has ended. Its query is reset, so the frame shows the sign-in page.
      onError: (error, query) => {
        const isSession = query.queryKey[0] === sessionQuery.queryKey[0];
        if (error instanceof ApiProblem && error.status === 401 && !isSession) {
          void client.resetQueries({ queryKey: sessionQuery.queryKey });
        }
      },
    }),
    defaultOptions: {
      queries: {
        retry: (count, error) => count < 3 && mayRetry(error),
        retryDelay: (count, error) =>
          (error instanceof ApiProblem ? error.retryAfterMs : undefined) ?? 1_000 * 2 ** count,
        // Requests are sent even if the browser believes that it is offline, because the gateway may be on this machine or network.
        networkMode: 'always',
      },
      mutations: { networkMode: 'always' },
    },
  });
  const state = JSON.parse(text) as DashboardState;
  createRoot(root).render(
    <StateContext value={state}>
      <QueryClientProvider client={client}>
        <RouterProvider router={makeRouter({ client, nowMs: state.nowMs })} />
      </QueryClientProvider>
    </StateContext>,
  );
}

/** True if repeating the request may help: the gateway failed, or a rate limit ends soon. Every other refusal would be the same again. */
function mayRetry(error: Error): boolean {
  if (!(error instanceof ApiProblem) || error.status >= 500) return true;
  return error.status === 429 && (error.retryAfterMs ?? Number.POSITIVE_INFINITY) <= LONGEST_RETRY_AFTER_MS;
}
