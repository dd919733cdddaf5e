import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { pause } from '../shared/backoff.ts';
import { call, queryText } from './api.ts';
import { type Feed, followFeed } from './follow-feed.ts';
import { useMay } from './queries.ts';

/** Follows the event feed, and reloads everything about payments when an event arrives. Returns true while the feed can be read. */
export function useLivePayments(): boolean {
  const client = useQueryClient();
  const isAllowed = useMay('events:read');
  const [isLive, setLive] = useState(false);
  useEffect(() => {
    if (!isAllowed) return;
    const stop = new AbortController();
    const { signal } = stop;
    const types = 'payment.*,refund.*';
    void followFeed({
      ask: (after, maxPollMs) => call<Feed>('GET', `/v1/events${queryText({ after, types, maxPollMs })}`, { signal }),
      onEvents: () => client.invalidateQueries({ queryKey: ['payments'] }),
      onLive: setLive,
      pause,
      random: Math.random,
      signal,
    });
    return () => stop.abort();
  }, [client, isAllowed]);
  return isLive;
}
