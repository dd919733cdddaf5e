import { EVENT_TYPES, type EventType } from '../src/domain/event.ts';

/** `docs/events.md`: the public events, and how to follow them. */
export function eventsPage(): string {
  const rows = (Object.keys(EVENT_TYPES) as EventType[]).flatMap((type) => {
    const { isPublic, summary } = EVENT_TYPES[type];
    return isPublic ? [`| \`${type}\` | ${summary} |`] : [];
  });
  return `# Events

Each change of a payment, refund, payment link, merchant or settlement destination is one event, and so is the end of a webhook endpoint. Events are kept.

\`\`\`
GET /v1/events?after=<cursor>&types=payment.*&merchantId=…&limit=50&maxPollMs=25000
\`\`\`

answers \`{ events, nextCursor, hasMore }\` with the events of all merchants that the key may act for, in the order in which they were
committed, without a gap. The key needs the scope \`events:read\`.

1. Begin without \`after\` for all events, or with \`after=latest\` for those to come.
2. Handle the events, and store \`nextCursor\` in the same transaction as your own changes.
3. Ask again with \`after=<nextCursor>\`. With \`maxPollMs\` the request is held until there is an event.

A program that was away continues from its stored cursor. Cursors stay valid. Filters may change between two requests. An answer
without events can have a new \`nextCursor\`: the gateway has looked through events that the filter leaves out. While
\`hasMore\` is true, ask again at once. An empty answer is not the end: \`hasMore: false\` is.

\`before=latest\` answers the past instead, the newest event first; then \`before=<nextCursor>\`. The past is over when
\`hasMore\` is false.

\`\`\`json
{
  "id": "evt_…", "type": "payment.succeeded", "createdAt": "2026-02-18T09:30:41.250Z", "apiVersion": "2026-02-18",
  "mode": "live", "merchantId": "mrch_…", "sequence": 3, "data": { "id": "pay_…", "status": "succeeded", "…": "…" }
}
\`\`\`

\`data\` is the whole object as its own route answered at that moment. A refund also has
its \`id\`, and does not say what it waits for. A payment has neither \`refundable\` nor the list of its late money.
A deleted merchant or destination has \`deleted: true\`. \`sequence\` counts the events of the object
from 1, without gaps: of two events of one object the one with the greater \`sequence\` is newer.

\`GET /v1/events/{id}\` answers one event.

| type | when |
|---|---|
${rows.join('\n')}

Events are also sent to [webhook endpoints](webhooks.md). A body has at most 64 KB: the line items of a payment are left out of a
larger one, and \`GET /v1/payments/{id}\` has them.

This page is generated from \`src/domain/event.ts\` and \`scripts/events-page.ts\`.
`;
}
