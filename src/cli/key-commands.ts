import { partnerNotFound } from '../actions/parties/change-partner.ts';
import { type IssuedKey, issueKey, revokeKey, rotateKey } from '../actions/parties/issue-key.ts';
import { keyStatusAt } from '../domain/api-key.ts';
import { auditKey } from '../domain/key-audit.ts';
import { MODES } from '../domain/mode.ts';
import { SCOPES } from '../domain/scope.ts';
import { defaultKeyEnd } from '../settings/key-lifetime.ts';
import { type ApiKey, listApiKeys } from '../store/parties/api-keys.ts';
import { findPartner } from '../store/parties/partners.ts';
import { type Command, databaseCommand, operatorOf } from './command.ts';
import { duration, futureOrNever, id, network, oneOf, scope, text } from './kinds.ts';
import { listing } from './listing.ts';
import { optional, repeated, required, withDefault } from './options.ts';
import { openRowKeys } from './row-keys.ts';
import { layoutFields } from './table.ts';

const MAX_MERCHANTS = 100;
const MAX_ADDRESSES = 100;
const DAY_MS = 86_400_000;
/** Keys that expire within this time are marked: the partner needs time to install a successor. */
const ENDING_MS = 30 * DAY_MS;

const create = databaseCommand({
  name: 'keys create',
  summary: 'Issue an API key to a partner.',
  options: {
    partner: required(id, 'The partner it is for.'),
    mode: required(oneOf(MODES), 'What it works on: test or live data.'),
    label: required(text, 'The purpose of the key, to distinguish keys.'),
    scope: repeated(scope, SCOPES.length, 'A permission of the key; all, if none is given.'),
    merchant: repeated(id, MAX_MERCHANTS, 'A merchant it may act for; all of the partner, if none is given.'),
    address: repeated(network, MAX_ADDRESSES, 'An address or network (CIDR) it works from; any, if none is given.'),
    expires: optional(
      futureOrNever,
      'Such as 2030-01-01T00:00:00Z, 90d or never. Default: API_KEY_LIFETIME_DAYS from now, or never.',
    ),
  },
  examples: [
    'keys create --partner prtn_01KHRZ5Q8MB2N4P6R8T0V2X4Z6 --mode test --label "Shop backend"',
    'keys create --partner prtn_01KHRZ5Q8MB2N4P6R8T0V2X4Z6 --mode live --label Reports --scope payments:read --expires 90d',
    'keys create --partner prtn_01KHRZ5Q8MB2N4P6R8T0V2X4Z6 --mode live --label Shop --address 203.0.113.0/28',
  ],
  run: async (deps, { partner, mode, label, scope: scopes, merchant: merchantIds, address: addresses, expires }) => {
    const issued = await issueKey(
      { ...deps, rowKeys: await openRowKeys(deps) },
      {
        actor: operatorOf(deps.config),
        partnerId: partner,
        mode,
        label,
        scopes: scopes.length === 0 ? null : scopes,
        merchantIds: merchantIds.length === 0 ? null : merchantIds,
        addresses: addresses.length === 0 ? null : addresses,
        expiresAt: expires === undefined ? defaultKeyEnd(deps) : expires,
      },
    );
    return { json: { ...issued.key, secret: issued.secret }, text: `Key issued.\n\n${describe(issued)}` };
  },
});

const list = databaseCommand({
  name: 'keys list',
  summary: 'Show API keys, never their secrets.',
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
        { title: 'status', cell: (key) => keyStatusAt(now, key) },
        { title: 'ends', cell: (key) => key.revokedAt ?? key.expiresAt },
        { title: 'last used', cell: (key) => key.lastUsedAt },
        { title: 'scopes', cell: (key) => key.scopes?.join(', ') ?? 'all' },
        { title: 'merchants', cell: (key) => key.merchantIds?.join(', ') ?? 'all' },
        { title: 'addresses', cell: (key) => key.addresses?.join(', ') ?? 'any' },
      ],
      empty: 'No keys yet.',
    });
  },
});

const audit = databaseCommand({
  name: 'keys audit',
  summary:
    'Show keys in force that are unused, old, without an end, or wider than they need be. Exit code 1 if there are any.',
  options: {
    partner: optional(id, 'Only the keys of this partner.'),
    mode: optional(oneOf(MODES), 'Only keys for test or live data.'),
    unused: withDefault(duration('3650d'), '90d', 'A key not used for this long is unused.'),
    old: withDefault(duration('3650d'), '365d', 'A key of this age is old.'),
  },
  examples: ['keys audit --mode live', 'keys audit --unused 30d --old 180d --json'],
  run: async ({ db, world }, { partner: partnerId, mode, unused: unusedMs, old: oldMs }) => {
    if (partnerId !== undefined && (await findPartner(db.sql, partnerId)) === undefined)
      throw partnerNotFound(partnerId);
    const now = new Date(world.clock.nowMs());
    const keys = (await listApiKeys(db.sql, { partnerId })).filter(
      (key) => keyStatusAt(now, key) === 'active' && (mode === undefined || key.mode === mode),
    );
    const found = keys
      .map((key) => ({ ...key, findings: auditKey(key, now, { unusedMs, oldMs, endingMs: ENDING_MS }) }))
      .filter(({ findings }) => findings.length > 0);
    const shown = listing(found, {
      columns: [
        { title: 'id', cell: (key) => key.id },
        { title: 'partner', cell: (key) => key.partnerId },
        { title: 'mode', cell: (key) => key.mode },
        { title: 'label', cell: (key) => key.label },
        { title: 'created', cell: (key) => key.createdAt },
        { title: 'last used', cell: (key) => key.lastUsedAt },
        { title: 'ends', cell: (key) => key.expiresAt },
        { title: 'findings', cell: (key) => key.findings.join(', ') },
      ],
      empty: 'No remarks: every key in force is used, limited and has an end.',
    });
    return { ...shown, exitCode: found.length === 0 ? 0 : 1 };
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
    const issued = await rotateKey(
      { ...deps, rowKeys: await openRowKeys(deps) },
      {
        actor: operatorOf(deps.config),
        keyId,
        overlapMs,
        expiresAt: defaultKeyEnd(deps),
      },
    );
    const endsAt = issued.replaced.expiresAt;
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
  examples: ['keys revoke key_01KHRZ5Q8MB2N4P6R8T0V2X4Z6'],
  run: async (deps, { id: keyId }) => {
    await revokeKey(deps, { actor: operatorOf(deps.config), keyId });
    return {
      json: { id: keyId, revoked: true },
      text: `Key ${keyId} revoked: every node refuses it within five seconds.`,
    };
  },
});

export const keyCommands: readonly Command[] = [create, list, audit, rotate, revoke];

/** The only function that prints the secret of a key. */
function describe({ key, secret }: IssuedKey): string {
  const fields = layoutFields({
    id: key.id,
    partner: key.partnerId,
    mode: key.mode,
    label: key.label,
    scopes: key.scopes?.join(', ') ?? 'all',
    merchants: key.merchantIds?.join(', ') ?? 'all',
    addresses: key.addresses?.join(', ') ?? 'any',
    ends: key.expiresAt ?? 'never',
  });
  return `${fields}\n\n  ${secret}\n\nThe secret is shown only now: store it where your application reads it. Till keeps only its hash.`;
}
