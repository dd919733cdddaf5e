import { partnerNotFound } from '../actions/parties/change-partner.ts';
import { type IssuedKey, issueKey, revokeKey, rotateKey } from '../actions/parties/issue-key.ts';
import { MODES } from '../domain/mode.ts';
import { SCOPES } from '../domain/scope.ts';
import { type ApiKey, listApiKeys } from '../store/parties/api-keys.ts';
import { findPartner } from '../store/parties/partners.ts';
import { type Command, databaseCommand, OPERATOR } from './command.ts';
import { duration, future, id, oneOf, scope, text } from './kinds.ts';
import { listing } from './listing.ts';
import { optional, repeated, required, withDefault } from './options.ts';
import { layoutFields } from './table.ts';

const MAX_MERCHANTS = 100;

const create = databaseCommand({
  name: 'keys create',
  summary: 'Issue an API key to a partner.',
  positionals: {},
  options: {
    partner: required(id, 'The partner it is for.'),
    mode: required(oneOf(MODES), 'What it works on: test or live data.'),
    label: required(text, 'The purpose of the key, to distinguish keys.'),
    scope: repeated(scope, SCOPES.length, 'A permission of the key; all, if none is given.'),
    merchant: repeated(id, MAX_MERCHANTS, 'A merchant it may act for; all of the partner, if none is given.'),
    expires: optional(future, 'Its end, such as 2030-01-01T00:00:00Z or 90d from now. Default: never.'),
  },
  examples: [
    'keys create --partner prtn_01KHRZ5Q8MB2N4P6R8T0V2X4Z6 --mode test --label "Shop backend"',
    'keys create --partner prtn_01KHRZ5Q8MB2N4P6R8T0V2X4Z6 --mode live --label Reports --scope payments:read --expires 90d',
  ],
  run: async (deps, { partner, mode, label, scope: scopes, merchant: merchantIds, expires }) => {
    const issued = await issueKey(deps, {
      actor: OPERATOR,
      partnerId: partner,
      mode,
      label,
      scopes: scopes.length === 0 ? null : scopes,
      merchantIds: merchantIds.length === 0 ? null : merchantIds,
      expiresAt: expires ?? null,
    });
    return { json: { ...issued.key, secret: issued.secret }, text: `Key issued.\n\n${describe(issued)}` };
  },
});

const list = databaseCommand({
  name: 'keys list',
  summary: 'Show API keys, never their secrets.',
  positionals: {},
  options: { partner: optional(id, 'Only the keys of this partner.') },
  examples: ['keys list', 'keys list --partner prtn_01KHRZ5Q8MB2N4P6R8T0V2X4Z6'],
  run: async ({ db, world }, { partner: partnerId }) => {
    if (partnerId !== undefined && (await findPartner(db.sql, partnerId)) === undefined)
      throw partnerNotFound(partnerId);
    const now = new Date(world.clock.nowMs());
    return listing(await listApiKeys(db.sql, { partnerId }), {
      columns: [
        { title: 'id', cell: (key) => key.id },
        ...(partnerId === undefined ? [{ title: 'partner', cell: (key: ApiKey) => key.partnerId }] : []),
        { title: 'mode', cell: (key) => key.mode },
        { title: 'key', cell: (key) => `…${key.hint}` },
        { title: 'label', cell: (key) => key.label },
        { title: 'status', cell: (key) => statusAt(now, key) },
        { title: 'ends', cell: (key) => key.revokedAt ?? key.expiresAt },
        { title: 'last used', cell: (key) => key.lastUsedAt },
        { title: 'scopes', cell: (key) => key.scopes?.join(', ') ?? 'all' },
        { title: 'merchants', cell: (key) => key.merchantIds?.join(', ') ?? 'all' },
      ],
      empty: 'No keys yet.',
    });
  },
});

const rotate = databaseCommand({
  name: 'keys rotate',
  summary: 'Issue a successor with the same rights; the old key works on for a while.',
  positionals: { id: required(id, 'The key to replace, as shown by keys list.') },
  options: {
    overlap: withDefault(duration('90d'), '24h', 'How long the old key still works; 0s ends it now.'),
  },
  examples: ['keys rotate key_01KHRZ5Q8MB2N4P6R8T0V2X4Z6', 'keys rotate key_01KHRZ5Q8MB2N4P6R8T0V2X4Z6 --overlap 1h'],
  run: async (deps, { id: keyId, overlap: overlapMs }) => {
    const issued = await rotateKey(deps, { actor: OPERATOR, keyId, overlapMs });
    const keys = await listApiKeys(deps.db.sql, { partnerId: issued.key.partnerId });
    // Read back, because an earlier end that was set before stays in force.
    const endsAt = keys.find((key) => key.id === keyId)?.expiresAt ?? null;
    return {
      json: { ...issued.key, secret: issued.secret, replaced: { id: keyId, expiresAt: endsAt } },
      text: `Key rotated.\n\n${layoutFields({ 'old key': keyId, 'works until': endsAt })}\n\n${describe(issued)}`,
    };
  },
});

const revoke = databaseCommand({
  name: 'keys revoke',
  summary: 'End a key for good.',
  positionals: { id: required(id, 'The key to end, as shown by keys list.') },
  options: {},
  examples: ['keys revoke key_01KHRZ5Q8MB2N4P6R8T0V2X4Z6'],
  run: async (deps, { id: keyId }) => {
    await revokeKey(deps, { actor: OPERATOR, keyId });
    return {
      json: { id: keyId, revoked: true },
      text: `Key ${keyId} revoked: every node refuses it within five seconds.`,
    };
  },
});

export const keyCommands: readonly Command[] = [create, list, rotate, revoke];

/** The only place that prints a secret. */
function describe({ key, secret }: IssuedKey): string {
  const fields = layoutFields({
    id: key.id,
    partner: key.partnerId,
    mode: key.mode,
    label: key.label,
    scopes: key.scopes?.join(', ') ?? 'all',
    merchants: key.merchantIds?.join(', ') ?? 'all',
    ends: key.expiresAt ?? 'never',
  });
  return `${fields}\n\n  ${secret}\n\nThe secret is shown only now: store it where your application reads it. Till keeps only its hash.`;
}

function statusAt(now: Date, { expiresAt, revokedAt }: ApiKey): string {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && expiresAt <= now ? 'expired' : 'active';
}
