import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { backoffMs, pause } from '../shared/backoff.ts';
import { call, queryText } from './api.ts';
import { useMay } from './queries.ts';

interface Feed {
  readonly events: readonly { readonly data: unknown }[];
  readonly nextCursor: string;
}

const HOLD_MS = 25_000;

/** Follows the event feed, and reloads everything about payments when an event arrives. Returns true while the feed can be read. */
export function useLivePayments(): boolean {
  const client = useQueryClient();
  const isAllowed = useMay('events:read');
  const [isLive, setLive] = useState(false);
  useEffect(() => {
    if (!isAllowed) return;
    const stop = new AbortController();
    const { signal } = stop;
    const follow = async () => {
      let after = 'latest';
      for (let failures = 0; !signal.aborted; ) {
        try {
          const types = 'payment.*,refund.*';
          const maxPollMs = after === 'latest' ? 0 : HOLD_MS;
          const feed = await call<Feed>('GET', `/v1/events${queryText({ after, types, maxPollMs })}`, { signal });
          after = feed.nextCursor;
          failures = 0;
          setLive(true);
          if (feed.events.length > 0) await client.invalidateQueries({ queryKey: ['payments'] });
        } catch {
          if (signal.aborted) return;
          setLive(false);
          failures += 1;
          await pause(backoffMs(failures, Math.random), signal);
        }
      }
    };
    void follow();
    return () => stop.abort();
  }, [client, isAllowed]);
  return isLive;
}
