import { Type } from 'typebox';
import { openCursor, sealCursor, sealNumber } from '../../domain/cursor.ts';
import { ApiError } from '../../errors.ts';
import { listApiRequests } from '../../store/parties/api-requests.ts';
import type { App, HttpDeps } from '../deps.ts';
import { callerRights, ownerOf } from '../entry/caller.ts';
import { Cursor, limitOf, NextCursor, nullable, Timestamp } from '../schemas.ts';
import { listSeenKeys } from './api-keys.ts';

const READ = { scheme: 'person', scope: 'keys:read' } as const;
const LIMIT = 50;

export async function requestLogRoutes(app: App, deps: HttpDeps): Promise<void> {
  app.get('/v1/request-log', { schema: LIST, config: { access: READ, priority: 'spare' } }, async (request, reply) => {
    const { cursor, limit = LIMIT, onlyErrors: isErrorsOnly = false, keyId } = request.query;
    const owner = ownerOf(request);
    const question = JSON.stringify([
      'requests',
      owner,
      callerRights(request).merchantIds,
      isErrorsOnly,
      keyId ?? null,
    ]);
    const beforeId = cursor === undefined ? undefined : openBefore(deps, question, cursor);
    return deps.lists.read(callerRights(request).id, reply, async (db) => {
      const keys = await listSeenKeys(db, request);
      const labels = new Map(keys.map(({ id, label }) => [id, label]));
      // A person of a merchant sees only requests whose API key is for that merchant alone.
      const isLimited = keyId !== undefined || callerRights(request).merchantIds !== null;
      const keyIds = isLimited ? [...labels.keys()].filter((id) => keyId === undefined || id === keyId) : null;
      const found = await listApiRequests(db, { ...owner, keyIds, isErrorsOnly, beforeId, limit: limit + 1 });
      const page = found.slice(0, limit);
      const last = found.length > limit ? page.at(-1) : undefined;
      return {
        requests: page.map(({ partnerId: _, mode: __, id, at, ...rest }) => ({
          id: sealNumber(deps.cursorKeys, 'request', id),
          ...rest,
          at: at.toISOString(),
          keyLabel: labels.get(rest.keyId) ?? null,
        })),
        nextCursor: last === undefined ? null : sealCursor(deps.cursorKeys, question, [last.id]),
      };
    });
  });
}

function openBefore({ cursorKeys }: HttpDeps, question: string, cursor: string): string {
  const [id] = openCursor(cursorKeys, question, cursor) ?? [];
  if (id === undefined) throw new ApiError('invalid_params', 'The cursor does not belong to this list.');
  return id;
}

const LIST = {
  tags: ['API keys'],
  operationId: 'listRequestLog',
  summary: 'List recent API requests',
  description:
    'Requests that were made with API keys of the partner within the last 7 days, the newest first, some seconds behind. Bodies and queries are not recorded. Each node records a burst of errors and then one a second, and fewer of the requests that succeed; `skipped` counts the others.',
  querystring: Type.Object({
    onlyErrors: Type.Optional(Type.Boolean({ description: 'Only requests that were refused or failed.' })),
    keyId: Type.Optional(Type.String({ maxLength: 64, description: 'Only requests with this key.' })),
    cursor: Type.Optional(Cursor),
    limit: limitOf(200, LIMIT),
  }),
  response: {
    200: Type.Object(
      {
        requests: Type.Array(
          Type.Object(
            {
              id: Type.String(),
              at: Timestamp,
              keyId: Type.String(),
              keyLabel: nullable(Type.String()),
              method: Type.String(),
              path: Type.String({ description: 'Without the query.' }),
              status: Type.Integer({ description: 'The status of the answer.' }),
              ms: Type.Integer({ description: 'Milliseconds until the answer.' }),
              code: nullable(Type.String({ description: 'The error code of the answer.' })),
              message: nullable(Type.String()),
              requestId: Type.String({ description: 'The header `Request-Id` of the answer.' }),
              address: Type.String({ description: 'The address that the request came from.' }),
              skipped: Type.Integer({
                description: 'Requests with the same kind of result before it that are missing in the list.',
              }),
            },
            { title: 'RequestLogEntry' },
          ),
        ),
        nextCursor: NextCursor,
      },
      { title: 'RequestLogPage', description: 'The requests.' },
    ),
  },
};
