import { countOld, LEAST_KEPT_MS, pruneOld } from '../actions/oversight/prune.ts';
import { type Command, databaseCommand, operatorOf } from './command.ts';
import { duration } from './kinds.ts';
import { listing } from './listing.ts';
import { flag, optional } from './options.ts';

const DAY_MS = 86_400_000;
const KEPT_MS = 90 * DAY_MS;
const MEGABYTE = 1_048_576;

const prune = databaseCommand({
  name: 'prune',
  summary: 'Delete what payments, lists, statistics, receipts and books do not need, in short transactions.',
  options: {
    'dry-run': flag('Only count what would go.'),
    'older-than': optional(duration('3650d'), 'The age from which rows go: 90d by default, at least 30d.'),
  },
  examples: ['prune --dry-run', 'prune --older-than 365d'],
  check: ({ 'older-than': olderThan }) =>
    olderThan !== undefined && olderThan < LEAST_KEPT_MS ? ['--older-than must be at least 30d.'] : [],
  run: async (deps, { 'dry-run': isDry, 'older-than': olderThan = KEPT_MS }) => {
    const before = new Date(deps.world.clock.nowMs() - olderThan);
    if (isDry) {
      return listing(await countOld(deps.db.sql, before), {
        columns: [
          { title: 'what', cell: ({ what }) => what },
          { title: 'rows', cell: ({ rows }) => rows.toLocaleString('en-US') },
          { title: 'size', cell: ({ bytes }) => `${Math.ceil(bytes / MEGABYTE).toLocaleString('en-US')} MB` },
        ],
        empty: 'Nothing.',
      });
    }
    return listing(await pruneOld(deps, { before, actor: operatorOf(deps.config) }), {
      columns: [
        { title: 'what', cell: ({ what }) => what },
        { title: 'rows', cell: ({ rows }) => rows.toLocaleString('en-US') },
        { title: 'transactions', cell: ({ pages }) => pages.toLocaleString('en-US') },
        { title: 'longest', cell: ({ longestMs }) => `${longestMs} ms` },
        { title: 'duration', cell: ({ tookMs }) => `${tookMs.toLocaleString('en-US')} ms` },
      ],
      empty: 'Nothing.',
    });
  },
});

export const pruneCommands: readonly Command[] = [prune];
