import { Type } from 'typebox';
import { registerPasskey, removePasskey } from '../../actions/people/passkeys.ts';
import { isVerified } from '../../domain/session.ts';
import { ApiError } from '../../errors.ts';
import { unshifted } from '../../runtime/shifted-clock.ts';
import { listPasskeys } from '../../store/people/passkeys.ts';
import type { App, HttpDeps } from '../deps.ts';
import { actorOf, checkPasskey, onBehalfOf, sessionOf } from '../entry/caller.ts';
import { deletedBody, textOf } from '../schemas.ts';
import { PasskeyBody, viewPasskey } from '../views/person.ts';
import { CreatedAnswer } from './passkey-schemas.ts';

const SELF = { scheme: 'person', scope: 'self' } as const;

export async function passkeyRoutes(app: App, deps: HttpDeps): Promise<void> {
  app.get('/v1/passkeys', { schema: LIST, config: { access: SELF } }, async (request) => ({
    passkeys: (await listPasskeys(deps.db.sql, sessionOf(request).personId)).map(viewPasskey),
  }));

  app.post(
    '/v1/passkeys',
    { schema: ADD, config: { access: SELF, errors: ['invalid_state'] } },
    async (request, reply) => {
      const session = sessionOf(request);
      const { label, passkey: response } = request.body;
      // The first passkey needs no earlier passkey, but the person must have just used a one-time link.
      const isFirst = (await listPasskeys(deps.db.sql, session.personId)).length === 0;
      if (isFirst && !isVerified(session, unshifted(deps.world.clock).nowMs())) throw needsLink();
      checkPasskey(request, deps);
      const passkey = await registerPasskey(onBehalfOf(request, deps), session, {
        actor: actorOf(request),
        label,
        response,
      });
      deps.sessions.forget(session.hash);
      return reply.code(201).send({ passkey: viewPasskey(passkey) });
    },
  );

  app.delete(
    '/v1/passkeys/:id',
    { schema: REMOVE, config: { access: { ...SELF, needsPasskey: true }, errors: ['invalid_state'] } },
    async (request) => {
      const { id } = request.params;
      const { personId } = sessionOf(request);
      await removePasskey(onBehalfOf(request, deps), { actor: actorOf(request), personId, passkeyId: id });
      return { id, deleted: true as const };
    },
  );
}

function needsLink(): ApiError {
  const message = 'Your sign-in link was used more than 5 minutes ago. Sign in by a new one to add your first passkey.';
  return new ApiError('forbidden', message, { details: { needs: 'link' } });
}

const TAGS = ['People'];

const LIST = {
  tags: TAGS,
  operationId: 'listPasskeys',
  summary: 'List your passkeys',
  description: 'The passkeys of the person of this session.',
  response: { 200: Type.Object({ passkeys: Type.Array(PasskeyBody) }, { description: 'The passkeys.' }) },
};

const ADD = {
  tags: TAGS,
  operationId: 'addPasskey',
  summary: 'Add a passkey',
  description:
    'Needs a passkey shown within the last 5 minutes. The first one needs a sign-in link used within the last 5 minutes instead: later it is refused with `details.needs` `link`. A person has at most 20 passkeys.',
  body: Type.Object(
    { label: textOf(100, 'A name for it, such as the name of the device.'), passkey: CreatedAnswer },
    { title: 'NewPasskey', additionalProperties: false },
  ),
  response: { 201: Type.Object({ passkey: PasskeyBody }, { description: 'The passkey is added.' }) },
};

const REMOVE = {
  tags: TAGS,
  operationId: 'removePasskey',
  summary: 'Remove a passkey',
  description: 'The last passkey cannot be removed.',
  params: Type.Object({ id: Type.String({ description: 'The passkey.' }) }),
  response: {
    200: deletedBody('The passkey is removed.'),
  },
};
