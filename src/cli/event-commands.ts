import { readEvents } from '../store/events/events.ts';
import { type Command, databaseCommand } from './command.ts';
import { position } from './kinds.ts';
import { listing } from './listing.ts';
import { optional } from './options.ts';

const MAX_LISTED = 200;

const list = databaseCommand({
  name: 'events list',
  summary: `Show the events of payments, refunds, payouts, destinations and merchants, in order, at most ${MAX_LISTED}.`,
  options: { after: optional(position, 'Begin after this position. Default: at the beginning.') },
  examples: ['events list', 'events list --after 1200 --json'],
  run: async ({ db }, { after = 0 }) =>
    listing(await readEvents(db.sql, { after, limit: MAX_LISTED }), {
      columns: [
        { title: 'position', cell: (event) => String(event.position) },
        { title: 'at', cell: (event) => event.at },
        { title: 'event', cell: (event) => event.type },
        { title: 'object', cell: (event) => event.objectId },
        { title: 'sequence', cell: (event) => String(event.sequence) },
        { title: 'by', cell: (event) => event.actor },
      ],
      empty: 'No events.',
    }),
});

export const eventCommands: readonly Command[] = [list];
