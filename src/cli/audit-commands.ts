import { listAudit, type StoredAuditEntry } from '../store/plumbing/audit-log.ts';
import { type Command, databaseCommand } from './command.ts';
import { id, moment, text } from './kinds.ts';
import { listing } from './listing.ts';
import { optional } from './options.ts';

const MAX_LISTED = 200;

const list = databaseCommand({
  name: 'audit list',
  summary: `Show the audit log: who changed what, from where, the newest first, at most ${MAX_LISTED}.`,
  options: {
    subject: optional(id, 'Only changes of this object, such as a merchant or a key.'),
    actor: optional(text, 'Only changes by actors that begin with this: operator, key:key_…'),
    action: optional(text, 'Only actions that begin with this: key, settlement, refund.requested.'),
    since: optional(moment, 'Only entries from this time on.'),
  },
  examples: [
    'audit list',
    'audit list --subject mrch_01KHRZ5Q8MB2N4P6R8T0V2X4Z6 --json',
    'audit list --actor operator',
  ],
  run: async ({ db }, filter) =>
    listing(await listAudit(db.sql, { ...filter, limit: MAX_LISTED }), {
      columns: [
        { title: 'at', cell: (entry) => entry.at },
        { title: 'by', cell: (entry) => entry.actor },
        { title: 'from', cell: fromWhere },
        { title: 'action', cell: (entry) => entry.action },
        { title: 'subject', cell: (entry) => entry.subject },
        { title: 'detail', cell: (entry) => JSON.stringify(entry.detail) },
      ],
      empty: 'No entries.',
    }),
});

export const auditCommands: readonly Command[] = [list];

function fromWhere({ origin: { address, host, account, session }, databaseClient }: StoredAuditEntry): string {
  const where = address ?? (host === undefined ? undefined : `${account}@${host}`);
  const parts = [where, session && `by ${session}`, databaseClient && `database client ${databaseClient}`];
  return parts.filter((part) => part !== undefined && part !== null).join(', ');
}
