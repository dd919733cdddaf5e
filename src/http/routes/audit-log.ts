import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { openCursor, sealCursor, sealNumber } from '../../domain/cursor.ts';
import { ApiError } from '../../errors.ts';
import { findKeyLabels } from '../../store/parties/api-keys.ts';
import { findPersonNames } from '../../store/people/people.ts';
import { listAudit, type StoredAuditEntry } from '../../store/plumbing/audit-log.ts';
import type { Reader } from '../../store/plumbing/database.ts';
import type { App, HttpDeps } from '../deps.ts';
import { callerRights, sessionOf } from '../entry/caller.ts';
import { Cursor, limitOf, NextCursor, nullable, Timestamp } from '../schemas.ts';

const READ = { scheme: 'person', scope: 'audit:read' } as const;
const LIMIT = 50;

export async function auditLogRoutes(app: App, deps: HttpDeps): Promise<void> {
  app.get('/v1/audit-log', { schema: LIST, config: { access: READ, priority: 'spare' } }, async (request, reply) => {
    const { actor, action, subject, cursor, limit = LIMIT } = request.query;
    const filters = { actor, action, subject };
    const place = placeOf(request);
    const query = JSON.stringify(['audit', place, filters]);
    const beforeId = cursor === undefined ? undefined : openBefore(deps, query, cursor);
    return deps.lists.read(callerRights(request).id, reply, async (db) => {
      const { partnerId, merchantId } = place;
      const page = await listAudit(db, { actor, action, subject, partnerId, merchantId, beforeId, limit: limit + 1 });
      const entries = page.slice(0, limit);
      const last = page.length > limit ? entries.at(-1) : undefined;
      const names = await namesOf(db, entries);
      return {
        entries: entries.map((entry) => viewEntry(deps, entry, names)),
        nextCursor: last === undefined ? null : sealCursor(deps.cursorKeys, query, [last.id]),
      };
    });
  });
}

/**
 * The filter for the audit entries that the caller may see. An entry belongs to the partner whose key or person made the change.
 * People of the operator see all entries.
 */
function placeOf(request: FastifyRequest) {
  const { partnerId } = callerRights(request);
  const { merchantId } = sessionOf(request).person;
  return { ...(partnerId !== '' && { partnerId }), ...(merchantId !== null && { merchantId }) };
}

function openBefore(deps: HttpDeps, query: string, cursor: string): string {
  const [id] = openCursor(deps.cursorKeys, query, cursor) ?? [];
  if (id === undefined) throw new ApiError('invalid_params', 'The cursor does not belong to this list.');
  return id;
}

async function namesOf(db: Reader, entries: readonly StoredAuditEntry[]): Promise<ReadonlyMap<string, string>> {
  const idsOf = (kind: string) =>
    entries.flatMap(({ actor }) => (actor.startsWith(`${kind}:`) ? [actor.slice(kind.length + 1)] : []));
  const people = await findPersonNames(db, idsOf('person'));
  const keys = await findKeyLabels(db, idsOf('key'));
  return new Map([
    ...people.map(({ id, name }) => [`person:${id}`, name] as const),
    ...keys.map(({ id, label }) => [`key:${id}`, label] as const),
  ]);
}

function viewEntry(
  { cursorKeys }: HttpDeps,
  { id, at, actor, action, subject, detail, origin }: StoredAuditEntry,
  names: ReadonlyMap<string, string>,
) {
  return {
    id: sealNumber(cursorKeys, 'audit entry', id),
    at: at.toISOString(),
    actor,
    actorName: names.get(actor) ?? null,
    action,
    subject,
    address: origin.address ?? null,
    detail,
  };
}

const LIST = {
  tags: ['People'],
  operationId: 'listAuditLog',
  summary: 'List the audit log',
  description: 'The changes that people and keys of the partner have made, the newest first.',
  querystring: Type.Object({
    actor: Type.Optional(
      Type.String({
        maxLength: 100,
        description: 'Only changes by actors that begin with this, such as `person:psn_…`.',
      }),
    ),
    action: Type.Optional(
      Type.String({ maxLength: 100, description: 'Only actions that begin with this, such as `session`.' }),
    ),
    subject: Type.Optional(Type.String({ maxLength: 100, description: 'Only changes of this object.' })),
    cursor: Type.Optional(Cursor),
    limit: limitOf(200, LIMIT),
  }),
  response: {
    200: Type.Object(
      {
        entries: Type.Array(
          Type.Object(
            {
              id: Type.String(),
              at: Timestamp,
              actor: Type.String({ description: '`person:<id>`, `key:<id>` or `operator`.' }),
              actorName: nullable(Type.String({ description: 'The name of the person, or the label of the key.' })),
              action: Type.String(),
              subject: Type.String({ description: 'The id of the changed object.' }),
              address: nullable(Type.String({ description: 'The address of the request.' })),
              detail: Type.Unsafe<object>({ type: 'object', additionalProperties: true }),
            },
            { title: 'AuditLogEntry' },
          ),
        ),
        nextCursor: NextCursor,
      },
      { title: 'AuditLogPage', description: 'The entries.' },
    ),
  },
};
