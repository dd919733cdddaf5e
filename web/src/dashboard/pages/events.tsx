import { useState } from 'react';
import { queryText } from '../api.ts';
import type { Event, EventPage } from '../api-types.ts';
import { ListState, More } from '../ui/list-state.tsx';
import { usePages } from '../ui/pages-list.ts';
import { PageHead, Time, useTitle } from '../ui/parts.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { useWords } from '../words.ts';

const KINDS = [
  'payment.*',
  'refund.*',
  'payment_link.*',
  'merchant.*',
  'settlement_destination.*',
  'webhook_endpoint.*',
];
const REFRESH_MS = 10_000;

export function EventsPage() {
  const words = useWords();
  const [types, setTypes] = useState('');
  useTitle(words.events);
  const list = usePages<EventPage>(
    ['events', types],
    (cursor) => `/v1/events${queryText({ before: cursor ?? 'latest', types, limit: 50 })}`,
    { refreshMs: REFRESH_MS, isLast: (page) => !(page as EventPage).hasMore },
  );
  const events = list.data?.pages.flatMap((page) => page.events);
  return (
    <>
      <PageHead title={words.developers}>
        <select aria-label={words.type} value={types} onChange={(event) => setTypes(event.target.value)}>
          <option value="">{words.allTypes}</option>
          {KINDS.map((kind) => (
            <option key={kind} value={kind}>
              {kind}
            </option>
          ))}
        </select>
      </PageHead>
      <Tabs of="developers" />
      <ListState error={list.error} count={events?.length} hasMore={list.hasNextPage} empty={words.noEvents} />
      <ul className="plain-list" aria-label={words.events}>
        {events?.map((event) => (
          <EventRow key={event.id} event={event} />
        ))}
      </ul>
      <More list={list} />
    </>
  );
}

function EventRow({ event }: { readonly event: Event }) {
  return (
    <li className="folded">
      <details>
        <summary>
          <code dir="ltr">{event.type}</code>
          <code dir="ltr" className="soft cut">
            {event.id}
          </code>
          <span className="soft small">
            <Time at={event.createdAt} isExact />
          </span>
        </summary>
        <pre dir="ltr">{JSON.stringify(event, null, 2)}</pre>
      </details>
    </li>
  );
}
