import './styles/dashboard.css';
import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { ApiProblem } from './api.ts';
import type { DashboardState } from './page-state.ts';
import { sessionQuery } from './queries.ts';
import { makeRouter } from './router.tsx';
import { StateContext } from './words.ts';

/** A person would take a longer wait for a page that hangs. */
const LONGEST_RETRY_AFTER_MS = 10_000;

const root = document.getElementById('root');
const text = document.getElementById('state')?.textContent;
if (root !== null && text != null) {
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({
      // The session has ended. Resetting it makes the frame show the sign-in page.
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
        // The gateway may be on this machine or network, so a browser that takes itself for offline asks it all the same.
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

/** A limit of requests may be over in a moment. Every other refusal would be the same again. */
function mayRetry(error: Error): boolean {
  if (!(error instanceof ApiProblem) || error.status >= 500) return true;
  return error.status === 429 && (error.retryAfterMs ?? Number.POSITIVE_INFINITY) <= LONGEST_RETRY_AFTER_MS;
}
